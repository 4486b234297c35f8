import { afterEach, describe, expect, it } from 'vitest';
import { FakeClock } from '../../../test/fake-clock.ts';
import { PAGE_STATES } from '../../frontier/page-state.ts';
import { HostPace } from '../../politeness/host-pace.ts';
import type { FrontierPort } from '../../store/frontier-port.ts';
import { openStore } from '../../store/open-store.ts';
import { keepLeases, type LeaseKeeper } from './keep-leases.ts';
import { LeasedHost } from './leased-host.ts';

const LEASE_MS = 30_000;
const MARGIN_MS = 2_000;
const PACE = {
  delayMs: 0,
  maxDelayMs: 60_000,
  perHost: 1,
  isAdaptive: false,
  maxRetryAfterMs: 60_000,
  breakerFailures: 5,
  breakerProbes: 5,
  lagMs: () => 0,
};

let cleanUp: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const end of cleanUp) await end();
  cleanUp = [];
});

/** A host leased from a real store, and somebody who keeps the lease. */
async function holdHost(more: { renew?: FrontierPort['renew'] } = {}) {
  const clock = new FakeClock();
  const opened = await openStore({
    address: ':memory:',
    clock,
    onFailure: (error) => {
      throw error;
    },
  });
  cleanUp.push(() => opened.close());
  const request = { project: 'p', owner: 'me', configHash: '', config: '{}', fresh: false, metadata: null };
  const store = await opened.begin({ ...request, now: clock.now() });
  await store.frontier.offer([
    {
      url: 'https://a.test/',
      fetchUrl: 'https://a.test/',
      host: 'a.test',
      depth: 0,
      priority: 1,
      state: PAGE_STATES.Queued,
      reason: null,
      onlyNofollow: false,
    },
  ]);
  const [lease] = await store.frontier.lease(1, clock.now(), LEASE_MS);
  const host = new LeasedHost(lease, new HostPace('a.test', lease.state, PACE, clock, false), () => false);
  const heard: string[] = [];
  const keeper: LeaseKeeper = keepLeases({
    frontier: more.renew === undefined ? store.frontier : { renew: more.renew },
    clock,
    leaseMs: LEASE_MS,
    hosts: () => [host],
    onGood: () => {
      host.isLapsed = false;
      heard.push('good');
    },
    onLost: () => heard.push('lost'),
    onFailure: (error) => heard.push(String(error)),
  });
  host.leaseEnds = keeper.endsAt(lease);
  /** Time goes on in steps, with room for answers of the store in between. */
  const pass = async (ms: number) => {
    for (let passed = 0; passed < ms; passed += 1_000) {
      clock.advance(1_000);
      await Promise.resolve();
      await new Promise((resolve) => setImmediate(resolve));
    }
  };
  return { opened, clock, store, lease, host, heard, keeper, pass };
}

const sends = ({ host, clock }: Awaited<ReturnType<typeof holdHost>>) => host.leaseEnds > clock.monotonic();

describe('a lease that is kept', () => {
  it('may be used until a margin before its end', async () => {
    const held = await holdHost({ renew: async () => {} });
    held.keeper.stop();
    await held.pass(LEASE_MS - MARGIN_MS - 1_000);
    expect(sends(held)).toBe(true);
    await held.pass(1_000);
    expect(sends(held)).toBe(false);
  });

  it('is renewed before that, again and again', async () => {
    const held = await holdHost();
    await held.pass(10 * LEASE_MS);
    expect(sends(held)).toBe(true);
    expect(held.lease.until).toBeGreaterThan(held.clock.now());
    expect(held.heard).toEqual([]);
  });

  it('has a margin of a tenth where that is shorter', async () => {
    const clock = new FakeClock();
    const keeper = keepLeases({
      frontier: { renew: async () => {} },
      clock,
      leaseMs: 3_000,
      hosts: () => [],
      onGood() {},
      onLost() {},
      onFailure() {},
    });
    const lease = { until: clock.now() + 3_000 } as Parameters<LeaseKeeper['endsAt']>[0];
    expect(keeper.endsAt(lease) - clock.monotonic()).toBe(2_700);
    keeper.stop();
  });
});

describe('a lease that could not be renewed', () => {
  it('ends though nobody said so: the process was stopped, and time went on without it', async () => {
    const held = await holdHost();
    // No timer runs while a process is stopped; the first thing it does may be to send.
    const { monotonic } = held.clock;
    held.clock.monotonic = () => monotonic.call(held.clock) + 2 * LEASE_MS;
    expect(sends(held)).toBe(false);
  });

  it('is good again when the renewal comes through and nobody took the host', async () => {
    let open: () => void = () => {};
    const gate = new Promise<void>((resolve) => {
      open = resolve;
    });
    const held = await holdHost({
      renew: async (...args) => {
        await gate;
        return held.store.frontier.renew(...args);
      },
    });
    await held.pass(LEASE_MS);
    held.host.isLapsed = true;
    expect(sends(held)).toBe(false);
    open();
    await held.pass(LEASE_MS / 2);
    expect(held.heard).toEqual(['good']);
    expect(sends(held)).toBe(true);
  });

  it('is lost when somebody else took the host meanwhile', async () => {
    const held = await holdHost();
    const { clock, store, opened } = held;
    held.keeper.stop();
    await held.pass(LEASE_MS + 1_000);
    const other = await opened.withoutRun('another');
    expect(await other.frontier.leaseHost('a.test', clock.now(), LEASE_MS)).not.toBeNull();
    const again = keepLeases({
      frontier: store.frontier,
      clock,
      leaseMs: LEASE_MS,
      hosts: () => [held.host],
      onGood: () => held.heard.push('good'),
      onLost: () => held.heard.push('lost'),
      onFailure: (error) => held.heard.push(String(error)),
    });
    await held.pass(LEASE_MS / 2);
    again.stop();
    expect(held.heard).toEqual(['lost']);
    expect(sends(held)).toBe(false);
  });

  it('asks a store that does not answer once, not once more every time', async () => {
    let asked = 0;
    const held = await holdHost({
      renew: () => {
        asked++;
        return new Promise(() => {});
      },
    });
    await held.pass(3 * LEASE_MS);
    held.keeper.stop();
    expect(asked).toBe(1);
  });
});
