/**
 * Signed requests to one bucket, asked again as long as that can help. Promises: accidents of the server and of the
 * network (5xx, SlowDown, resets, time-outs) are waited out with growing, scattered pauses for as long as the patience
 * lasts; credentials that end are renewed; a wrong clock of ours is made up for. What remains is one SumiError, without
 * a word of the credentials. Requests must be safe to repeat.
 */
import { createHash } from 'node:crypto';
import { type SumiError, sumiError } from '../../errors.ts';
import type { Clock } from '../../primitives/clock.ts';
import type { CredentialSource } from './credentials.ts';
import { encodeKey, type S3Place } from './s3-address.ts';
import { meaningOf, oneLine, refusal, whyNoHttp } from './s3-answer.ts';
import type { S3Answer, S3Connection } from './s3-connection.ts';
import { type Credentials, createSigner } from './sign-request.ts';

export interface S3Call {
  method: 'GET' | 'HEAD' | 'PUT' | 'POST' | 'DELETE';
  /** Below the prefix. */
  key: string;
  query?: readonly (readonly [name: string, value: string])[];
  headers?: Record<string, string>;
  body?: Buffer;
  /** SHA-256 of the body, where it is known. */
  bodyHash?: Buffer;
  /** What the operator wants, for messages: "write to", "read from". */
  action: string;
  /** Statuses besides 2xx that the caller reads itself. */
  accepts?: readonly number[];
  mostBytes?: number;
}

export interface S3Client {
  call(call: S3Call, patienceMs?: number): Promise<S3Answer>;
  /** Every call under way, and every later one, is rejected with `bodies-closed`. */
  close(): Promise<void>;
}

export interface ClientOptions {
  place: S3Place;
  credentials: CredentialSource;
  connection: S3Connection;
  /** For pauses and patience. */
  clock: Clock;
  patienceMs: number;
  /** Wall milliseconds, for signatures: not the clock's, which may run at a pace of its own. */
  now: () => number;
  /** From 0 to below 1. */
  random: () => number;
}

const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 5000;
/** Where every look brings new ones, those are not what is wrong. */
const MOST_RENEWALS = 2;
const MOST_ANSWER_BYTES = 1024 * 1024;
const EMPTY = Buffer.alloc(0);
const EMPTY_HASH = createHash('sha256').digest();

export function createS3Client(options: ClientOptions): S3Client {
  const { place, credentials, connection, clock, now, random } = options;
  const sign = createSigner(place.region);
  const resting = new Set<() => void>();
  let isClosed = false;
  /** It has answered as it should before: what comes now is an accident. */
  let isKnown = false;
  /** How far the server's clock is ahead of ours. */
  let aheadMs = 0;

  async function call(call: S3Call, patienceMs = options.patienceMs): Promise<S3Answer> {
    const body = call.body ?? EMPTY;
    const bodyHash =
      call.bodyHash ?? (body.length === 0 ? EMPTY_HASH : createHash('sha256').update(body).digest());
    let failingSince: number | null = null;
    let isClockSet = false;
    let renewals = 0;
    for (let failures = 0; ; failures++) {
      const identity = await credentials.get();
      const answer = await attempt(call, body, bodyHash, identity);
      if (isClosed) throw sumiError('bodies-closed');
      if (answer instanceof Error) {
        const reason = isKnown ? null : whyNoHttp(answer);
        if (reason !== null) throw sumiError('s3-not-s3', { endpoint: place.endpoint, reason }, answer);
      } else {
        const meaning = meaningOf(answer, call.accepts ?? []);
        if (meaning === 'done') {
          isKnown = true;
          return answer;
        }
        if (meaning === 'late' && !isClockSet) {
          isClockSet = true;
          aheadMs = serverTime(answer, now() + aheadMs) - now();
          continue;
        }
        if (meaning === 'identity' && renewals++ < MOST_RENEWALS && (await credentials.renew(identity)))
          continue;
        if (meaning !== 'again') throw refusal(answer, place, call.action);
      }
      failingSince ??= clock.monotonic();
      const leftMs = failingSince + patienceMs - clock.monotonic();
      if (leftMs <= 0) throw unreachable(answer, identity);
      await pause(Math.min(pauseMs(failures), leftMs));
    }
  }

  async function attempt(
    call: S3Call,
    body: Buffer,
    bodyHash: Buffer,
    identity: Credentials,
  ): Promise<S3Answer | Error> {
    if (isClosed) throw sumiError('bodies-closed');
    const { method, key, query = [], headers = {}, mostBytes = MOST_ANSWER_BYTES } = call;
    const path = place.root + encodeKey(place.prefix + key);
    const signed = sign(
      { method, host: place.host, path, query, headers, bodyHash },
      identity,
      now() + aheadMs,
    );
    try {
      const sent = method === 'PUT' || method === 'POST' ? body : null;
      return await connection.send({
        method,
        path: signed.path,
        headers: signed.headers,
        body: sent,
        mostBytes,
      });
    } catch (error) {
      return error instanceof Error ? error : new Error(String(error));
    }
  }

  /** Doubles, and is scattered over its upper half: who failed together shall not come back together. */
  function pauseMs(failures: number): number {
    const full = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** Math.min(failures, 16));
    return full * (0.5 + random() / 2);
  }

  function pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const wake = () => {
        resting.delete(wake);
        cancel();
        resolve();
      };
      const cancel = clock.after(ms, wake);
      resting.add(wake);
    });
  }

  function unreachable(last: S3Answer | Error, identity: Credentials): SumiError {
    const { endpoint, shown: address } = place;
    if (last instanceof Error)
      return sumiError('s3-unreachable', { endpoint, address, reason: messageOf(last, identity) }, last);
    const said = refusal(last, place, '').details.reason ?? `http ${last.status}`;
    return sumiError('s3-unreachable', { endpoint, address, reason: said });
  }

  return {
    call,
    async close() {
      isClosed = true;
      for (const wake of resting) wake();
      await connection.close();
    },
  };
}

/** By the Date of its answer; as we thought where it has none. */
function serverTime({ headers }: S3Answer, otherwise: number): number {
  const said = Date.parse(headers.date ?? '');
  return Number.isNaN(said) ? otherwise : said;
}

/** No library's message quotes a header, but nobody has to trust in that. */
function messageOf(error: Error, { accessKey, secretKey, sessionToken }: Credentials): string {
  const { code, message } = error as NodeJS.ErrnoException;
  const secrets = [accessKey, secretKey, sessionToken].filter((secret) => secret !== null && secret !== '');
  const text = oneLine(message || code || error.name);
  return secrets.reduce<string>((shown, secret) => shown.replaceAll(secret!, '…'), text);
}
