/**
 * The fetcher: our own HTTP/1.1 clients, and undici's for HTTP/2.
 *
 * Promises: sends exactly the given request. Never follows a redirect, repeats a request or keeps a cookie. Every
 * request that is written calls `onSend` first, through a proxy, too. One sweep checks the time limits of all open
 * requests. It does not count time in which the event loop was busy, so a long commit does not look like a slow site.
 * Before it: politeness. After it: parse.
 */
import { createBufferPool } from './buffer-pool.ts';
import type { Attempts } from './connect.ts';
import { Exchange, type ExchangeSurroundings } from './exchange.ts';
import type { Fetcher, FetchRequest, Outcome } from './fetcher.ts';
import type { FetcherOptions } from './fetcher-options.ts';
import { createOriginOpener, createOriginTable } from './origins.ts';

/** Characters that the WHATWG parser does not change in path and query. */
const PLAIN_PATH = /^\/[\w\-.~!$&()*+,;=:@%/?]*$/;
const FORGET_IDLE_MS = 60_000;

export function createHttpFetcher(options: FetcherOptions): Fetcher {
  const { clock } = options;
  const inFlight: Exchange[] = [];
  const sweep = createSweep(options, inFlight, (nowMs) => origins.forgetIdle(nowMs - FORGET_IDLE_MS));
  const around: ExchangeSurroundings = {
    clock,
    buffers: createBufferPool(),
    coarseMs: sweep.coarseMs,
    tap: options.tap ?? null,
    onSettled(exchange) {
      // Swapped with the last: the order does not matter, and only one entry moves.
      const last = inFlight.pop()!;
      if (last === exchange) return;
      inFlight[exchange.index] = last;
      last.index = exchange.index;
    },
  };
  const attempts: Attempts = new Set();
  const origins = createOriginTable(createOriginOpener(options, attempts));
  let isClosed = false;

  function start(request: FetchRequest, exchange: Exchange): void {
    if (isClosed) {
      exchange.fail('aborted', 'the fetcher is closed');
      return;
    }
    // Parsing costs a tenth of the request. So a URL in plain normal form with a known origin is only cut.
    const cut = request.url.indexOf('/', 'https://'.length);
    let origin = cut < 0 ? undefined : origins.known(request.url.slice(0, cut));
    let path = origin === undefined ? '' : request.url.slice(cut);
    if (origin === undefined || !PLAIN_PATH.test(path) || path.includes('/.')) {
      const url = URL.canParse(request.url) ? new URL(request.url) : null;
      if (url === null || (url.protocol !== 'http:' && url.protocol !== 'https:')) {
        exchange.fail('other', `not an http URL: ${request.url}`);
        return;
      }
      origin = origins.of(url);
      path = url.pathname + url.search;
    }
    const { clients, pathPrefix } = origin;
    exchange.isProxied = pathPrefix !== '';
    clients.usedMs = exchange.startedMs;
    const { method, headers, isResent: isFresh } = request;
    clients.dispatch({ path: pathPrefix + path, method, headers, isFresh }, exchange);
  }

  function abortAll(): void {
    for (const exchange of inFlight.slice()) exchange.fail('aborted', 'aborted');
  }

  return {
    fetch: (request) =>
      new Promise<Outcome>((resolve) => {
        const exchange = new Exchange(request, resolve, around);
        exchange.index = inFlight.push(exchange) - 1;
        sweep.start();
        start(request, exchange);
      }),
    abortAll,
    forgetHost: origins.forgetHost,
    async close() {
      isClosed = true;
      abortAll();
      sweep.stop();
      origins.destroy();
      for (const attempt of [...attempts]) attempt.abort(new Error('the fetcher is closed'));
    },
  };
}

/**
 * One timer for all open requests, running only while there are any. Its coarse clock advances by the time between two
 * sweeps, but by at most two intervals: beyond that the event loop was busy.
 */
function createSweep(options: FetcherOptions, inFlight: Exchange[], forgetIdle: (nowMs: number) => void) {
  const { clock, headersTimeoutMs, bodyTimeoutMs, totalTimeoutMs } = options;
  const shortestMs = Math.min(headersTimeoutMs, bodyTimeoutMs, totalTimeoutMs);
  const intervalMs = Math.min(Math.max(shortestMs / 8, 5), 250);
  let coarseMs = 0;
  let sweptAt = 0;
  let forgottenMs = 0;
  let cancel: (() => void) | null = null;

  function run(): void {
    const now = clock.monotonic();
    coarseMs += Math.min(now - sweptAt, 2 * intervalMs);
    sweptAt = now;
    // A stage begins at the last sweep's time or later. One more interval makes sure that no stage ends early.
    const since = coarseMs - intervalMs;
    for (const exchange of inFlight.slice()) {
      const { stage, stageMs, startedMs, isHeld } = exchange;
      if (isHeld) continue;
      if (since - startedMs > totalTimeoutMs) {
        exchange.fail('timeout-total', `not done within ${totalTimeoutMs} ms`);
      } else if (stage === 'sent' && since - stageMs > headersTimeoutMs) {
        exchange.fail('timeout-headers', `no answer within ${headersTimeoutMs} ms`);
      } else if (stage === 'body' && since - stageMs > bodyTimeoutMs) {
        exchange.fail('timeout-body', `no byte of the body within ${bodyTimeoutMs} ms`);
      }
    }
    if (coarseMs - forgottenMs > FORGET_IDLE_MS / 4) {
      forgottenMs = coarseMs;
      forgetIdle(coarseMs);
    }
    cancel = inFlight.length === 0 ? null : clock.after(intervalMs, run);
  }

  return {
    coarseMs: () => coarseMs,
    start() {
      if (cancel !== null) return;
      sweptAt = clock.monotonic();
      cancel = clock.after(intervalMs, run);
    },
    stop() {
      cancel?.();
      cancel = null;
    },
  };
}
