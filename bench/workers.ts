// Many workers on PostgreSQL: what the shared store costs beside a file, how many statements a page takes, what a second
// worker brings, a thousand hosts politely by four, and how long a claim takes when a million URLs wait. The server is
// a private one with PostgreSQL's own durability (fsync on); the sites are generated, in a process of their own.
import { fork } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { connect, disconnect, type Sql } from '../src/store/postgres/connection.ts';
import { openForWriting } from '../src/store/postgres/open-database.ts';
import { type PostgresServer, startPostgres } from '../test/servers/start-postgres.ts';
import { measureClaims } from './claim-latency.ts';
import { inTemporaryFolder, type Measured, measureSumi, REPOSITORY, readFromSumi } from './run-sumi.ts';
import { atLeast, atMost, lessThan, median, type Row, type Scenario, shown } from './scenario.ts';
import type { SeenRequest } from './site-server.ts';
import { startSite } from './start-site.ts';

const SEED = 20_240_601;
const FAST = ['--delay', '0', '--no-robots', '-q'];
/** As PostgreSQL comes, but for the extension that counts statements. */
const SETTINGS = {
  fsync: 'on',
  full_page_writes: 'on',
  max_wal_size: '1GB',
  shared_preload_libraries: 'pg_stat_statements',
};

interface Database {
  address: string;
  sql: Sql;
}

/** An empty database with its tables, and nothing counted yet. */
async function withDatabase<T>(server: PostgresServer, work: (database: Database) => Promise<T>): Promise<T> {
  const address = await server.newDatabase();
  await server.run('CREATE EXTENSION pg_stat_statements', address);
  const made = await openForWriting(address, { max: 1, applicationName: 'bench' });
  await disconnect(made.sql);
  const sql = connect(address, { max: 1, applicationName: 'bench' });
  try {
    await sql`SELECT pg_stat_statements_reset()`;
    return await work({ address, sql });
  } finally {
    await disconnect(sql);
    await server.dropDatabase(address);
  }
}

async function countStatements(sql: Sql): Promise<number> {
  const [{ calls }] = await sql`
    SELECT COALESCE(sum(calls), 0)::int AS calls FROM pg_stat_statements
    WHERE dbid = (SELECT oid FROM pg_database WHERE datname = current_database())
      AND query NOT LIKE '%pg_stat_statements%'`;
  return calls;
}

/** A site that takes as little of the machine as it can. */
function startMemorySite(pages: number): Promise<{ origin: string; stop(): Promise<void> }> {
  const child = fork(join(REPOSITORY, 'bench', 'memory-site.ts'), [String(SEED), String(pages)], {
    cwd: REPOSITORY,
    execArgv: ['--import', 'tsx'],
  });
  const stop = () =>
    new Promise<void>((resolve) => {
      child.once('exit', () => resolve());
      child.disconnect();
    });
  return new Promise((resolve, reject) => {
    child.once('message', (port) => resolve({ origin: `http://127.0.0.1:${port}`, stop }));
    child.once('exit', (code) => reject(new Error(`the site's process ended with ${code}`)));
  });
}

interface Beside {
  file: Measured[];
  shared: (Measured & { statements: number })[];
}

/** One process: the same site into a file and into PostgreSQL, in turns. */
async function crawlInTurns(server: PostgresServer, pages: number, rounds: number): Promise<Beside> {
  const flags = [...FAST, '--concurrency', '64', '--per-host', '64'];
  const site = await startMemorySite(pages);
  const beside: Beside = { file: [], shared: [] };
  try {
    for (let round = 0; round < rounds; round++) {
      const crawl = ['crawl', `${site.origin}/`, ...flags];
      const intoFile = async () => {
        beside.file.push(
          await inTemporaryFolder((folder) => measureSumi([...crawl, '--db', join(folder, 'sumi.db')])),
        );
      };
      const intoPostgres = () =>
        withDatabase(server, async ({ address, sql }) => {
          const measured = await measureSumi([...crawl, '--store', address]);
          const [{ n }] = await sql`SELECT count(*)::int AS n FROM fetched WHERE status_code = 200`;
          if (n !== pages) throw new Error(`${n} of ${pages} pages are in the store`);
          beside.shared.push({ ...measured, statements: await countStatements(sql) });
        });
      for (const crawlInto of round % 2 === 0 ? [intoFile, intoPostgres] : [intoPostgres, intoFile])
        await crawlInto();
    }
  } finally {
    await site.stop();
  }
  return beside;
}

