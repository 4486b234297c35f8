/** What an answer of an S3 server means: what to do about it, and how to say it to the operator. */
import { type SumiError, sumiError } from '../../errors.ts';
import type { S3Place } from './s3-address.ts';
import type { S3Answer } from './s3-connection.ts';

/**
 * `done`: read it. `again`: the server is busy or had an accident. `late`: our clock is wrong. `identity`: the
 * credentials were not accepted, others may be. `refused`: asking again gives the same.
 */
export type Meaning = 'done' | 'again' | 'late' | 'identity' | 'refused';

/** Codes of answers below 500 that another try may change. */
const PASSING: ReadonlySet<string> = new Set([
  'RequestTimeout',
  'SlowDown',
  'BadDigest',
  'XAmzContentSHA256Mismatch',
  'IncompleteBody',
  'OperationAborted',
  'ConditionalRequestConflict',
  'InternalError',
  'TooManyRequests',
]);

const NOT_ACCEPTED: ReadonlySet<string> = new Set([
  'InvalidAccessKeyId',
  'SignatureDoesNotMatch',
  'InvalidToken',
  'ExpiredToken',
  'TokenRefreshRequired',
  'UserSuspended',
  'AuthorizationHeaderMalformed',
  'InvalidClientTokenId',
]);

export function meaningOf(answer: S3Answer, accepted: readonly number[]): Meaning {
  const { status } = answer;
  if ((status >= 200 && status < 300) || accepted.includes(status)) return 'done';
  const code = codeOf(answer);
  if (code === 'RequestTimeTooSkewed') return 'late';
  // 501 says that the server will never know how.
  if ((status >= 500 && status !== 501) || [408, 409, 429].includes(status) || PASSING.has(code))
    return 'again';
  return status === 401 || status === 403 || NOT_ACCEPTED.has(code) ? 'identity' : 'refused';
}

/** Empty where the server says none, as to HEAD. */
export function codeOf({ body }: S3Answer): string {
  return elementOf(body, 'Code') ?? '';
}

export function elementOf(body: Buffer, name: string): string | null {
  const found = new RegExp(`<${name}>([^<]*)</${name}>`).exec(body.toString('utf8'))?.[1];
  return found === undefined
    ? null
    : found.replace(/&(amp|lt|gt|quot|apos|#34|#39);/g, (whole, sign: string) => SIGNS[sign] ?? whole);
}

const SIGNS: Record<string, string> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  '#34': '"',
  '#39': "'",
};

/** The error for an answer that is not what was asked for. */
export function refusal(answer: S3Answer, place: S3Place, action: string): SumiError {
  const { status, headers } = answer;
  const { bucket, endpoint, shown: address, region } = place;
  const code = codeOf(answer);
  const itsRegion = headers['x-amz-bucket-region'] ?? elementOf(answer.body, 'Region');
  if (typeof itsRegion === 'string' && itsRegion !== region && status < 500)
    return sumiError('s3-region', { bucket, region, expected: oneLine(itsRegion) });
  if (code === 'NoSuchBucket') return sumiError('s3-bucket-missing', { bucket, endpoint });
  const isOfS3 = code !== '' || headers['x-amz-request-id'] !== undefined;
  if (!isOfS3)
    return sumiError('s3-not-s3', {
      endpoint,
      reason: `it answered http ${status} without an error code of S3`,
    });
  const message = elementOf(answer.body, 'Message');
  const reason = oneLine(`${code || `http ${status}`}${message ? `, ${message}` : ''}`);
  if (NOT_ACCEPTED.has(code) || status === 401)
    return sumiError('s3-credentials', { endpoint, address, reason });
  if (status === 403) return sumiError('s3-denied', { address, action, reason });
  return sumiError('s3-failed', { endpoint, action, address, reason });
}

/** Why what answers cannot be an S3 server, by the error that its bytes made; null when it may be one. */
export function whyNoHttp({ name, code }: NodeJS.ErrnoException): string | null {
  if (name === 'HTTPParserError') return 'what it says is not HTTP';
  return code === 'ERR_SSL_WRONG_VERSION_NUMBER' ? 'it does not speak TLS' : null;
}

export function oneLine(text: string): string {
  return text.replace(/\s+/g, ' ').trim().slice(0, 200);
}
