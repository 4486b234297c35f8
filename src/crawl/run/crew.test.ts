import { describe, expect, it } from 'vitest';
import { FakeClock } from '../../../test/fake-clock.ts';
import type { RunCounts } from '../../store/run-port.ts';
import { chooseCrew } from './choose-crew.ts';
import type { CrewOfManyParts } from './crew-of-many.ts';

const OF_ALL = {
  ...{ pages: 90, requests: 95, bytes: 9000, byState: { Processed: 90 }, ledger: [] },
} as unknown as RunCounts;
const OWN = { pages: 30, requests: 32, bytes: 3000 };

/** A crew on a store that tells what it was asked. */
function useCrew(isShared: boolean, { lagMs = 0, delayMs = 0 } = {}) {
  const clock = new FakeClock();
  const calls: string[] = [];
  const store = {
    isShared,
    frontier: { onWork: () => {} },
    flush: async () => void calls.push('flush'),
    run: {
      async isDone() {
        calls.push('isDone');
        return false;
      },
      async counts() {
        calls.push('counts');
        return OF_ALL;
      },
      heartbeat: async () => void calls.push('heartbeat'),
    },
  };
  const parts = { store, clock, lag: { lagMs, stop() {} }, pace: { delayMs, perHost: 4 } };
  const crew = chooseCrew(parts as unknown as Parameters<typeof chooseCrew>[0] & CrewOfManyParts);
  return { crew, clock, calls };
}

const HEARTBEAT = {
  ...{ wantsCounts: true, pagesHere: () => 30, report: () => ({ hosts: 1, pages: 30 }) },
  onFailure(error: unknown) {
    throw error;
  },
};

describe('a worker alone', () => {
  it('leases hosts by the hundred, whatever it could request at once', () => {
    const { crew } = useCrew(false, { lagMs: 500 });
    expect(crew.leaseCount({ free: 8, ready: 8, held: 50 })).toBe(256);
    expect(crew.leaseCount({ free: 0, ready: 0, held: 0 })).toBe(0);
  });

  it('waits for its own store, whatever happens meanwhile', async () => {
    const { crew } = useCrew(false);
    expect(await crew.awaitSearch(Promise.resolve(true), async () => undefined)).toBe(true);
  });

  it('believes its own counts and asks the store for nothing', async () => {
    const { crew, clock, calls } = useCrew(false);
    const heartbeat = crew.startHeartbeat(HEARTBEAT);
    clock.advance(60_000);
    expect(heartbeat).toMatchObject({ pagesOfOthers: 0, silentMs: 0, answerMs: null });
    expect(crew.totals(OWN, OF_ALL)).toEqual(OWN);
    expect(await crew.watchWork(() => {}).isRunOver(30)).toBe(true);
    expect(await crew.wasAnswered()).toBe(false);
    expect(calls).toEqual([]);
  });

  it('asks again a second after its run was not over', async () => {
    const { crew, clock } = useCrew(false);
    let rechecks = 0;
    const watch = crew.watchWork(() => void rechecks++);
    clock.advance(5_000);
    expect(rechecks).toBe(0);
    expect(await watch.isRunOver(null)).toBe(false);
    clock.advance(5_000);
    expect(rechecks).toBe(1);
    expect(await watch.isRunOver(null)).toBe(false);
    watch.stop();
    clock.advance(5_000);
    expect(rechecks).toBe(1);
  });
});

describe('a worker among many', () => {
  it('leases no more hosts than it can request from at once', () => {
    const { crew } = useCrew(true);
    expect(crew.leaseCount({ free: 8, ready: 0, held: 0 })).toBe(2);
    expect(crew.leaseCount({ free: 8, ready: 8, held: 8 })).toBe(0);
    expect(crew.leaseCount({ free: 1, ready: 0, held: 8 })).toBe(1);
    expect(useCrew(true, { delayMs: 1000 }).crew.leaseCount({ free: 8, ready: 3, held: 3 })).toBe(5);
  });

  it('leaves hosts to others while it is late itself, unless it has none', () => {
    const { crew } = useCrew(true, { lagMs: 26 });
    expect(crew.leaseCount({ free: 8, ready: 0, held: 1 })).toBe(0);
    expect(crew.leaseCount({ free: 8, ready: 0, held: 0 })).toBe(2);
  });

  it('goes on as soon as something happens, while the store has not answered', async () => {
    const { crew } = useCrew(true);
    const never = new Promise<boolean>(() => {});
    expect(await crew.awaitSearch(never, async () => undefined)).toBeUndefined();
    expect(await crew.awaitSearch(Promise.resolve(true), () => new Promise(() => {}))).toBe(true);
  });

  it('tells the counts of all, and whether any of them was answered', async () => {
    const { crew } = useCrew(true);
    expect(crew.totals(OWN, OF_ALL)).toEqual({ pages: 90, requests: 95, bytes: 9000 });
    expect(await crew.wasAnswered()).toBe(true);
  });

  it('says every five seconds that it is alive, and hears how far the others are', async () => {
    const { crew, clock, calls } = useCrew(true);
    const heartbeat = crew.startHeartbeat(HEARTBEAT);
    clock.advance(4_000);
    expect(heartbeat.silentMs).toBe(4_000);
    await clock.advance(1_000);
    await new Promise<void>((resolve) => setImmediate(resolve));
    expect(calls).toEqual(['heartbeat', 'counts']);
    expect(heartbeat).toMatchObject({ pagesOfOthers: 60, silentMs: 0, answerMs: 0 });
    heartbeat.stop();
  });

  it('looks each second whether others left work', () => {
    const { crew, clock } = useCrew(true);
    let rechecks = 0;
    const watch = crew.watchWork(() => void rechecks++);
    for (let second = 0; second < 3; second++) clock.advance(1_000);
    watch.stop();
    clock.advance(5_000);
    expect(rechecks).toBe(3);
  });
});
