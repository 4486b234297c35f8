/**
 * The table from error codes of the runtime to failures of the crawler. A code that is not listed is `other`: stored
 * with its message, never guessed and never thrown.
 */
import { ADDRESS_REFUSED_CODE } from '../primitives/public-address.ts';
import type { FetchFailure } from './fetcher.ts';

/** The code of errors of the proxy itself, so that they do not count as errors of the site. */
export const PROXY_ERROR_CODE = 'SUMI_PROXY';
export const CONNECT_TIMEOUT_CODE = 'UND_ERR_CONNECT_TIMEOUT';
/** The codes of our own client's errors; a lost connection has the system's ECONNRESET. */
export const PROTOCOL_ERROR_CODE = 'SUMI_PROTOCOL';
export const ABORTED_CODE = 'SUMI_ABORTED';
export const UNSAFE_REQUEST_CODE = 'SUMI_UNSAFE_REQUEST';

const byCode: Record<string, FetchFailure> = {
  // An answer: there is no such name. EAI_AGAIN is no answer, and another question may bring one.
  ENOTFOUND: 'unknown-host',
  EAI_AGAIN: 'dns',
  EAI_FAIL: 'dns',
  EAI_NODATA: 'unknown-host',
  EAI_NONAME: 'unknown-host',
  ECONNREFUSED: 'refused',
  EHOSTUNREACH: 'refused',
  ENETUNREACH: 'refused',
  EADDRNOTAVAIL: 'refused',
  EACCES: 'refused',
  ECONNRESET: 'reset',
  ECONNABORTED: 'reset',
  EPIPE: 'reset',
  UND_ERR_SOCKET: 'reset',
  ETIMEDOUT: 'timeout-connect',
  [CONNECT_TIMEOUT_CODE]: 'timeout-connect',
  UND_ERR_HEADERS_TIMEOUT: 'timeout-headers',
  UND_ERR_BODY_TIMEOUT: 'timeout-body',
  UND_ERR_HEADERS_OVERFLOW: 'protocol',
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: 'protocol',
  UND_ERR_RES_EXCEEDED_MAX_SIZE: 'too-large',
  UND_ERR_ABORTED: 'aborted',
  UND_ERR_CLOSED: 'aborted',
  UND_ERR_DESTROYED: 'aborted',
  HTTPParserError: 'protocol',
  EPROTO: 'tls',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'tls',
  SELF_SIGNED_CERT_IN_CHAIN: 'tls',
  HOSTNAME_MISMATCH: 'tls',
  INVALID_CA: 'tls',
  INVALID_PURPOSE: 'tls',
  PATH_LENGTH_EXCEEDED: 'tls',
  [PROXY_ERROR_CODE]: 'proxy',
  [PROTOCOL_ERROR_CODE]: 'protocol',
  [ABORTED_CODE]: 'aborted',
  [UNSAFE_REQUEST_CODE]: 'other',
  [ADDRESS_REFUSED_CODE]: 'egress',
};

const byPrefix: [prefix: string, failure: FetchFailure][] = [
  ['CERT_', 'tls'],
  ['CRL_', 'tls'],
  ['UNABLE_TO_', 'tls'],
  ['ERR_TLS_', 'tls'],
  ['ERR_SSL_', 'tls'],
  ['ERROR_IN_CERT_', 'tls'],
  ['ERR_HTTP2_', 'protocol'],
  ['HPE_', 'protocol'],
];

export function failureOf(error: unknown): FetchFailure {
  const code = codeOf(error);
  if (code === null) return 'other';
  const known = byCode[code];
  if (known !== undefined) return known;
  for (const [prefix, failure] of byPrefix) if (code.startsWith(prefix)) return failure;
  return 'other';
}

export function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  // Happy-eyeballs errors (one per address tried) have a code and an empty message.
  if (error.message === '') return codeOf(error) ?? error.name;
  // OpenSSL adds thread, source position and a line end: without this, each run would store another text for a page.
  return /^[0-9A-F]+:error:[0-9A-F]+:[^:]*:[^:]*:([^:]+):/.exec(error.message)?.[1] ?? error.message;
}

function codeOf(error: unknown): string | null {
  const { code, name } = (error ?? {}) as { code?: unknown; name?: unknown };
  if (typeof code === 'string') return code;
  // undici's parser errors have no code, but a name.
  return typeof name === 'string' ? name : null;
}
