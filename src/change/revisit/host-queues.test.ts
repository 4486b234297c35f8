import { describe, expect, it } from 'vitest';
import { seededRandom } from '../../../test/seeded-random.ts';
import { HostQueues } from './host-queues.ts';

/** The same promises kept by looking at everything. */
class NaiveQueues {
  readonly keys = new Map<number, { host: number; key: number }>();
  readonly held = new Set<number>();

  earliest(host: number): number {
    const keys = [...this.keys.values()].filter((entry) => entry.host === host).map(({ key }) => key);
    return Math.min(...keys);
  }

  earliestOfAll(): number {
    const keys = [...this.keys.values()].filter(({ host }) => !this.held.has(host)).map(({ key }) => key);
    return Math.min(...keys);
  }
}

describe('the queues of hosts', () => {
  it('agree with a scan over everything on any mixture of steps', () => {
    const seed = Date.now() >>> 0;
    const random = seededRandom(seed);
    const [pages, hosts] = [120, 7];
    const queues = new HostQueues();
    const naive = new NaiveQueues();
    queues.reserve(pages, hosts);
    for (let step = 0; step < 6_000; step++) {
      const page = random.below(pages);
      const host = page % hosts;
      const action = random.below(10);
      if (action < 5) {
        const key = random.below(1000);
        queues.set(page, host, key);
        naive.keys.set(page, { host, key });
      } else if (action < 8) {
        queues.remove(page, host);
        naive.keys.delete(page);
      } else if (action < 9) {
        queues.hold(host);
        naive.held.add(host);
      } else {
        queues.letGo(host);
        naive.held.delete(host);
      }
      const first = queues.firstHost();
      const key = first === -1 ? Number.POSITIVE_INFINITY : queues.keyOf(queues.firstPage(first), first);
      expect(key, `seed ${seed}, step ${step}`).toBe(naive.earliestOfAll());
      expect(naive.held.has(first), `seed ${seed}, step ${step}`).toBe(false);
      expect(queues.has(page)).toBe(naive.keys.has(page));
      if (queues.has(page)) expect(queues.keyOf(page, host)).toBe(naive.keys.get(page)?.key);
      const known = naive.earliest(host);
      if (known < Number.POSITIVE_INFINITY) expect(queues.keyOf(queues.firstPage(host), host)).toBe(known);
    }
  });

  it('give all pages in order, however they spread over hosts and however late their hosts come', () => {
    const seed = Date.now() >>> 0;
    const random = seededRandom(seed);
    const queues = new HostQueues();
    const count = 20_000;
    // One host with most of the pages, many with a few: blocks are moved, split and packed.
    const hostOf = Array.from({ length: count }, (_, page) =>
      random.below(2) === 0 ? 0 : 1 + random.below(1 + (page >> 4)),
    );
    const keys = hostOf.map(() => random.next());
    let hosts = 0;
    for (let page = 0; page < count; page++) {
      hosts = Math.max(hosts, hostOf[page] + 1);
      queues.reserve(page + 1, hosts);
      queues.set(page, hostOf[page], keys[page]);
    }
    const taken: number[] = [];
    for (let host = queues.firstHost(); host !== -1; host = queues.firstHost()) {
      const page = queues.firstPage(host);
      if (hostOf[page] !== host) throw new Error(`page ${page} in the queue of host ${host}, seed ${seed}`);
      taken.push(keys[page]);
      queues.remove(page, host);
    }
    expect(taken, `seed ${seed}`).toEqual([...keys].sort((a, b) => a - b));
  });

  it('are empty again when the last page is taken out, and nothing comes of taking it out twice', () => {
    const queues = new HostQueues();
    queues.reserve(1, 1);
    queues.set(0, 0, 12.5);
    expect([queues.firstHost(), queues.firstPage(0), queues.keyOf(0, 0)]).toEqual([0, 0, 12.5]);
    for (let round = 0; round < 2; round++) {
      queues.remove(0, 0);
      expect(queues.has(0)).toBe(false);
      expect(queues.firstHost()).toBe(-1);
    }
  });
});
