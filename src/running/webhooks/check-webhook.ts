/** What a webhook may be: where it leads, what it gets, and its secret. Of the URL nothing but its host is ever told. */
import { randomBytes } from 'node:crypto';
import { type FieldProblem, sumiError } from '../../errors.ts';
import { checkEgress, type EgressGuard } from '../../fetch/egress.ts';
import { type NewWebhook, WEBHOOK_EVENTS } from '../webhook-verbs.ts';

const MOST_URL_LENGTH = 2000;
const SECRET_LENGTH = { least: 16, most: 200 };

export const newSecret = (): string => randomBytes(32).toString('base64url');

/** Throws `request-invalid` with every field that is wrong, `egress-refused` for an address that is not reached. */
export async function checkWebhook(egress: EgressGuard, webhook: Partial<NewWebhook>): Promise<void> {
  const { url, events, secret } = webhook;
  const errors: FieldProblem[] = [];
  const tell = (pointer: string, detail: string | null) => {
    if (detail !== null) errors.push({ pointer, detail });
  };
  if (url !== undefined) tell('/url', problemOfUrl(url));
  if (events !== undefined) tell('/events', problemOfEvents(events));
  if (secret !== undefined) tell('/secret', problemOfSecret(secret));
  if (errors.length > 0) {
    const fields = errors.map(({ pointer }) => pointer.slice(1)).join(', ');
    throw sumiError('request-invalid', { reason: `${fields} cannot be used for a webhook`, errors });
  }
  if (url !== undefined) await checkEgress(egress, url);
}

function problemOfUrl(text: string): string | null {
  const url = text.length <= MOST_URL_LENGTH && URL.canParse(text) ? new URL(text) : null;
  if (url === null || !/^https?:$/.test(url.protocol)) return 'Expected a URL with https:// or http://.';
  // The request would carry them in its head, and messages of others might show them.
  if (url.username !== '' || url.password !== '') return 'Expected a URL without user and password.';
  return null;
}

function problemOfEvents(events: readonly string[]): string | null {
  const known: readonly string[] = WEBHOOK_EVENTS;
  const isFine = events.length > 0 && events.every((event) => known.includes(event));
  return isFine ? null : `Expected one or more of ${known.join(', ')}.`;
}

function problemOfSecret(secret: string): string | null {
  const { least, most } = SECRET_LENGTH;
  const isFine = secret.length >= least && secret.length <= most && !secret.includes('\0');
  return isFine ? null : `Expected ${least} to ${most} characters.`;
}
