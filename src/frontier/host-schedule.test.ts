import { describe, expect, it } from 'vitest';
import { FakeClock } from '../../test/fake-clock.ts';
import { seededRandom } from '../../test/seeded-random.ts';
import { HostSchedule, type Schedulable } from './host-schedule.ts';

interface Host extends Schedulable {
  name: string;
  ready: number;
}

function open() {
  const clock = new FakeClock();
  let wakes = 0;
  const schedule = new HostSchedule<Host>(clock, () => {
    wakes++;
  });
  function host(name: string, inMs: number): Host {
    const made: Host = { name, ready: clock.monotonic() + inMs, place: 'out', readyAt: () => made.ready };
    schedule.place(made);
    return made;
  }
  return { clock, schedule, host, wakes: () => wakes };
}

describe('a host’s turn', () => {
  it('comes at once when it is ready, in the order of placing', () => {
    const { schedule, host } = open();
    host('a', 0);
    host('b', -5);
    expect([schedule.next()?.name, schedule.next()?.name, schedule.next()]).toEqual(['a', 'b', null]);
    expect(schedule.isEmpty).toBe(true);
  });

  it('comes round: nobody goes twice while another ready host waits', () => {
    const { schedule, host } = open();
    for (const name of ['a', 'b', 'c']) host(name, 0);
    const turns: string[] = [];
    for (let i = 0; i < 9; i++) {
      const next = schedule.next()!;
      turns.push(next.name);
      schedule.place(next);
    }
    expect(turns.join('')).toBe('abcabcabc');
  });

  it('is given once, however often the host is placed', () => {
    const { schedule, host } = open();
    const a = host('a', 0);
    schedule.place(a);
    expect(schedule.next()).toBe(a);
    expect(schedule.next()).toBeNull();
  });

  it('never comes for a host that waits for something else', () => {
    const { clock, schedule, host } = open();
    const a = host('a', Number.POSITIVE_INFINITY);
    expect(a.place).toBe('out');
    clock.advance(1e9);
    expect(schedule.next()).toBeNull();
    expect(schedule.isEmpty).toBe(true);
  });

  it('is not waited for when the host has nothing to ask any more', () => {
    const { clock, schedule, host, wakes } = open();
    const a = host('a', 600_000);
    expect(schedule.isEmpty).toBe(false);
    a.ready = Number.POSITIVE_INFINITY;
    schedule.place(a);
    expect(schedule.isEmpty).toBe(true);
    expect(a.place).toBe('out');
    // Placed anew it has its turn, once.
    a.ready = clock.monotonic() + 50;
    schedule.place(a);
    clock.advance(50);
    expect(schedule.next()).toBe(a);
    expect(schedule.next()).toBeNull();
    expect(wakes()).toBe(1);
  });

  it('is put off when the host became busy while it stood in the ring', () => {
    const { clock, schedule, host } = open();
    const a = host('a', 0);
    const b = host('b', 0);
    a.ready = clock.monotonic() + 100;
    b.ready = Number.POSITIVE_INFINITY;
    expect(schedule.next()).toBeNull();
    expect(schedule.cooling).toBe(1);
    clock.advance(100);
    expect(schedule.next()).toBe(a);
  });
});

describe('waiting', () => {
  it('wakes when the earliest host’s time has come, not before', () => {
    const { clock, schedule, host, wakes } = open();
    host('late', 500);
    const early = host('early', 200);
    expect(schedule.cooling).toBe(2);
    clock.advance(199);
    expect(wakes()).toBe(0);
    expect(schedule.next()).toBeNull();
    clock.advance(1);
    expect(wakes()).toBe(1);
    expect(schedule.next()).toBe(early);
    clock.advance(300);
    expect(wakes()).toBe(2);
    expect(schedule.next()?.name).toBe('late');
  });

  it('has one timer at a time and none when nobody waits', () => {
    const { clock, schedule, host } = open();
    for (let i = 10; i > 0; i--) host(`h${i}`, i * 100);
    expect(clock.pending).toBe(1);
    clock.advance(1000);
    while (schedule.next() !== null);
    expect(clock.pending).toBe(0);
  });

  it('does not wake again and again while nobody takes the turn', () => {
    const { clock, host, wakes } = open();
    host('a', 10);
    clock.advance(10_000);
    expect(wakes()).toBe(1);
  });

  it('ends early for a host that became ready sooner', () => {
    const { clock, schedule, host, wakes } = open();
    const a = host('a', 60_000);
    a.ready = clock.monotonic() + 50;
    schedule.place(a);
    clock.advance(50);
    expect(wakes()).toBe(1);
    expect(schedule.next()).toBe(a);
    schedule.place(a);
    expect(schedule.next()).toBe(a);
    clock.advance(60_000);
    expect(schedule.next()).toBeNull();
    expect(schedule.cooling).toBe(0);
  });

  it('ends at once for a host that is ready now', () => {
    const { clock, schedule, host } = open();
    const a = host('a', 60_000);
    a.ready = clock.monotonic();
    schedule.place(a);
    expect(schedule.next()).toBe(a);
    expect(schedule.isEmpty).toBe(true);
  });

  it('survives a time further off than a timer can hold', () => {
    const { clock, schedule, host, wakes } = open();
    const delays: number[] = [];
    const after = clock.after.bind(clock);
    clock.after = (delayMs, callback) => {
      delays.push(delayMs);
      return after(delayMs, callback);
    };
    host('a', 1e11);
    clock.advance(1e11);
    expect(Math.max(...delays)).toBeLessThan(2 ** 31);
    expect(wakes()).toBeGreaterThan(0);
    expect(schedule.next()?.name).toBe('a');
  });

  it('is over for good after stop', () => {
    const { clock, schedule, host, wakes } = open();
    host('a', 10);
    schedule.stop();
    host('b', 20);
    expect(clock.pending).toBe(0);
    clock.advance(100);
    expect(wakes()).toBe(0);
  });
});

describe('fairness', () => {
  it('serves every host of a random mixture as often as its delay lets it, and never too early', () => {
    const seed = Date.now() >>> 0;
    const random = seededRandom(seed);
    const { clock, schedule, host } = open();
    const delays = Array.from({ length: 40 }, () => 10 * (1 + random.below(50)));
    const hosts = delays.map((_, i) => host(String(i), 0));
    const turns = new Array<number>(40).fill(0);
    for (let tick = 0; tick < 10_000; tick++) {
      for (let next = schedule.next(); next !== null; next = schedule.next()) {
        expect(next.ready, `seed ${seed}`).toBeLessThanOrEqual(clock.monotonic());
        turns[Number(next.name)]++;
        next.ready = clock.monotonic() + delays[Number(next.name)];
        schedule.place(next);
      }
      clock.advance(1);
    }
    expect(hosts.every(({ place }) => place !== 'out')).toBe(true);
    for (const [i, count] of turns.entries())
      expect(count, `seed ${seed}`).toBe(Math.ceil(10_000 / delays[i]));
  });
});
