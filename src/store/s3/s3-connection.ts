/**
 * Connections to one S3 endpoint, kept open and used again: bytes out, a whole answer in. Promises: every request ends,
 * by an answer, an error or a time-out; what was not answered may or may not have happened. Never repeats a request.
 */
import type { IncomingHttpHeaders } from 'node:http';
import type { LookupFunction } from 'node:net';
import Pool from 'undici/lib/dispatcher/pool.js';

export interface S3Answer {
  status: number;
  headers: IncomingHttpHeaders;
  body: Buffer;
}

export interface WireRequest {
  method: string;
  path: string;
  headers: Record<string, string>;
  body: Buffer | null;
  /** An answer longer than this is an error. */
  mostBytes: number;
}

export interface S3Connection {
  send(request: WireRequest): Promise<S3Answer>;
  /** What is under way ends with an error. */
  close(): Promise<void>;
}

export interface ConnectionOptions {
  origin: string;
  connections: number;
  /** In place of the system's name look-up. */
  lookup?: LookupFunction;
}

const CONNECT_TIMEOUT_MS = 10_000;
const ANSWER_TIMEOUT_MS = 60_000;

export function openConnection({ origin, connections, lookup }: ConnectionOptions): S3Connection {
  const pool = new Pool(origin, {
    connections,
    connect: { timeout: CONNECT_TIMEOUT_MS, lookup },
    headersTimeout: ANSWER_TIMEOUT_MS,
    bodyTimeout: ANSWER_TIMEOUT_MS,
  });
  return {
    send: ({ method, path, headers, body, mostBytes }) =>
      new Promise((resolve, reject) => {
        let head: Omit<S3Answer, 'body'> | null = null;
        const pieces: Buffer[] = [];
        let length = 0;
        pool.dispatch(
          { method: method as 'GET', path, headers, body },
          {
            onRequestStart() {},
            onResponseStart(_, status, fields) {
              head = { status, headers: fields };
            },
            onResponseData(controller, piece) {
              pieces.push(piece);
              length += piece.length;
              if (length > mostBytes) controller.abort(new Error('the answer is longer than any of S3'));
            },
            onResponseEnd: () => resolve({ ...head!, body: Buffer.concat(pieces, length) }),
            onResponseError: (_, error) => reject(error),
          },
        );
      }),
    close: () => pool.destroy(),
  };
}
