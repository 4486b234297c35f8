import { describe, expect, it } from 'vitest';
import type { RequestRow } from '../store/read-side.ts';
import { type AuditOptions, auditRequests } from './audit.ts';

let nextId = 1;

/** A polite request, sent in its slot, unless said otherwise. */
function request(sentAt: number, given: Partial<RequestRow> = {}): RequestRow {
  return {
    id: nextId++,
    run: 1,
    host: 'example.com',
    kind: 'GET',
    slotAt: sentAt,
    sentAt,
    endedAt: sentAt + 50,
    delayMs: 1000,
    perHost: 5,
    statusCode: 200,
    blockedUntil: null,
    ...given,
  };
}

const gap = (at: number) => request(at, { kind: 'gap', endedAt: at, delayMs: 0, perHost: 0, statusCode: 0 });

const noFloor: AuditOptions = { floorOf: () => ({ delayMs: 0, sinceMs: 0 }) };

async function kindsOf(rows: RequestRow[], options: AuditOptions = noFloor): Promise<string[]> {
  return (await auditRequests(rows, options)).details.map(({ kind }) => kind);
}

describe('an audit', () => {
  it('finds nothing in a polite log and counts requests and hosts', async () => {
    const rows = [request(0), request(1000), request(2500), request(0, { host: 'b.example' })];
    expect(await auditRequests(rows, noFloor)).toEqual({
      requests: 4,
      hosts: 2,
      violations: 0,
      byKind: {},
      gaps: 0,
      clearedUntil: null,
      details: [],
    });
  });

  it('does not judge what was sent before a log was cleared, nor by it', async () => {
    const cleared = request(0, { kind: 'cleared', endedAt: 10_000 });
    const rows = [
      cleared,
      // Left by another project: an answer that is gone ended its block.
      request(9000, { statusCode: 429, blockedUntil: 60_000 }),
      gap(9700),
      request(9900),
      request(9950, { endedAt: 12_000 }),
      request(10_050),
    ];
    expect(await auditRequests(rows, noFloor)).toMatchObject({
      requests: 1,
      violations: 0,
      clearedUntil: 10_000,
    });
    // Of other hosts nothing was cleared, and what came later is known whole.
    expect(await kindsOf([...rows, request(10_100)])).toEqual(['too-close']);
    expect(await kindsOf([...rows, request(11_100, { perHost: 1 })])).toEqual(['too-many']);
    expect(await kindsOf([...rows, ...[0, 400].map((at) => request(at, { host: 'b.example' }))])).toEqual([
      'too-close',
    ]);
  });

  it('says which request of which host did what', async () => {
    const late = request(400);
    const { details, byKind } = await auditRequests([request(0), late], noFloor);
    expect(byKind).toEqual({ 'too-close': 1 });
    expect(details).toEqual([
      {
        kind: 'too-close',
        host: 'example.com',
        request: late.id,
        run: 1,
        sentAt: 400,
        detail: '400 ms after the one before, delay 1000 ms',
      },
    ]);
  });

  it('counts on where the list of details ends', async () => {
    const rows = Array.from({ length: 50 }, (_, i) => request(i * 100));
    const { violations, details } = await auditRequests(rows, { ...noFloor, maxDetails: 3 });
    expect([violations, details.length]).toEqual([49, 3]);
  });

  it('sees a request that was sent before its slot', async () => {
    expect(await kindsOf([request(100, { slotAt: 102 })])).toEqual(['early']);
  });

  it('forgives one millisecond and no more', async () => {
    expect(await kindsOf([request(0), request(999)])).toEqual([]);
    expect(await kindsOf([request(0), request(998.9)])).toEqual(['too-close']);
    expect(await kindsOf([request(100, { slotAt: 101 })])).toEqual([]);
  });

  it('keeps the hosts apart', async () => {
    expect(await kindsOf([request(0), request(1, { host: 'b.example' })])).toEqual([]);
  });

  it('asks for the delay in force for the later request', async () => {
    expect(await kindsOf([request(0), request(1000, { delayMs: 1500 })])).toEqual(['too-close']);
    expect(await kindsOf([request(0, { delayMs: 1500 }), request(1000)])).toEqual([]);
  });

  it('asks a run for no longer gap to the run before it than the host knew of', async () => {
    expect(await kindsOf([request(0), request(1000, { run: 2, delayMs: 9000 })])).toEqual([]);
    expect(await kindsOf([request(0), request(900, { run: 2, delayMs: 9000 })])).toEqual(['too-close']);
  });

  it('sees more open at once than allowed, also where there is no delay', async () => {
    const open = (sentAt: number) => request(sentAt, { delayMs: 0, perHost: 2, endedAt: sentAt + 100 });
    expect(await kindsOf([open(0), open(10), open(110)])).toEqual([]);
    expect(await kindsOf([open(0), open(10), open(20)])).toEqual(['too-many']);
  });

  it('sees a request inside a block that an earlier answer set', async () => {
    const blocking = request(0, { statusCode: 429, blockedUntil: 5000 });
    expect(await kindsOf([blocking, request(2000)])).toEqual(['blocked']);
    expect(await kindsOf([blocking, request(5000)])).toEqual([]);
  });

  it('does not blame a request that was sent before the blocking answer came', async () => {
    const blocking = request(0, { delayMs: 0, statusCode: 429, endedAt: 300, blockedUntil: 5000 });
    expect(await kindsOf([blocking, request(200, { delayMs: 0 })])).toEqual([]);
  });

  it('lets only the answer to a request sent after the block clear it', async () => {
    const blocking = request(0, { delayMs: 0, statusCode: 429, endedAt: 100, blockedUntil: 9000 });
    const before = request(50, { delayMs: 0, endedAt: 200 });
    const inside = request(1000, { delayMs: 0, endedAt: 1100 });
    const after = request(2000, { delayMs: 0 });
    expect(await kindsOf([blocking, before, after])).toEqual(['blocked']);
    expect(await kindsOf([blocking, before, inside, after])).toEqual(['blocked']);
    expect((await auditRequests([blocking, before, inside, after], noFloor)).details[0].request).toBe(
      inside.id,
    );
  });

  it('lets any answer clear the block of a breaker', async () => {
    const failing = request(10, { delayMs: 0, statusCode: 0, endedAt: 100, blockedUntil: 9000 });
    const slow = request(0, { delayMs: 0, endedAt: 200 });
    expect(await kindsOf([slow, failing, request(300, { delayMs: 0 })])).toEqual([]);
    expect(await kindsOf([slow, failing, request(150, { delayMs: 0 })])).toEqual(['blocked']);
  });

  it('sees a delay below the configured one, from the moment it was configured', async () => {
    const floorOf = () => ({ delayMs: 2000, sinceMs: 1000 });
    expect(await kindsOf([request(0)], { floorOf })).toEqual([]);
    expect(await kindsOf([request(1000)], { floorOf })).toEqual(['below-floor']);
    expect(await kindsOf([request(1000, { delayMs: 2000 })], { floorOf })).toEqual([]);
  });

  it('wants one full delay after a restart and reports restarts apart', async () => {
    expect(await kindsOf([request(0), gap(5000), request(5500)])).toEqual(['after-restart']);
    const { gaps, requests, violations } = await auditRequests(
      [request(0), gap(5000), request(6000), request(7000)],
      noFloor,
    );
    expect({ gaps, requests, violations }).toEqual({ gaps: 1, requests: 3, violations: 0 });
  });

  it('judges one run only when asked, with the others as its past', async () => {
    const rows = [request(0), request(100), request(300, { run: 2 }), request(1300, { run: 2 })];
    const { requests, details } = await auditRequests(rows, { ...noFloor, run: 2 });
    expect(requests).toBe(2);
    expect(details.map(({ kind, sentAt }) => [kind, sentAt])).toEqual([['too-close', 300]]);
  });
});
