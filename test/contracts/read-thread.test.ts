/**
 * The read side on threads: the same answers, and nothing that the main thread does waits for them. What the main thread
 * did meanwhile is counted, never timed. Giving up is tried on PostgreSQL as well, where the server has to notice it.
 */
import { readdir, readlink } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { StoredRobots } from '../../src/store/host-port.ts';
import { openReadSide } from '../../src/store/open-store.ts';
import type { ReadSide } from '../../src/store/read-side.ts';
import Sqlite from '../../src/store/sqlite/driver.ts';
import { crawlALittle, listed } from './little-crawl.ts';
import { startPostgresReading, startSqliteReading, type ViewHarness } from './read-harness.ts';
import { answersOf } from './read-side-contract.ts';

const nextTurn = () => new Promise<void>((resolve) => setImmediate(resolve));

/** Turns of this thread's loop until the promise is settled. */
async function turnsUntil(settled: Promise<unknown>): Promise<number> {
  let isOver = false;
  const over = () => {
    isOver = true;
  };
  settled.then(over, over);
  let turns = 0;
  for (; !isOver; turns++) await nextTurn();
  return turns;
}

/** A question about visits takes many seconds: millions of rows stand behind their table, and no index. */
const MANY_VISITS = `
DROP TABLE visit;
CREATE VIEW visit AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 12000000)
  SELECT 1 AS run_id, i AS page_id, i AS visited_at, 0 AS outcome, 0 AS known_by, NULL AS status_code, NULL AS etag,
    NULL AS last_modified, NULL AS content_hash, NULL AS text_hash, NULL AS simhash_distance, 0 AS wire_bytes,
    0 AS bytes_saved, NULL AS duration_ms FROM n`;

describe('an SQLite file read on threads', () => {
  let harness: ViewHarness;
  let side: ReadSide;
  beforeAll(async () => {
    harness = await startSqliteReading();
    await crawlALittle(harness);
    side = await openReadSide(harness.address, { thread: true });
  });
  afterAll(async () => {
    await side?.close();
    await harness?.cleanUp();
  });

  it('gives the answers that are given without', async () => {
    const plain = await harness.openReadSide();
    try {
      const [found, expected] = [await answersOf(side), await answersOf(plain)];
      // A Buffer passes from thread to thread as the bytes it is.
      const withBytes = (answers: Record<string, unknown>) => {
        const robots = answers.robots as StoredRobots;
        return { ...answers, robots: { ...robots, body: [...robots.body!] } };
      };
      expect(withBytes(found)).toEqual(withBytes(expected));
      const targets = { has: (id: number) => id % 2 === 0 };
      const wanted = await listed(plain.linksTo(targets, { project: 'shop', limit: 2 }));
      expect(wanted.length).toBeGreaterThan(0);
      expect(await listed(side.linksTo(targets, { project: 'shop', limit: 2 }))).toEqual(wanted);
    } finally {
      await plain.close();
    }
  });

  it('answers while a crawl in this process writes', async () => {
    const opened = await harness.openStore();
    const request = { owner: 'me', configHash: 'h', config: '{}', fresh: false, metadata: null };
    const run = await opened.begin({ ...request, project: 'written', now: harness.clock.now() });
    await run.flush();
    expect((await side.list('runs', { filter: { project: 'written' } })).rows).toMatchObject([
      { status: 'running' },
    ]);
    await run.run.finish('completed', harness.clock.now(), null);
    await opened.close();
  });

  it('tells errors as they are told without', async () => {
    const missing = openReadSide(`${harness.address}.none`, { thread: true });
    await expect(missing).rejects.toMatchObject({ name: 'SumiError', code: 'db-missing', exitCode: 2 });
    const plain = await harness.openReadSide();
    for (const query of [{ limit: 0 }, { cursor: 'x' }, { sort: 'url' }]) {
      const expected = await plain.list('pages', query).catch((error) => error);
      const found = await side.list('pages', query).catch((error) => error);
      const { code, message, hint, details } = expected;
      expect(found).toMatchObject({ name: 'SumiError', code, message, hint, details });
    }
    await plain.close();
    expect((await side.list('pages', {})).rows.length).toBeGreaterThan(0);
  });

  it('keeps short questions going while streams are left open', async () => {
    const open = Array.from({ length: 12 }, () => side.pages({})[Symbol.asyncIterator]());
    const first = open.slice(0, 6);
    for (const rows of first) expect((await rows.next()).value).toMatchObject({ project: 'shop' });
    const waiting = open.slice(6).map((rows) => rows.next());
    expect(await side.projects()).toHaveLength(3);
    for (const rows of first) await rows.return?.();
    for (const row of await Promise.all(waiting)) expect(row.value).toMatchObject({ project: 'shop' });
    for (const rows of open) await rows.return?.();
    expect(await listed(side.runs({}))).toHaveLength(4);
  });
});

