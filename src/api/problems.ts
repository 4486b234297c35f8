/**
 * Every mistake becomes one kind of answer: application/problem+json with code, hint and the fields that are wrong. A defect
 * of ours is logged with its stack and answered without a word of it. Nothing that came from a crawled page or holds a
 * password gets into a problem.
 */
import { STATUS_CODES } from 'node:http';
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify';
import type { Problem } from '../contract/problem.ts';
import { type FieldProblem, SumiError, sumiError } from '../errors.ts';
import { MOST_BODY_BYTES, MOST_HEADER_BYTES, REQUEST_MS } from './limits.ts';

export const PROBLEM_TYPE = 'application/problem+json';

export function problemOf(error: SumiError): Problem {
  return {
    type: `urn:sumi-ripple:problem:${error.code}`,
    title: STATUS_CODES[error.httpStatus] ?? 'Error',
    status: error.httpStatus,
    detail: error.message,
    code: error.code,
    hint: error.hint,
    ...(error.errors.length > 0 ? { errors: [...error.errors] } : {}),
  };
}

/** What fastify itself refuses, by its code. */
const FRAMEWORK: Readonly<
  Record<string, (error: FastifyError, request: FastifyRequest | null) => SumiError>
> = {
  FST_ERR_CTP_BODY_TOO_LARGE: () => sumiError('body-too-large', { most: MOST_BODY_BYTES }),
  FST_ERR_CTP_INVALID_MEDIA_TYPE: (_, request) =>
    sumiError('body-type', { type: String(request?.headers['content-type'] ?? '').slice(0, 100) }),
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: () =>
    sumiError('request-malformed', { reason: 'the body is not as long as Content-Length says' }),
  FST_ERR_CTP_EMPTY_JSON_BODY: () => sumiError('body-not-json', { reason: 'it is empty' }),
  FST_ERR_BAD_URL: () => sumiError('request-malformed', { reason: 'the address is not valid' }),
  // A part of it is longer than any id.
  FST_ERR_MAX_PARAM_LENGTH: (_, request) =>
    sumiError('route-unknown', { path: withoutQuery(request?.url ?? '') }),
  FST_ERR_ASYNC_CONSTRAINT: () => sumiError('request-malformed', { reason: 'the headers are not valid' }),
};

/** Anything thrown, as an error for programs; null: a defect. */
function readError(error: unknown, request: FastifyRequest | null): SumiError | null {
  if (error instanceof SumiError) return error.httpStatus < 500 || isTold(error) ? error : null;
  const { code, statusCode } = error as FastifyError;
  const known = FRAMEWORK[code]?.(error as FastifyError, request);
  if (known !== undefined) return known;
  // What it refuses is no defect of ours, also where another version of it refuses more.
  const isRefused = String(code).startsWith('FST_ERR_') && statusCode !== undefined && statusCode < 500;
  return isRefused ? sumiError('request-malformed', { reason: 'the headers are not valid' }) : null;
}

/** Not the caller's mistake, but nothing secret either: the store is away, the disk is full. */
function isTold({ httpStatus }: SumiError): boolean {
  return httpStatus === 503 || httpStatus === 507;
}

export function invalidFields(errors: readonly FieldProblem[]): SumiError {
  const shown = errors.slice(0, MOST_ERRORS);
  const reason = shown
    .slice(0, 3)
    .map(
      ({ pointer, detail }) =>
        `${pointer === '' ? 'the body' : pointer.slice(1)}: ${detail.replace(/\.$/, '')}`,
    )
    .join('; ');
  return sumiError('request-invalid', { reason, errors: shown });
}

/** Ten thousand broken fields need no answer of a megabyte. */
const MOST_ERRORS = 50;

export function createErrorHandler(log: (line: string) => void) {
  return (error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply => {
    const known = readError(error, request);
    if (known === null) {
      const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
      log(`${request.method} ${withoutQuery(request.url)} failed: ${text}${causeOf(error)}`);
    }
    return sendProblem(reply, known ?? sumiError('service-defect'));
  };
}

/** A query may hold what somebody looks for. */
export function withoutQuery(url: string): string {
  return url.split('?', 1)[0].slice(0, 200);
}

function causeOf(error: unknown): string {
  const cause = error instanceof Error ? error.cause : undefined;
  return cause === undefined
    ? ''
    : ` (${cause instanceof Error ? (cause.stack ?? cause.message) : String(cause)})`;
}

export function sendProblem(reply: FastifyReply, error: SumiError): FastifyReply {
  if (error.httpStatus === 401) reply.header('www-authenticate', 'Bearer realm="sumi"');
  const { seconds } = error.details;
  if (error.httpStatus === 429 && seconds !== undefined) reply.header('retry-after', String(seconds));
  // A body that was not read to its end would be taken for the next request.
  if (error.httpStatus === 413) reply.header('connection', 'close');
  // Already a text: the schema of the route's answers is not that of a problem.
  return reply
    .code(error.httpStatus)
    .header('content-type', PROBLEM_TYPE)
    .serializer((text: string) => text)
    .send(JSON.stringify(problemOf(error)));
}

/** For a connection whose request could not even be read. */
export function problemForSocket(code: string | undefined): string {
  const error =
    code === 'HPE_HEADER_OVERFLOW'
      ? sumiError('request-too-long', { most: MOST_HEADER_BYTES })
      : code === 'ERR_HTTP_REQUEST_TIMEOUT'
        ? sumiError('request-too-slow', { seconds: REQUEST_MS / 1000 })
        : sumiError('request-malformed', { reason: 'it cannot be read' });
  const body = JSON.stringify(problemOf(error));
  const status = `${error.httpStatus} ${STATUS_CODES[error.httpStatus]}`;
  return (
    `HTTP/1.1 ${status}\r\nContent-Type: ${PROBLEM_TYPE}\r\nContent-Length: ${Buffer.byteLength(body)}\r\n` +
    `Cache-Control: no-store\r\nConnection: close\r\n\r\n${body}`
  );
}
