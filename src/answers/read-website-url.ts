/** website_url as programs send it: trimmed, with a scheme, http or https only, no password, and where the service may go. */
import { type FieldProblem, SumiError, sumiError } from '../errors.ts';
import { checkEgress, type EgressGuard } from '../fetch/egress.ts';

const POINTER = '/website_url';

export async function readWebsiteUrl(text: string, guard: EgressGuard): Promise<string> {
  const url = parse(text.trim());
  try {
    await checkEgress(guard, url);
  } catch (error) {
    if (!(error instanceof SumiError)) throw error;
    const errors: FieldProblem[] = [{ pointer: POINTER, detail: error.message }];
    throw new SumiError(error.code, { ...error.details, errors });
  }
  return url.href;
}

function parse(text: string): URL {
  // `example.com:8080/` has no scheme, although a URL may begin like that.
  const isWhole = /^[a-z][a-z0-9+.-]*:\/\//i.test(text);
  const scheme = isWhole ? null : (/^([a-z][a-z0-9+.-]*):(?!\d+(?:[/?#]|$))/i.exec(text)?.[1] ?? null);
  if (scheme !== null) throw refuse(`the scheme ${scheme.toLowerCase().slice(0, 20)} is not http or https`);
  const whole = isWhole ? text : `https://${text.replace(/^\/\//, '')}`;
  const url = URL.canParse(whole) ? new URL(whole) : null;
  if (url === null || url.hostname === '') throw refuse('expected an address such as https://example.com/');
  if (!/^https?:$/.test(url.protocol))
    throw refuse(`the scheme ${url.protocol.slice(0, -1)} is not http or https`);
  if (url.username !== '' || url.password !== '')
    throw refuse('expected an address without user and password');
  url.hash = '';
  return url;
}

function refuse(reason: string): SumiError {
  const errors = [{ pointer: POINTER, detail: `${reason.charAt(0).toUpperCase()}${reason.slice(1)}.` }];
  return sumiError('request-invalid', { reason: `website_url: ${reason}`, errors });
}