/** The short crawl is mostly start, end and V8's compiler, and swings by a tenth; the longer one is pages. */
async function besideSqlite(server: PostgresServer, quick: boolean): Promise<Row[]> {
  const rows: Row[] = [];
  for (const [pages, rounds] of quick
    ? [[1000, 1]]
    : [
        [5000, 9],
        [20_000, 5],
      ]) {
    const { file, shared } = await crawlInTurns(server, pages, rounds);
    const speed = (runs: Measured[]) => median(runs.map(({ wallMs }) => (1000 * pages) / wallMs));
    const cpu = (runs: Measured[]) => median(runs.map(({ cpuMs }) => cpuMs / pages));
    // Round by round: what runs one after the other runs in the same minute of the machine.
    const ratio = median(file.map(({ wallMs }, round) => wallMs / shared[round].wallMs));
    const what = `${pages.toLocaleString('en')} pages, one worker`;
    rows.push(
      atLeast(`${what}: pages/s against SQLite`, ratio, 0.7, 'x'),
      atMost('... statements a page', median(shared.map(({ statements }) => statements)) / pages, 0.2),
      shown('... SQLite', `${Math.round(speed(file))} pages/s, ${cpu(file).toFixed(2)} ms CPU a page`),
      shown(
        '... PostgreSQL',
        `${Math.round(speed(shared))} pages/s, ${cpu(shared).toFixed(2)} ms CPU a page`,
      ),
    );
  }
  return rows;
}

/** Pages a second while all are at work: neither the start of a process nor the last few pages are in it. */
async function steadySpeed(sql: Sql): Promise<number> {
  const [{ speed }] = await sql`
    SELECT 0.7 * count(*) * 1000 / (percentile_disc(0.9) WITHIN GROUP (ORDER BY sent_at)
      - percentile_disc(0.2) WITHIN GROUP (ORDER BY sent_at)) AS speed FROM request WHERE page_id IS NOT NULL`;
  return Number(speed);
}

/** Begins a run and lets others join it as soon as it is there. All are measured. */
async function crawlTogether(
  { address, sql }: Database,
  crawl: readonly string[],
  workers: number,
  own: readonly string[],
): Promise<Measured[]> {
  const at = ['--store', address, ...own, '-q'];
  const all = [measureSumi([...crawl, ...at])];
  let isOver = false;
  const first = all[0].finally(() => {
    isOver = true;
  });
  while (!isOver && (await sql`SELECT 1 FROM run`).length === 0);
  while (!isOver && all.length < workers) all.push(measureSumi(['worker', '--once', '--no-robots', ...at]));
  await first;
  return Promise.all(all);
}

/** A web that takes its time, so that a worker with eight requests waits more than it works. */
async function secondWorker(server: PostgresServer, quick: boolean): Promise<Row[]> {
  const pages = quick ? 2000 : 12_000;
  const site = await startSite({ seed: SEED, pages, hosts: 64 }, false, 5);
  const speeds: Record<number, number[]> = { 1: [], 2: [] };
  const cpus: Record<number, number[]> = { 1: [], 2: [] };
  try {
    for (let round = 0; round < (quick ? 1 : 3); round++) {
      for (const workers of [1, 2]) {
        await withDatabase(server, async (database) => {
          const urls = site.origins.map((origin) => `${origin}/`);
          const runs = await crawlTogether(
            database,
            ['crawl', ...urls, '--delay', '0', '--no-robots'],
            workers,
            ['--concurrency', '8'],
          );
          speeds[workers].push(await steadySpeed(database.sql));
          cpus[workers].push(runs.reduce((sum, { cpuMs }) => sum + cpuMs, 0) / pages);
        });
      }
    }
  } finally {
    await site.stop();
  }
  const faster = median(speeds[2]) / median(speeds[1]);
  const dearer = median(cpus[2]) / median(cpus[1]);
  const told = [1, 2].map((n) =>
    shown(
      `5 ms away, ${n} x 8 requests`,
      `${Math.round(median(speeds[n]))} pages/s, ${median(cpus[n]).toFixed(2)} ms CPU a page`,
    ),
  );
  // Where one worker fills the machine a second one cannot be faster, but must not be dearer either.
  if (faster >= 1.2) return [atLeast('two workers: pages/s against one', faster, 1.2, 'x'), ...told];
  return [
    atMost('two workers: CPU a page against one', dearer, 1.1, 'x'),
    shown('two workers: pages/s against one', faster, 'x'),
    ...told,
  ];
}

