import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  beginRun,
  candidate,
  LEASE_MS,
  linksTo,
  type OpenRun,
  processed,
  url,
} from '../../../test/contracts/store/harness.ts';
import { FakeClock } from '../../../test/fake-clock.ts';
import { sharedPostgres } from '../../../test/servers/shared-postgres.ts';
import type { Claim } from '../../frontier/candidate.ts';
import type { HostLease } from '../host-port.ts';
import type { RunStore } from '../store-port.ts';
import { connect, disconnect, type Sql } from './connection.ts';
import { openPostgresStore, type PostgresStore } from './postgres-store.ts';

const clock = new FakeClock();
let [address, sql]: [string, Sql] = ['', undefined as never];
let opened: PostgresStore;
let store: RunStore;
let run: OpenRun;
let lease: HostLease;
let failures: unknown[];

async function open(at: string): Promise<void> {
  address = at;
  failures = [];
  sql = connect(address, { max: 2, applicationName: 'test' });
  opened = await openPostgresStore({
    address,
    clock,
    patienceMs: 20_000,
    readTime: async () => clock.now(),
    onFailure: (error) => failures.push(error),
  });
  run = await beginRun({ open: async () => opened, clock } as never);
  store = run.store;
  await store.frontier.offer([candidate('start', { depth: 0 })]);
  lease = await run.lease();
}

async function close(): Promise<void> {
  try {
    await opened.close();
  } finally {
    await disconnect(sql);
  }
}

const claimTwo = async (): Promise<Claim[]> => (await store.frontier.claim(lease, 2, clock.now())).claims;
const namesOf = (claims: readonly Claim[]) => claims.map((claim) => claim.url.split('/').pop());
const settleWith = (claim: Claim, paths: string[], depth = 1) =>
  store.frontier.settle(lease, processed(claim, linksTo(paths.map((path) => candidate(path, { depth })))));

/** Resolves when a statement with these words waits for a lock. */
async function isHeldUp(words: string): Promise<void> {
  const found = () => sql`SELECT 1 FROM pg_stat_activity WHERE datname = current_database()
    AND application_name = 'sumi' AND wait_event_type = 'Lock' AND query LIKE ${`%${words}%`}`;
  while ((await found()).length === 0);
}

describe('new URLs', () => {
  beforeEach(async () => open(await (await sharedPostgres()).newDatabase()));
  afterEach(async () => {
    await close();
    await (await sharedPostgres()).dropDatabase(address);
  });

  it('can be claimed while the group before theirs is held up', async () => {
    const [start] = await claimTwo();
    let written: Promise<void>[] = [];
    await sql.begin(async (tx) => {
      // A group begins with the worker's row.
      await tx`SELECT 1 FROM worker FOR UPDATE`;
      await settleWith(start, ['a', 'b']);
      const [a, b] = await claimTwo();
      expect(namesOf([a, b])).toEqual(['a', 'b']);
      await settleWith(a, ['c']);
      written = [store.flush()];
      await isHeldUp('INSERT INTO worker');
      await settleWith(b, ['d']);
      const found = [...(await claimTwo()), ...(await claimTwo())];
      expect(namesOf(found)).toEqual(['c', 'd']);
      const states = await sql`SELECT state FROM url WHERE id IN ${sql([start.pageId, a.pageId, b.pageId])}`;
      expect(states.map(({ state }) => state)).not.toContain(3);
    });
    await Promise.all(written);
    await store.flush();
    expect((await store.run.counts()).byState).toEqual({ Processed: 3, Fetching: 2 });
  });

  it('have the shorter path that was found while the database made them', async () => {
    const [start] = await claimTwo();
    await settleWith(start, ['a', 'b']);
    const [a, b] = await claimTwo();
    await settleWith(a, ['far'], 9);
    let claimed: Promise<Claim[]> | null = null;
    await sql.begin(async (tx) => {
      // They are counted into the queue of their host.
      await tx`SELECT 1 FROM host_queue FOR UPDATE`;
      claimed = claimTwo();
      await isHeldUp('WITH c AS');
      await settleWith(b, ['far'], 2);
    });
    expect(namesOf((await claimed)!)).toEqual(['far']);
    await store.flush();
    const [{ depth }] = await sql`SELECT depth FROM url WHERE url = ${url('far')}`;
    expect(depth).toBe(2);
  });

  it('that nobody’s page offered need no group of their own', async () => {
    const groups = async () => (await sql`SELECT last_group::int AS n FROM worker`)[0].n;
    expect(await groups()).toBe(0);
    await store.frontier.offer([candidate('other', { depth: 0 })]);
    expect(await groups()).toBe(0);
    // One that is known may have to be opened again.
    await store.frontier.offer([candidate('other', { depth: 0, reopens: true })]);
    expect(await groups()).toBeGreaterThan(0);
  });

  it('that a lost host’s page offered first get rows when a page of ours offers them, or somebody asks for them', async () => {
    const there = { host: 'b.test', depth: 0 };
    await store.frontier.offer([candidate('two', { depth: 0 }), candidate('start', there)]);
    const other = await run.lease('b.test');
    const [start, two] = await claimTwo();
    const [lost] = (await store.frontier.claim(other, 1, clock.now())).claims;
    await store.flush();
    await sql`UPDATE host SET fence = fence + 1 WHERE name = 'b.test'`;
    await store.frontier.settle(
      other,
      processed(lost, linksTo(['x', 'y', 'z'].map((path) => candidate(path)))),
    );
    await settleWith(start, ['a']);
    expect(namesOf(await claimTwo())).toEqual(['a']);
    await settleWith(two, ['x']);
    expect(await store.frontier.offer([candidate('y', { depth: 0, reopens: true })])).not.toContain(0);
    const rows = await sql`SELECT url FROM url WHERE state = 1 AND host_id = ${lease.hostId} ORDER BY url`;
    expect(rows.map((row) => row.url)).toEqual([url('x'), url('y')]);
  });
});

