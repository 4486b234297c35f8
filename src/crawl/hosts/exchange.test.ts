// What the request log says of a request must be what the host's clock allowed when the request was sent.
import { describe, expect, it } from 'vitest';
import { FakeClock } from '../../../test/fake-clock.ts';
import type { FetchRequest, Outcome } from '../../fetch/fetcher.ts';
import { emptyHead } from '../../fetch/response-head.ts';
import { auditRequests } from '../../politeness/audit.ts';
import { HostPace } from '../../politeness/host-pace.ts';
import type { HostLease, HostState } from '../../store/host-port.ts';
import type { RequestRow } from '../../store/read-side.ts';
import { type Exchange, type ExchangeSurroundings, exchangeWith } from './exchange.ts';
import { LeasedHost } from './leased-host.ts';

const PACE = {
  ...{ delayMs: 0, maxDelayMs: 60_000, perHost: 5, isAdaptive: true, maxRetryAfterMs: 60_000 },
  ...{ breakerFailures: 5, breakerProbes: 5, lagMs: () => 0 },
};

/** A host whose requests are written and answered when the test says so. */
function openHost() {
  const clock = new FakeClock();
  const state = {
    ...{ notBefore: 0, blockedUntil: 0, consecutive429: 0, adaptiveMs: 0, averageMs: 0, samples: 0 },
    ...{
      failures: 0,
      probes: 0,
      requests: 0,
      distrustedUntil: 0,
      announced: 0,
      unannounced: 0,
      headChecks: 0,
    },
  } satisfies HostState;
  const pace = new HostPace('a.test', state, PACE, clock, false);
  const host = new LeasedHost({ host: 'a.test', state } as unknown as HostLease, pace, () => false);
  const open: { request: FetchRequest; answer: (status: number | null) => void }[] = [];
  const fetch = (request: FetchRequest) =>
    new Promise<Outcome>((resolve) => {
      const answer = (status: number | null) =>
        resolve({
          ...{ head: status === null ? null : emptyHead(status), body: null, bodyRefused: false },
          ...{ failure: status === null ? 'aborted' : null, message: null },
          ...{ sentAt: clock.now(), responseMs: 50, wireBytes: 0 },
        });
      open.push({ request, answer });
    });
  const around = {
    ...{ clock, fetcher: { fetch }, policy: { wantsType: () => true }, placed() {}, egress: null },
    events: { counters: { answers: 0 }, host() {} },
  } as unknown as ExchangeSurroundings;
  const rows: RequestRow[] = [];

  function log({ slotAt, sentAt, endedAt, delayMs, perHost, blockedUntil, outcome }: Exchange): void {
    rows.push({
      ...{ id: rows.length + 1, host: 'a.test', run: 1, kind: 'GET', statusCode: outcome.head?.status ?? 0 },
      ...{ slotAt, sentAt: sentAt!, endedAt: endedAt!, delayMs, perHost, blockedUntil },
    } as unknown as RequestRow);
  }

  let pageId = 0;
  /** Takes a slot; written and answered by the calls that it gives. */
  function begin() {
    const claim = { pageId: ++pageId } as never;
    const ended = exchangeWith(host, around, { url: 'http://a.test/', method: 'GET', maxBytes: 1 }, claim);
    const { request, answer } = open.pop()!;
    return {
      write() {
        expect(request.onSend!()).toBe(true);
        request.onSent!();
      },
      /** null: ended from outside, of which the host's clock learns nothing. */
      async end(status: number | null) {
        answer(status);
        log(await ended);
      },
    };
  }

  async function ask(status: number): Promise<void> {
    const wait = pace.readyAt() - clock.monotonic();
    if (wait > 0) clock.advance(wait);
    const request = begin();
    request.write();
    clock.advance(50);
    await request.end(status);
  }

  const audit = () => {
    rows.sort((a, b) => a.sentAt - b.sentAt);
    return auditRequests(rows, { floorOf: () => ({ delayMs: 0, sinceMs: 0 }) });
  };
  return { clock, pace, begin, ask, audit };
}

describe('a request that is written late', () => {
  it('is judged by the delay in force when it was sent, though that ended after its slot was taken', async () => {
    const host = openHost();
    await host.ask(429);
    expect(host.pace.delayMs).toBe(500);
    for (let n = 0; host.pace.delayMs > 0 && n < 5000; n++) {
      host.clock.advance(Math.max(0, host.pace.readyAt() - host.clock.monotonic()));
      // The answer that ends the delay comes while the next request waits for its connection.
      const first = host.begin();
      first.write();
      host.clock.advance(Math.max(0, host.pace.readyAt() - host.clock.monotonic()));
      const late = host.begin();
      await first.end(200);
      if (host.pace.delayMs === 0) {
        host.clock.advance(Math.max(0, host.pace.readyAt() - host.clock.monotonic()));
        const quick = host.begin();
        quick.write();
        late.write();
        host.clock.advance(50);
        await quick.end(200);
      } else {
        late.write();
        host.clock.advance(50);
      }
      await late.end(null);
    }
    expect(host.pace.delayMs).toBe(0);
    expect(await host.audit()).toMatchObject({ violations: 0, details: [] });
  });

  it('is judged by the number of requests at once that was allowed when it was sent', async () => {
    const host = openHost();
    // Five at once are refused for as long as there is more than one.
    for (let n = 0; n < 20; n++) await host.ask(200);
    const five = Array.from({ length: 4 }, () => host.begin());
    for (const request of five) request.write();
    host.clock.advance(50);
    for (const request of five) await request.end(503);
    const { perHost: few } = host.pace;
    expect(few).toBeLessThan(5);
    for (let n = 0; host.pace.perHost === few && n < 200; n++) {
      host.clock.advance(Math.max(0, host.pace.readyAt() - host.clock.monotonic()));
      const first = host.begin();
      first.write();
      // As many as are allowed, the last of which is not written yet.
      const others = Array.from({ length: few - 1 }, () => host.begin());
      const late = others.pop()!;
      for (const other of others) other.write();
      host.clock.advance(50);
      await first.end(200);
      if (host.pace.perHost > few) {
        const more = Array.from({ length: host.pace.perHost - few + 1 }, () => host.begin());
        for (const request of more) request.write();
        late.write();
        host.clock.advance(50);
        for (const request of more) await request.end(200);
      } else late.write();
      host.clock.advance(50);
      for (const request of [...others, late]) await request.end(null);
    }
    expect(host.pace.perHost).toBeGreaterThan(few);
    expect(await host.audit()).toMatchObject({ violations: 0, details: [] });
  });
});