interface LogVerdict {
  pages: number;
  twice: number;
  shortGaps: number;
  smallestGapMs: number;
  spanS: number;
}

function judgeLog(log: readonly SeenRequest[], delayMs: number): LogVerdict {
  const [last, seen] = [new Map<number, number>(), new Set<string>()];
  const verdict = { pages: 0, twice: 0, shortGaps: 0, smallestGapMs: Number.POSITIVE_INFINITY };
  for (const { host, path, atMs, earliestMs } of log) {
    const gapMs = atMs - (last.get(host) ?? Number.NEGATIVE_INFINITY);
    last.set(host, earliestMs);
    verdict.smallestGapMs = Math.min(verdict.smallestGapMs, gapMs);
    if (gapMs < 0.95 * delayMs) verdict.shortGaps++;
    if (path === '/robots.txt') continue;
    if (seen.has(`${host}${path}`)) verdict.twice++;
    seen.add(`${host}${path}`);
  }
  return { ...verdict, pages: seen.size, spanS: (log.at(-1)!.atMs - log[0].atMs) / 1000 };
}

/** robots.txt and 20 pages a host are 21 requests, 20 gaps of one second. */
async function politely(server: PostgresServer, quick: boolean): Promise<Row[]> {
  const [hosts, perHost, workers] = [quick ? 100 : 1000, quick ? 5 : 20, 4];
  const pages = hosts * perHost;
  const site = await startSite({ seed: SEED, pages, hosts, linksPerPage: 30 }, true);
  try {
    return await inTemporaryFolder((folder) =>
      withDatabase(server, async (database) => {
        const list = join(folder, 'urls.txt');
        writeFileSync(list, site.origins.map((origin) => `${origin}/\n`).join(''));
        const crawl = ['crawl', '--urls', list, '--delay', '1'];
        const runs = await crawlTogether(database, crawl, workers, [
          '--concurrency',
          String(hosts / workers),
        ]);
        const log = judgeLog(await site.log(), 1000);
        const audit = JSON.parse(
          await readFromSumi(['audit', '--store', database.address, '--json'], [0, 1]),
        ) as { violations: number };
        const shares = await database.sql`SELECT pages FROM worker ORDER BY pages DESC`;
        return [
          atMost(
            `${hosts} hosts x ${perHost} pages x 1 s, ${workers} workers: wall`,
            runs[0].wallMs / 1000,
            1.15 * perHost,
            's',
          ),
          atMost('... violations by sumi audit', audit.violations, 0),
          atMost('... gaps under 0.95 s in the server log, what it saw late aside', log.shortGaps, 0),
          atLeast('... pages', log.pages, pages),
          atMost('... pages fetched twice', log.twice, 0),
          shown('... first to last request', log.spanS, 's'),
          shown('... smallest gap, likewise', log.smallestGapMs / 1000, 's'),
          shown('... pages a worker', shares.map(({ pages: n }) => n).join(', ')),
        ];
      }),
    );
  } finally {
    await site.stop();
  }
}

async function claims(server: PostgresServer, quick: boolean): Promise<Row[]> {
  const [urls, hosts, rounds] = quick ? [100_000, 1000, 500] : [1_000_000, 10_000, 5000];
  return withDatabase(server, async ({ address, sql }) => {
    const { p50Ms, p99Ms, mostMs } = await measureClaims({ address, sql, urls, hosts, rounds });
    const at = `${urls.toLocaleString('en')} URLs on ${hosts.toLocaleString('en')} hosts wait`;
    return [
      lessThan(`${at}: lease and claim, p99`, p99Ms, 50, 'ms'),
      shown('... median and worst', `${p50Ms.toFixed(1)} ms, ${mostMs.toFixed(1)} ms`),
    ];
  });
}

export const scenario: Scenario = {
  name: 'workers',
  about: 'PostgreSQL beside SQLite, two workers beside one, four on 1,000 hosts, claims among a million URLs',
  async run({ quick }) {
    const server = await startPostgres({ settings: SETTINGS });
    try {
      const rows: Row[] = [];
      for (const part of [besideSqlite, secondWorker, politely, claims]) {
        rows.push(...(await part(server, quick)));
        process.stderr.write(`  ${rows.length} figures\n`);
      }
      return rows;
    } finally {
      await server.remove();
    }
  },
};