describe('a server that lost its last commits', () => {
  beforeEach(async () => open(await (await sharedPostgres()).newDatabase()));
  afterEach(async () => {
    await close();
    await (await sharedPostgres()).dropDatabase(address);
  });

  const linksOf = async () => {
    const rows =
      await sql`SELECT p.url AS page, t.url AS target FROM link_set l JOIN url p ON p.id = l.page_id,
      unnest(l.targets) AS n(id) LEFT JOIN url t ON t.id = n.id ORDER BY p.url, t.url`;
    return rows.map((row) => [row.page, row.target].map((at) => at?.split('/').pop()).join(' to '));
  };
  const waiting = async () => (await sql`SELECT sum(waiting)::int AS n FROM host_queue`)[0].n;

  /** The group ends the run with a code and a hint, and what comes after is answered with the same. */
  async function expectToldOf(what: string): Promise<void> {
    const told = {
      code: 'store-lost-commits',
      message: expect.stringContaining(what),
      hint: expect.stringContaining('Run the same command again'),
    };
    await expect(store.flush()).rejects.toMatchObject(told);
    expect(failures).toMatchObject([told]);
    await expect(Promise.resolve().then(() => claimTwo())).rejects.toMatchObject(told);
  }

  /** The same command, called again. */
  async function goOn(): Promise<void> {
    await opened.close();
    // The worker is no more, and what it held rests.
    clock.advance(2 * LEASE_MS);
    const { runId } = run.start;
    await disconnect(sql);
    await open(address);
    expect(run.start).toMatchObject({ runId, resumed: true });
  }

  it('ends the run before anything names URLs that it does not have; the next start goes on', async () => {
    await store.frontier.offer([candidate('two', { depth: 0 })]);
    const [start, two] = await claimTwo();
    await store.flush();
    await settleWith(start, ['a', 'b']);
    // Made, and their group is still open: what comes into it now knows them by their ids.
    expect(namesOf(await claimTwo())).toEqual(['a', 'b']);
    await settleWith(two, ['a']);
    await sql`DELETE FROM url WHERE url IN (${url('a')}, ${url('b')})`;
    await sql`UPDATE host_queue SET waiting = 2`;
    await expectToldOf('URLs that pages link to');
    expect(await linksOf()).toEqual([]);
    await goOn();
    const again = await claimTwo();
    expect(namesOf(again)).toEqual(['start', 'two']);
    await settleWith(again[0], ['a', 'b']);
    await settleWith(again[1], ['a']);
    expect(namesOf(await claimTwo())).toEqual(['a', 'b']);
    await store.flush();
    expect(await linksOf()).toEqual(['start to a', 'start to b', 'two to a']);
    expect(await waiting()).toBe(2);
  });

  it('is told nothing of pages that it does not have', async () => {
    const [start] = await claimTwo();
    await store.flush();
    await settleWith(start, ['a', 'b']);
    await store.flush();
    const [a] = await claimTwo();
    await settleWith(a, []);
    await sql`DELETE FROM url WHERE url IN (${url('a')}, ${url('b')})`;
    await expectToldOf('pages that were requested');
    expect((await sql`SELECT page_id FROM fetched`).map((row) => row.page_id)).toEqual([start.pageId]);
  });

  it('that held pages which were read: they are asked again by the next start, and by nobody before', async () => {
    await store.frontier.offer([candidate('two', { depth: 0 })]);
    const [start, two] = await claimTwo();
    await store.flush();
    await settleWith(start, []);
    await store.flush();
    await sql`DELETE FROM fetched`;
    await sql`UPDATE url SET state = 2 WHERE url = ${url('start')}`;
    await sql`UPDATE host_queue SET waiting = 2`;
    await sql`UPDATE worker SET last_group = last_group - 1`;
    await settleWith(two, []);
    await expectToldOf('pages that were stored before');
    expect(await sql`SELECT 1 FROM fetched`).toHaveLength(0);
    await goOn();
    expect(namesOf(await claimTwo())).toEqual(['start', 'two']);
  });
});
