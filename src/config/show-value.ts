/** Values as errors, tables and listings show them: passwords masked, long texts cut. Pure text. */

import type { OptionSpec } from './option-spec.ts';
import { withoutCredentials } from './url-credentials.ts';

/** A value as an error or a table shows it: passwords masked, long texts cut. */
export function showValue(value: unknown, spec?: OptionSpec): string {
  if (value === null || value === undefined) return 'none';
  const text = withoutSecret(value, spec);
  const shown = typeof text === 'object' || typeof text === 'string' ? JSON.stringify(text) : String(text);
  return shown.length > 120 ? `${shown.slice(0, 117)}…` : shown;
}

/** The value as it may be shown to anybody. */
export function withoutSecret(value: unknown, spec?: OptionSpec): unknown {
  if (Array.isArray(value)) return value.map((item) => withoutSecret(item, spec));
  // Whatever its form: a table of headers in a TOML file is a mistake, and has the same secrets in it.
  if (spec?.secret === 'whole' && value !== null) return '***';
  if (typeof value !== 'string') return value;
  // An address may stand where none belongs: then too its password is nobody's business.
  if (/https?:\/\//i.test(value) && !spec?.secret) return withoutCredentials(value);
  return spec?.secret || value.includes('://') ? maskPassword(value) : value;
}

export function maskPassword(text: string): string {
  return text
    .replace(/^([a-z][a-z\d+.-]*:\/\/)?([^/@:]*):.*@/i, '$1$2:***@')
    .replace(/([?&](?:ssl)?(?:password|passphrase)=)[^&#]*/gi, '$1***');
}
