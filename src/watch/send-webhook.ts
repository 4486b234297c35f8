/**
 * Sends events to a webhook: one POST each, JSON, signed with HMAC-SHA256 over the time and the body, so that the receiver
 * can tell ours from others' and new from repeated. Redirects are not followed, and only allowed addresses are
 * connected to. 2xx is an arrival; 408, 429 and 5xx are worth another try, other answers are not.
 */
import { createHmac } from 'node:crypto';
import { request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import type { Clock } from '../primitives/clock.ts';
import { AddressRefused } from '../primitives/public-address.ts';
import type { AddressGuard } from './allowed-address.ts';
import type { Delivered } from './delivery-queue.ts';
import type { ChangeEvent } from './watch-event.ts';

export interface WebhookOptions {
  url: string;
  /** Null: not signed. */
  secret: string | null;
  userAgent: string;
  guard: AddressGuard;
  clock: Pick<Clock, 'now'>;
  timeoutMs: number;
}

/** `t=SECONDS,v1=HEX` over `SECONDS.BODY`. */
export function signatureOf(secret: string, seconds: number, body: string): string {
  return `t=${seconds},v1=${createHmac('sha256', secret).update(`${seconds}.${body}`).digest('hex')}`;
}

/** What is sent as JSON: its type and id are also told in the head. */
export interface Sent {
  type: string;
  /** The same for every try. */
  id: string;
}

export interface Posted {
  /** Null where there was no answer. */
  status: number | null;
  failure: Delivered;
}

export type PostEvent = (event: Sent, signal: AbortSignal) => Promise<Posted>;

export function createWebhook(
  options: WebhookOptions,
): (event: ChangeEvent, signal: AbortSignal) => Promise<Delivered> {
  const postEvent = createPoster(options);
  return async (event, signal) => (await postEvent(event, signal)).failure;
}

export function createPoster(options: WebhookOptions): PostEvent {
  const url = new URL(options.url);
  return (event, signal) => {
    const refusal = options.guard.refuse(url);
    if (refusal !== null) return Promise.resolve({ status: null, failure: refusedFor(refusal.refused) });
    return post(url, event, options, signal);
  };
}

function post(
  url: URL,
  event: Sent,
  { secret, userAgent, guard, clock, timeoutMs }: WebhookOptions,
  signal: AbortSignal,
): Promise<Posted> {
  const body = JSON.stringify(event);
  const seconds = Math.floor(clock.now() / 1000);
  const headers: Record<string, string> = {
    'content-type': 'application/json',
    'content-length': String(Buffer.byteLength(body)),
    'user-agent': userAgent,
    'sumi-event': event.type,
    'sumi-delivery': event.id,
    ...(secret !== null && { 'sumi-signature': signatureOf(secret, seconds, body) }),
  };
  return new Promise((resolve) => {
    // An answer whose head comes byte by byte is never idle.
    const deadline = AbortSignal.timeout(timeoutMs);
    const fail = (error: Error) => {
      const isLate = deadline.aborted && !signal.aborted;
      const message = isLate ? `no answer within ${timeoutMs / 1000} s` : error.message;
      const isRefused = error instanceof AddressRefused;
      const failure = isRefused ? refusedFor(message) : { error: message, isWorthRetrying: true };
      resolve({ status: null, failure });
    };
    const either = AbortSignal.any([signal, deadline]);
    const send = url.protocol === 'https:' ? requestHttps : requestHttp;
    const request = send(
      url,
      // Each request has its own connection: a kept one could lead to an address that was not checked.
      { method: 'POST', headers, lookup: guard.lookup, signal: either, agent: false },
      (response) => {
        const status = response.statusCode ?? 0;
        resolve({ status, failure: judge(status) });
        // Nothing else of the answer is wanted, however long it is.
        response.on('error', () => {}).destroy();
      },
    );
    request.on('error', fail);
    request.end(body);
  });
}

/** The address is refused, for every event. */
const refusedFor = (error: string): Delivered => ({ error, isWorthRetrying: false, isForAll: true });

function judge(status: number): Delivered {
  if (status >= 200 && status < 300) return null;
  const isWorthRetrying = status === 408 || status === 429 || status >= 500;
  return { error: `http ${status}${status >= 300 && status < 400 ? ', not followed' : ''}`, isWorthRetrying };
}
