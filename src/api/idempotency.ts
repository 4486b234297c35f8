/**
 * Idempotency-Key: a POST that is repeated with the same key is answered as the first one was, and done once. Kept for 24 hours
 * by token. An answer may hold a secret that is shown once: it is kept encrypted by the key itself, of which only a hash is
 * kept.
 */
import { createCipheriv, createDecipheriv, createHash, hkdfSync } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { sumiError } from '../errors.ts';
import type { Clock } from '../primitives/clock.ts';
import type { RecordPort } from '../store/record-port.ts';

const KEPT_MS = 24 * 3_600_000;
/** After that a service that was killed in the middle of an answer no longer holds up a repetition. */
const UNDER_WAY_MS = 60_000;
const MOST_KEPT_BYTES = 200_000;
const REPLAYED_HEADERS = ['location', 'etag', 'content-type', 'retry-after'];

interface KeptAnswer {
  /** Of method, address and body. */
  fingerprint: string;
  /** Null while it is under way. */
  answer: string | null;
}

interface Answer {
  status: number;
  headers: Record<string, string>;
  body: string;
}

declare module 'fastify' {
  interface FastifyRequest {
    /** This request is the first with its key: its answer is to be kept. */
    idempotent: { recordKey: string; secret: string; fingerprint: string } | null;
  }
}

export interface IdempotencyParts {
  records: RecordPort;
  clock: Clock;
  random: (bytes: number) => Buffer;
}

export interface Idempotency {
  /** Before the work: answers a repetition (true), or remembers that this one is the first. */
  begin(request: FastifyRequest, reply: FastifyReply): Promise<boolean>;
  /** After the work. */
  keep(request: FastifyRequest, reply: FastifyReply, payload: unknown): Promise<void>;
}

export function createIdempotency({ records, clock, random }: IdempotencyParts): Idempotency {
  const put = (recordKey: string, value: KeptAnswer, keptMs: number, ifVersion?: number) =>
    records.put('idempotency', '', recordKey, value, { ifVersion, expiresAt: clock.now() + keptMs });

  return {
    async begin(request, reply) {
      const { 'idempotency-key': key } = request.headers;
      if (request.method !== 'POST' || key === undefined) return false;
      if (request.routeOptions.config.ignoresIdempotency === true) return false;
      if (typeof key !== 'string' || !/^[\x21-\x7e]{1,255}$/.test(key))
        throw sumiError('idempotency-key-invalid');
      const secret = `${request.caller.key}\n${key}`;
      const recordKey = hashOf(secret);
      const fingerprint = hashOf(`${request.method} ${request.url}\n${canonical(request.body)}`);
      for (;;) {
        const version = await put(recordKey, { fingerprint, answer: null }, UNDER_WAY_MS, 0);
        if (version !== null) {
          request.idempotent = { recordKey, secret, fingerprint };
          return false;
        }
        const kept = await records.get<KeptAnswer>('idempotency', '', recordKey);
        // It ended in this moment.
        if (kept === null) continue;
        if (kept.value.fingerprint !== fingerprint) throw sumiError('idempotency-other-request');
        if (kept.value.answer === null) throw sumiError('idempotency-under-way');
        replay(reply, JSON.parse(decrypt(kept.value.answer, secret)) as Answer);
        return true;
      }
    },
    async keep(request, reply, payload) {
      const { idempotent } = request;
      if (idempotent === null) return;
      request.idempotent = null;
      const { recordKey, secret, fingerprint } = idempotent;
      const isDone = reply.statusCode >= 200 && reply.statusCode < 300;
      const body = payload === undefined || payload === null ? '' : payload;
      // What failed has changed nothing and may be tried again; a stream cannot be kept.
      if (!isDone || typeof body !== 'string' || body.length > MOST_KEPT_BYTES) {
        await records.remove('idempotency', '', recordKey);
        return;
      }
      const headers = Object.fromEntries(
        REPLAYED_HEADERS.filter((name) => reply.hasHeader(name)).map((name) => [
          name,
          String(reply.getHeader(name)),
        ]),
      );
      const answer: Answer = { status: reply.statusCode, headers, body };
      await put(
        recordKey,
        { fingerprint, answer: encrypt(JSON.stringify(answer), secret, random(12)) },
        KEPT_MS,
      );
    },
  };
}

function replay(reply: FastifyReply, { status, headers, body }: Answer): void {
  reply.code(status).headers(headers).header('idempotency-replayed', 'true');
  reply.serializer((text: string) => text).send(body);
}

/** Equal for equal values, in whatever order their fields were sent. */
function canonical(value: unknown): string {
  if (value === undefined) return '';
  return JSON.stringify(value, (_, inner: unknown) =>
    typeof inner === 'object' && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  );
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

const keyOf = (secret: string) => Buffer.from(hkdfSync('sha256', secret, 'sumi', 'idempotency', 32));

function encrypt(text: string, secret: string, iv: Buffer): string {
  const cipher = createCipheriv('aes-256-gcm', keyOf(secret), iv);
  const sealed = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
  return Buffer.concat([iv, cipher.getAuthTag(), sealed]).toString('base64');
}

function decrypt(text: string, secret: string): string {
  const bytes = Buffer.from(text, 'base64');
  const decipher = createDecipheriv('aes-256-gcm', keyOf(secret), bytes.subarray(0, 12));
  decipher.setAuthTag(bytes.subarray(12, 28));
  return decipher.update(bytes.subarray(28), undefined, 'utf8') + decipher.final('utf8');
}
