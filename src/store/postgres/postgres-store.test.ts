import { on, once } from 'node:events';
import { createConnection, type Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  beginRun,
  candidate,
  HOST,
  LEASE_MS,
  linksTo,
  processed,
  redirecting,
  refused,
  visited,
} from '../../../test/contracts/store/harness.ts';
import { FakeClock } from '../../../test/fake-clock.ts';
import { sharedPostgres } from '../../../test/servers/shared-postgres.ts';
import { PAGE_STATES } from '../../frontier/page-state.ts';
import type { RunStore } from '../store-port.ts';
import { connect, disconnect } from './connection.ts';
import { openPostgresStore, type PostgresStore } from './postgres-store.ts';
import { openPostgresReadSide } from './read-side.ts';

const clock = new FakeClock();
let address: string;
let workers: PostgresStore[];

async function openWorker(readTime = async () => clock.now()): Promise<PostgresStore> {
  const store = await openPostgresStore({
    address,
    clock,
    // Two that wait for each other may have to try again.
    patienceMs: 10_000,
    readTime,
    onFailure(error) {
      throw error;
    },
  });
  workers.push(store);
  return store;
}

async function joined(store: PostgresStore, runId: number, owner: string): Promise<RunStore> {
  const session = await store.join(runId, owner);
  if (session === null) throw new Error(`${owner} may not take part in run ${runId}`);
  return session;
}

/** A run of the project, and a second worker that takes part in it. */
async function beginWithTwo() {
  const opened = await openWorker();
  const run = await beginRun({ open: async () => opened, clock } as never);
  const first = run.store;
  await first.frontier.offer([candidate('start', { depth: 0 })]);
  const other = await openWorker();
  const second = await joined(other, run.start.runId, 'other');
  return { run, first, second, opened, other };
}

/** A connection on which somebody has changed something, and was stopped in the middle of the next statement. */
async function stopMidStatement(program: string, change: string): Promise<Socket> {
  const { hostname, port, username, pathname } = new URL(address);
  const socket = createConnection(Number(port), hostname);
  const text = (value: string) => Buffer.from(`${value}\0`);
  const send = (type: string, ...parts: Buffer[]) => {
    const body = Buffer.concat(parts);
    const length = Buffer.alloc(4);
    length.writeInt32BE(body.length + 4);
    socket.write(Buffer.concat([Buffer.from(type), length, body]));
  };
  const heard = async (type: string) => {
    for await (const [chunk] of on(socket, 'data')) if ((chunk as Buffer).includes(type)) return;
  };
  const who = ['user', username, 'database', pathname.slice(1), 'application_name', program];
  send('', Buffer.from([0, 3, 0, 0]), ...who.map(text), Buffer.from([0]));
  await heard('Z');
  send('Q', text(`BEGIN; ${change}`));
  await heard('UPDATE 1');
  send('P', text('named'), text('SELECT 1 WHERE 1 = $1'), Buffer.from([0, 0]));
  send('D', Buffer.from('S'), text('named'));
  send('H');
  return socket;
}

async function connectionsOf(program: string): Promise<number> {
  const sql = connect(address, { max: 1, applicationName: 'test' });
  try {
    const [{ n }] = await sql`SELECT count(*)::int AS n FROM pg_stat_activity
      WHERE datname = current_database() AND application_name = ${program}`;
    return n;
  } finally {
    await disconnect(sql);
  }
}

beforeEach(async () => {
  workers = [];
  address = await (await sharedPostgres()).newDatabase();
});
afterEach(async () => {
  for (const store of workers) await store.close();
  await (await sharedPostgres()).dropDatabase(address);
});