describe('threads of a read side that is closed', () => {
  let harness: ViewHarness;
  beforeAll(async () => {
    harness = await startSqliteReading();
    await crawlALittle(harness);
  });
  afterAll(() => harness?.cleanUp());

  const refused = { name: 'SumiError', code: 'store-closed' };
  /** How often this process has the file open. */
  const countOpen = async () => {
    const links = (await readdir('/proc/self/fd')).map((fd) =>
      readlink(`/proc/self/fd/${fd}`).catch(() => ''),
    );
    return (await Promise.all(links)).filter((file) => file === harness.address).length;
  };

  it('refuse what waits, what is under way and what is asked afterwards, and are gone', async () => {
    const before = await countOpen();
    const side = await openReadSide(harness.address, { thread: true });
    const asked = Array.from({ length: 30 }, () => side.projects().catch((error) => error));
    const closed = side.close();
    const answers = await Promise.all(asked);
    // The first thread was there already, and may have answered.
    for (const answer of answers.slice(1)) expect(answer).toMatchObject(refused);
    await closed;
    await expect(side.projects()).rejects.toMatchObject(refused);
    await expect(listed(side.pages({}))).rejects.toMatchObject(refused);
    await side.close();
    expect(await countOpen()).toBe(before);
  });

  it('let no stream wait that was left open', async () => {
    const side = await openReadSide(harness.address, { thread: true });
    const [left, continued] = [side.pages({}), side.pages({})].map((rows) => rows[Symbol.asyncIterator]());
    expect((await left.next()).value).toMatchObject({ project: 'shop' });
    expect((await continued.next()).value).toMatchObject({ project: 'shop' });
    await side.close();
    expect(await left.return?.()).toEqual({ done: true, value: undefined });
    // Rows that were here already are given; more cannot be had.
    while ((await continued.next().catch(() => ({ done: true }))).done !== true);
    await expect(side.pages({})[Symbol.asyncIterator]().next()).rejects.toMatchObject(refused);
  });
});

describe('a question of many seconds', () => {
  it('on a thread leaves the main thread free, and can be given up', async () => {
    const harness = await startSqliteReading();
    await crawlALittle(harness);
    const side = await openReadSide(harness.address, { thread: true });
    await harness.write(MANY_VISITS);
    const reason = new Error('enough');
    const giving = new AbortController();
    const heavy = [side.until(giving.signal).visits(1), side.until(giving.signal).visits(2)];
    const failures = heavy.map((asked) => asked.catch((error) => error));
    // Both are at work, and so is everybody else.
    for (let turn = 0; turn < 1000; turn++) await nextTurn();
    expect(await side.projects()).toHaveLength(2);
    giving.abort(reason);
    expect(await Promise.all(failures)).toEqual([reason, reason]);
    // Threads that have still to end keep nobody out.
    for (let i = 0; i < 20; i++) expect(await side.projects()).toHaveLength(2);
    const rows = side.visitsAfter(1, 0)[Symbol.asyncIterator]();
    const pending = rows.next();
    for (let turn = 0; turn < 100; turn++) await nextTurn();
    expect(await rows.return?.()).toEqual({ done: true, value: undefined });
    expect((await pending).done).toBe(true);
    await expect(side.until(AbortSignal.abort(reason)).projects()).rejects.toBe(reason);
    await expect(listed(side.until(AbortSignal.abort(reason)).pages({}))).rejects.toBe(reason);
    expect((await side.until(new AbortController().signal).list('pages', {})).rows.length).toBeGreaterThan(0);
    await side.close();
    await harness.cleanUp();
  });
});

describe('a heavy question', () => {
  /** Seconds of work for one statement. */
  function makeHeavy(path: string): void {
    const db = new Sqlite(path);
    db.exec(`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300000)
      INSERT INTO visit (run_id, page_id, visited_at, outcome, known_by) SELECT 1, i + 1000, i, i % 3, i % 5 FROM n`);
    db.close();
  }

  it('stops the main thread without a thread of its own, and lets it turn with one', async () => {
    const harness = await startSqliteReading();
    await crawlALittle(harness);
    makeHeavy(harness.address);
    const [plain, threaded] = [
      await harness.openReadSide(),
      await openReadSide(harness.address, { thread: true }),
    ];
    expect(await turnsUntil(plain.ledger(1))).toBeLessThan(5);
    expect(await turnsUntil(threaded.ledger(1))).toBeGreaterThan(100);
    expect(await threaded.ledger(1)).toEqual(await plain.ledger(1));
    await threaded.close();
    await plain.close();
    await harness.cleanUp();
  });
});

describe('a question to PostgreSQL that is given up', () => {
  it('is cancelled at the server, in the middle of a batch too', async () => {
    const harness = await startPostgresReading();
    await crawlALittle(harness);
    await harness.write(`ALTER TABLE visit RENAME TO visit_kept; CREATE VIEW visit AS
      SELECT v.* FROM visit_kept v, LATERAL (SELECT pg_sleep(3600 + v.page_id)) s`);
    const side = await harness.openReadSide();
    const atWork = async () =>
      (
        await harness.rows(
          "SELECT count(*)::int AS n FROM pg_stat_activity WHERE application_name = 'sumi reading' AND state = 'active'",
        )
      )[0].n;
    const untilAtWork = async (count: number) => {
      while ((await atWork()) !== count) await nextTurn();
    };
    const reason = new Error('enough');
    const giving = new AbortController();
    const failure = side
      .until(giving.signal)
      .ledger(1)
      .catch((error) => error);
    await untilAtWork(1);
    giving.abort(reason);
    expect(await failure).toBe(reason);
    await untilAtWork(0);
    const rows = side.changes({ projectId: 1, fromRun: 1, toRun: 9 })[Symbol.asyncIterator]();
    const pending = rows.next();
    await untilAtWork(1);
    await rows.return?.();
    expect((await pending).done).toBe(true);
    await untilAtWork(0);
    expect(await side.projects()).toHaveLength(2);
    await side.close();
    await harness.cleanUp();
  });
});
