import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  beginRun,
  candidate,
  linksTo,
  type OpenRun,
  processed,
  url,
} from '../../../test/contracts/store/harness.ts';
import { FakeClock } from '../../../test/fake-clock.ts';
import { sharedPostgres } from '../../../test/servers/shared-postgres.ts';
import { startPostgres } from '../../../test/servers/start-postgres.ts';
import type { Claim } from '../../frontier/candidate.ts';
import type { HostLease } from '../port.ts';
import { connect, disconnect, type Sql } from './connection.ts';
import { openPostgresStore, type PostgresStore } from './postgres-store.ts';

const clock = new FakeClock();
let [address, sql]: [string, Sql] = ['', undefined as never];
let store: PostgresStore;
let run: OpenRun;
let lease: HostLease;

async function open(at: string): Promise<void> {
  address = at;
  sql = connect(address, { max: 2, applicationName: 'test' });
  store = await openPostgresStore({
    address,
    clock,
    patienceMs: 20_000,
    readTime: async () => clock.now(),
    onFailure(error) {
      throw error;
    },
  });
  run = await beginRun({ open: async () => store, clock } as never);
  await store.offer([candidate('start', { depth: 0 })]);
  lease = await run.lease();
}

async function close(): Promise<void> {
  await store.close();
  await disconnect(sql);
}

const claimTwo = async (): Promise<Claim[]> => (await store.claim(lease, 2, clock.now())).claims;
const namesOf = (claims: readonly Claim[]) => claims.map((claim) => claim.url.split('/').pop());
const settleWith = (claim: Claim, paths: string[], depth = 1) =>
  store.settle(lease, processed(claim, linksTo(paths.map((path) => candidate(path, { depth })))));

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
    expect((await store.counts()).byState).toEqual({ Processed: 3, Fetching: 2 });
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
    await store.offer([candidate('other', { depth: 0 })]);
    expect(await groups()).toBe(0);
    // One that is known may have to be opened again.
    await store.offer([candidate('other', { depth: 0, reopens: true })]);
    expect(await groups()).toBeGreaterThan(0);
  });
});

it('new URLs that a server lost when it was started again are made once more before their group is written', async () => {
  const server = await startPostgres();
  try {
    await open(await server.newDatabase());
    const [start] = await claimTwo();
    await settleWith(start, ['a', 'b', 'c']);
    // Made, and their group is still open.
    const [a] = await claimTwo();
    await sql`DELETE FROM url WHERE id <> ${start.pageId}`;
    await server.restart();
    await store.flush();
    const rows = await sql`SELECT url FROM url ORDER BY url`;
    expect(rows.map((row) => row.url)).toEqual(['a', 'b', 'c', 'start'].map((path) => url(path)));
    const [{ targets }] = await sql`SELECT targets FROM link_set`;
    const ids = await sql`SELECT id FROM url WHERE id <> ${start.pageId} ORDER BY id`;
    expect([...targets].sort()).toEqual(ids.map(({ id }) => id));
    expect(targets).not.toContain(a.pageId);
  } finally {
    await close();
    await server.remove();
  }
});