describe('two workers on one run', () => {
  it('take the mode that one of them decided first', async () => {
    const { first, second } = await beginWithTwo();
    const decided = await Promise.all([
      first.run.decideMode({ mode: 'full', reason: 'by the first' }),
      second.run.decideMode({ mode: 'incremental', reason: 'by the second' }),
    ]);
    expect(decided[0]).toEqual(decided[1]);
    expect([await first.run.decideMode(null), await second.run.decideMode(null)]).toEqual(decided);
  });

  it('find and count new pages before their group is through: nobody waits for another’s whole group', async () => {
    const { run, first, second } = await beginWithTwo();
    const lease = await run.lease();
    const [claim] = (await first.frontier.claim(lease, 1, clock.now())).claims;
    const found = Array.from({ length: 20 }, (_, i) => candidate(`new${i}`, { host: `h${i % 4}.test` }));
    const sql = connect(address, { max: 2, applicationName: 'test' });
    try {
      let written: Promise<unknown>[] = [];
      await sql.begin(async (tx) => {
        // A group ends with the run's row: neither of the two can.
        await tx`SELECT 1 FROM run FOR UPDATE`;
        await first.frontier.settle(lease, processed(claim, { candidates: found }));
        written = [first.flush()];
        const queues = () => sql`SELECT count(*)::int AS hosts, sum(waiting)::int AS pages FROM host_queue
          WHERE host_id IN (SELECT id FROM host WHERE name LIKE 'h%.test')`;
        while ((await queues())[0].pages !== 20);
        written.push(second.frontier.offer(found));
        const [{ n }] = await sql`SELECT count(*)::int AS n FROM url WHERE url LIKE '%/new%' AND state = 1`;
        expect(n).toBe(20);
        // The second one has its answer from the same rows, and is at the end of its own group.
        const waiting =
          () => sql`SELECT count(*)::int AS n FROM pg_stat_activity WHERE datname = current_database()
          AND wait_event_type = 'Lock' AND query LIKE '%UPDATE run %'`;
        while ((await waiting())[0].n < 2);
        expect((await queues())[0]).toEqual({ hosts: 4, pages: 20 });
      });
      await Promise.all(written);
      const [{ pages }] = await sql`SELECT sum(waiting)::int AS pages FROM host_queue`;
      expect(pages).toBe(20);
    } finally {
      await disconnect(sql);
    }
  });

  it('drop what was settled under a lease that was lost, also where the same worker has the host again', async () => {
    const { run, first } = await beginWithTwo();
    const lost = await run.lease();
    const [claim] = (await first.frontier.claim(lost, 1, clock.now())).claims;
    const later = clock.now() + 2 * LEASE_MS;
    // It ran out while a page was on its way, whose answer comes while the host is taken again.
    const taking = first.frontier.leaseHost(HOST, later, LEASE_MS);
    const settling = first.frontier.settle(lost, processed(claim, { candidates: [candidate('late')] }));
    const again = (await taking)!;
    await settling;
    expect(again.fence).toBeGreaterThan(lost.fence);
    const { claims } = await first.frontier.claim(again, 5, later);
    expect(claims.map(({ pageId }) => pageId)).toEqual([claim.pageId]);
    await first.flush();
    const { byState } = await first.run.counts();
    expect(byState).toEqual({ Fetching: 1 });
  });

  it('hand on what one had claimed when its lease ran out, to whoever takes the host over', async () => {
    const { run, first, second } = await beginWithTwo();
    const lost = await run.lease();
    const [claim] = (await first.frontier.claim(lost, 1, clock.now())).claims;
    await first.flush();
    clock.advance(LEASE_MS);
    const [taken] = await second.frontier.lease(10, clock.now(), LEASE_MS);
    expect(taken).toMatchObject({ host: HOST, takenOver: true });
    const { claims } = await second.frontier.claim(taken, 5, clock.now());
    expect(claims.map(({ pageId }) => pageId)).toEqual([claim.pageId]);
  });

  it('do not open again what another has opened and read meanwhile', async () => {
    const { run, first, second } = await beginWithTwo();
    const shutOut = refused('x', 'Skipped', 'not by links');
    await second.frontier.offer([candidate('two', { depth: 0 }), shutOut]);
    const lease = await run.lease();
    const [start, two] = (await first.frontier.claim(lease, 2, clock.now())).claims;
    await first.frontier.settle(lease, processed(start, linksTo([shutOut, candidate('y')])));
    // Both are looked up, and found shut out and made.
    expect((await first.frontier.claim(lease, 1, clock.now())).claims).toHaveLength(1);
    const sql = connect(address, { max: 1, applicationName: 'test' });
    try {
      await sql`UPDATE url SET state = 3, reason = NULL WHERE url = ${shutOut.url}`;
      await first.frontier.settle(lease, redirecting(two, candidate('x', { depth: 0, reopens: true })));
      await first.flush();
      const [{ state }] = await sql`SELECT state FROM url WHERE url = ${shutOut.url}`;
      expect(state).toBe(3);
    } finally {
      await disconnect(sql);
    }
  });

  it('know what robots.txt a leased host had without asking again', async () => {
    const { run, first, second } = await beginWithTwo();
    const lease = await run.lease();
    const origin = `https://${HOST}`;
    const robots = { origin, status: 404, body: null, fetchedAt: clock.now(), expiresAt: clock.now() + 1e6 };
    expect(await first.hosts.robots(origin, lease)).toBeNull();
    await first.hosts.saveRobots(lease.hostId, { ...robots, delaySeconds: null });
    await first.frontier.release(lease);
    await first.flush();
    const taken = (await second.frontier.leaseHost(HOST, clock.now(), LEASE_MS))!;
    const sql = connect(address, { max: 1, applicationName: 'test' });
    try {
      await sql`DELETE FROM robots_txt`;
    } finally {
      await disconnect(sql);
    }
    expect(await second.hosts.robots(origin, taken)).toMatchObject({ status: 404 });
    expect(await second.hosts.robots(`${origin}:8443`, taken)).toBeNull();
  });

  it('that read one sitemap keep each entry once, under one page', async () => {
    const { first, second } = await beginWithTwo();
    const findings = Array.from({ length: 9000 }, (_, i) => ({
      candidate: candidate(`${i}`, { host: `h${i % 7}.test` }),
      lastmod: i,
      changefreq: null,
      priority: null,
      sitemap: 'https://a.test/sitemap.xml',
      lastmodText: null,
      details: null,
    }));
    const [here, there] = await Promise.all([
      first.sitemaps.saveEntries(findings, clock.now()),
      second.sitemaps.saveEntries(findings.toReversed(), clock.now()),
    ]);
    expect(there.reverse().map(({ pageId }) => pageId)).toEqual(here.map(({ pageId }) => pageId));
    // Whoever came first showed the date first.
    expect(here.every(({ isNewer }, i) => isNewer !== there[i].isNewer)).toBe(true);
    const side = await openPostgresReadSide(address);
    try {
      const urls: string[] = [];
      for await (const rows of side.sitemapEntries({})) urls.push(...rows.map(({ url }) => url));
      expect(urls).toHaveLength(9000);
      expect(new Set(urls).size).toBe(9000);
      expect((await first.run.counts()).waiting).toBe(9001);
    } finally {
      await side.close();
    }
  });

  it('queue pages again for whoever holds their host, with the visit behind them', async () => {
    const { run, first, other } = await beginWithTwo();
    const lease = await run.lease();
    const { pageId } = await run.visit(lease, { changesDetected: 3 });
    await first.frontier.release(lease);
    await first.run.finish('completed', clock.now(), null);
    const opened = await openWorker();
    const { start, store: third } = await beginRun({ open: async () => opened, clock } as never);
    await third.frontier.reconsider(() => null);
    const second = await joined(other, start.runId, 'other');
    const held = (await third.frontier.leaseHost(HOST, clock.now(), LEASE_MS))!;
    expect((await third.frontier.claim(held, 1, clock.now())).claims).toEqual([]);
    expect(await second.frontier.requeue([pageId], 0)).toBe(1);
    expect(await third.run.isDone()).toBe(false);
    const { claims } = await third.frontier.claim(held, 1, clock.now());
    expect(claims).toMatchObject([{ pageId, last: { changesDetected: 3 } }]);
    // In flight it is nobody's to queue.
    await third.flush();
    expect(await second.frontier.requeue([pageId], 0)).toBe(0);
    await third.frontier.settle(held, processed(claims[0]));
    expect(await third.run.isDone()).toBe(true);
  });

  it('know what others left out of the run they end, and what these have in flight', async () => {
    const { run, first, second, other } = await beginWithTwo();
    const leaveOut = (store: RunStore) =>
      store.frontier.closeWaiting(PAGE_STATES.Skipped, 'limit: max-pages 1');
    const lease = await run.lease();
    await run.visit(lease, linksTo([candidate('found')]));
    const flying = await run.claim(lease);
    await first.flush();
    expect(await leaveOut(second)).toBe(1);
    await first.frontier.settle(lease, processed(flying, linksTo([candidate('late')])));
    await first.flush();
    expect(await leaveOut(first)).toBe(1);
    expect(await leaveOut(second)).toBe(1);
    await first.frontier.release(lease);
    await first.run.finish('completed', clock.now(), null);
    // Of an earlier run, that is no news.
    const opened = await openWorker();
    const { start, store: third } = await beginRun({ open: async () => opened, clock } as never);
    await third.frontier.reconsider(() => null);
    const again = await joined(other, start.runId, 'other');
    expect(await leaveOut(again)).toBe(0);
    // Known pages that are due again count as new ones do.
    const isDue = { state: PAGE_STATES.Queued, reason: null, priority: 1 };
    await third.frontier.reconsider(() => isDue);
    const due = (await third.run.counts()).waiting;
    expect(due).toBeGreaterThan(0);
    expect(await leaveOut(again)).toBe(due);
    expect(await leaveOut(third)).toBe(due);
  });

  it('hand a host over with what their clocks may be wrong by on top of its delay', async () => {
    const { run, first } = await beginWithTwo();
    const lease = await run.lease();
    const notBefore = clock.now() + 5000;
    lease.state.notBefore = notBefore;
    await first.frontier.release(lease);
    await first.flush();
    const slow = async () => {
      clock.advance(20);
      return clock.now();
    };
    const third = await joined(await openWorker(slow), run.start.runId, 'third');
    const taken = (await third.frontier.leaseHost(HOST, clock.now(), LEASE_MS))!;
    expect(taken.state.notBefore).toBe(notBefore + 10);
    await third.frontier.release(taken);
    await third.flush();
    const again = (await first.frontier.leaseHost(HOST, clock.now(), LEASE_MS))!;
    expect(Math.floor(again.state.notBefore)).toBe(notBefore + 20);
    // Two clocks drift apart, and nobody has asked for an hour.
    clock.advance(3_600_000);
    again.state.notBefore = clock.now();
    await first.frontier.release(again);
    await first.flush();
    const later = (await third.frontier.leaseHost(HOST, clock.now(), LEASE_MS))!;
    expect(later.state.notBefore - clock.now()).toBeGreaterThan(1800);
  });

  it('go on with the hosts of one that was stopped in the middle of a statement', async () => {
    const { first } = await beginWithTwo();
    // As if the first had a group under way that waits for the stopped one: it has the worker's row.
    const change = `UPDATE worker SET pages = pages; UPDATE host SET fence = fence WHERE name = '${HOST}'`;
    const reader = await stopMidStatement('sumi reading', 'UPDATE project SET name = name');
    const stopped = await stopMidStatement('sumi', change);
    try {
      const ended = once(stopped, 'close');
      expect(await first.frontier.leaseHost(HOST, clock.now(), LEASE_MS)).toBeNull();
      // The second one is not heard of any more.
      clock.advance(11_000);
      let lease = null;
      while (lease === null) {
        await first.run.heartbeat({ hosts: 0, pages: 0 });
        lease = await first.frontier.leaseHost(HOST, clock.now(), LEASE_MS);
      }
      await ended;
      expect(await connectionsOf('sumi reading')).toBe(1);
    } finally {
      stopped.destroy();
      reader.destroy();
    }
  });

  it('do not take it for done until who began it says that he knows of no more', async () => {
    const { run, first, second } = await beginWithTwo();
    const lease = await run.lease();
    await run.visit(lease);
    await first.frontier.release(lease);
    expect([await first.run.isDone(), await second.run.isDone()]).toEqual([true, false]);
    await first.run.knowsNoMore();
    expect(await second.run.isDone()).toBe(true);
  });

  it('wait for each of those who began it, until he is gone', async () => {
    const { run, first, second } = await beginWithTwo();
    const opened = await openWorker();
    const { store: third } = await beginRun({ open: async () => opened, clock } as never, { owner: 'third' });
    const lease = await run.lease();
    await run.visit(lease);
    await first.frontier.release(lease);
    await third.run.knowsNoMore();
    await first.flush();
    expect([await third.run.isDone(), await second.run.isDone()]).toEqual([false, false]);
    clock.advance(31_000);
    expect(await second.run.isDone()).toBe(true);
  });

  it('leave it to go on where who began it is gone before he knew of no more', async () => {
    const { second } = await beginWithTwo();
    clock.advance(31_000);
    expect(await second.run.finish('completed', clock.now(), null)).toBe('interrupted');
    const opened = await openWorker();
    const { start, store: third } = await beginRun({ open: async () => opened, clock } as never, {
      owner: 'third',
    });
    expect(start.resumed).toBe(true);
    const fourth = await joined(await openWorker(), start.runId, 'fourth');
    // Whoever goes on finds it all, and then he may go, too.
    await third.run.knowsNoMore();
    clock.advance(31_000);
    expect(await fourth.run.finish('completed', clock.now(), null)).toBe('completed');
  });

  it('that end it at once tell each orphan once', async () => {
    const { run, first: begun, opened } = await beginWithTwo();
    const held = await run.lease();
    await run.visit(held, linksTo([candidate('lost'), candidate('lost too')]));
    await run.visit(held);
    await run.visit(held);
    await begun.frontier.release(held);
    await begun.run.finish('completed', clock.now(), null);
    clock.advance(1000);
    const next = await beginRun({ open: async () => opened, clock } as never);
    const first = next.store;
    await first.frontier.reconsider(({ url }) =>
      url.endsWith('start') ? { state: 1, priority: 0, reason: null } : null,
    );
    const second = await joined(await openWorker(), next.start.runId, 'other');
    const again = (await first.frontier.leaseHost(HOST, clock.now(), LEASE_MS))!;
    await next.visit(again, { ...linksTo([]), visit: visited('changed', 'content') });
    await first.flush();
    const told = await Promise.all([
      first.history.markOrphans(clock.now(), clock.now()),
      second.history.markOrphans(clock.now(), clock.now()),
    ]);
    expect(told.sort()).toEqual([0, 2]);
    expect((await first.run.counts()).ledger).toContainEqual({
      outcome: 'gone',
      knownBy: 'orphan',
      visits: 2,
      bytesSaved: 0,
    });
  });
});
