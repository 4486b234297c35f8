// The SQL door against the command beside it: what a CRAWL costs, what its results and its start cost, and how much it
// keeps in memory. Each side is a process of its own; sides alternate, and only ratios of one run are judged.
import { fork } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import Sqlite from '../src/store/sqlite/driver.ts';
import { layOutCorpora, PEERS_HOME, whyNoPeers } from './peers.ts';
import { inTemporaryFolder, type Measured, measureSumi, REPOSITORY, readFromSumi } from './run-sumi.ts';
import { atMost, median, type Row, type Scenario, shown } from './scenario.ts';
import { startSite } from './start-site.ts';

const AT_ONCE = 32;
const FLAGS = ['--delay', '0', '--no-robots', '--concurrency', `${AT_ONCE}`, '--per-host', `${AT_ONCE}`];
const OPTIONS = {
  ...{ default_crawl_delay: 0, max_crawl_delay: 0, respect_robots_txt: false, sitemaps: 'never' },
  ...{ threads: AT_ONCE, max_parallel_per_domain: AT_ONCE, follow_links: true, max_crawl_depth: 1000 },
};
const WITH = `WITH (${Object.entries(OPTIONS)
  .map(([name, value]) => `${name} ${value}`)
  .join(', ')})`;
/** As DuckDB sees them at its start, on this machine and others. */
const THREADS = 4;

interface Site {
  start: string;
  stop(): Promise<void>;
}

/** Real pages where they are, made-up ones of the same size elsewhere. */
async function serveLargePages(pages: number): Promise<Site> {
  if (whyNoPeers() !== undefined) return serveMadePages({ pages, textWords: 5200, linksPerPage: 60 });
  await layOutCorpora(['medium']);
  const child = fork(
    join(REPOSITORY, 'bench', 'folder-server.ts'),
    [join(PEERS_HOME, 'www', 'medium'), 'etags'],
    { cwd: REPOSITORY, execArgv: ['--import', 'tsx'] },
  );
  const port = await new Promise<number>((resolve) =>
    child.once('message', resolve as (port: unknown) => void),
  );
  const path = readFileSync(join(PEERS_HOME, 'www', 'medium.start'), 'utf8').trim();
  return {
    start: `http://127.0.0.1:${port}${path}`,
    stop: () =>
      new Promise((resolve) => {
        child.once('exit', () => resolve());
        child.disconnect();
      }),
  };
}

async function serveMadePages(web: {
  pages: number;
  textWords: number;
  linksPerPage: number;
}): Promise<Site> {
  const site = await startSite({ seed: 1, ...web }, false);
  return { start: `${site.origins[0]}/`, stop: site.stop };
}

interface CrawlCost extends Measured {
  pages: number;
}

const statementOf = (start: string, where = '') => `CRAWL (SELECT '${start}') INTO pages ${where} ${WITH}`;

async function crawlBySql(start: string, where?: string): Promise<CrawlCost> {
  return inTemporaryFolder(async (folder) => {
    const file = join(folder, 'web.duckdb');
    const measured = await measureSumi(['sql', file, '--json', '-c', statementOf(start, where)]);
    const [{ Count: pages }] = JSON.parse(measured.stdout) as [{ Count: number }];
    return { ...measured, pages };
  });
}

async function crawlByCommand(start: string, more: (folder: string) => string[]): Promise<CrawlCost> {
  return inTemporaryFolder(async (folder) => {
    const db = join(folder, 'sumi.db');
    const args = ['crawl', start, '--db', db, ...FLAGS, '--discover', 'links', '-q', ...more(folder)];
    const measured = await measureSumi(args);
    const opened = new Sqlite(db, { readonly: true });
    const pages = opened.prepare(`SELECT count(*) FROM pages WHERE visited_at IS NOT NULL`).pluck().get();
    opened.close();
    return { ...measured, pages: pages as number };
  });
}

async function compareCrawls(pages: number, rounds: number): Promise<Row[]> {
  const site = await serveLargePages(pages);
  const { origin } = new URL(site.start);
  const sides = {
    plain: () => crawlByCommand(site.start, () => []),
    sql: () => crawlBySql(site.start),
    where: () => crawlBySql(site.start, `WHERE url LIKE '${origin}/%'`),
    files: () => crawlByCommand(site.start, (folder) => ['--bodies', `files:${join(folder, 'bodies')}`]),
  };
  const costs = { plain: [], sql: [], where: [], files: [] } as Record<keyof typeof sides, CrawlCost[]>;
  try {
    for (let round = 0; round < rounds; round++)
      for (const [name, measure] of Object.entries(sides))
        costs[name as keyof typeof sides].push(await measure());
  } finally {
    await site.stop();
  }
  const counts = new Set(Object.values(costs).flatMap((list) => list.map((cost) => cost.pages)));
  if (counts.size !== 1) throw new Error(`the sides read different numbers of pages: ${[...counts]}`);
  const cpu = (side: keyof typeof sides) =>
    median(costs[side].map(({ cpuMs, pages: count }) => cpuMs / count));
  const rss = (side: keyof typeof sides) => Math.round(median(costs[side].map(({ maxRssMb }) => maxRssMb)));
  return [
    shown('pages of 40 KB', [...counts][0]),
    shown('CPU a page: sumi crawl', cpu('plain'), 'ms'),
    shown('CPU a page: CRAWL', cpu('sql'), 'ms'),
    shown('CPU a page: sumi crawl with bodies in files', cpu('files'), 'ms'),
    atMost('CRAWL against sumi crawl without bodies, CPU a page', cpu('sql') / cpu('plain'), 1.9, '×'),
    atMost('CRAWL against sumi crawl with bodies in files, CPU a page', cpu('sql') / cpu('files'), 0.6, '×'),
    atMost('CRAWL with WHERE url LIKE against the same without', cpu('where') / cpu('sql'), 1.05, '×'),
    shown('max RSS: sumi crawl, CRAWL', `${rss('plain')}, ${rss('sql')}`, 'MB'),
  ];
}

/** How much memory a result takes that nobody keeps. */
async function compareResults(rows: number, rounds: number): Promise<Row[]> {
  return inTemporaryFolder(async (folder) => {
    const found: Row[] = [];
    for (const format of ['csv', 'json']) {
      const rss: [number[], number[]] = [[], []];
      const sizes = [rows / 10, rows];
      for (const size of sizes) await makeRows(join(folder, `${size}.duckdb`), size);
      for (let round = 0; round < rounds; round++)
        for (const [at, size] of sizes.entries()) {
          const file = join(folder, `${size}.duckdb`);
          rss[at].push((await measureSumi(['sql', file, `--${format}`, '-c', 'FROM t'])).maxRssMb);
        }
      const [few, many] = rss.map(median);
      const sized = sizes.map((size) => size.toLocaleString('en'));
      found.push(
        shown(
          `max RSS, ${sized.join(' and ')} rows as ${format}`,
          `${few.toFixed()}, ${many.toFixed()}`,
          'MB',
        ),
      );
      found.push(atMost(`ten times the rows as ${format}: max RSS`, many / few, 1.5, '×'));
    }
    return found;
  });
}

async function makeRows(file: string, rows: number): Promise<void> {
  if (existsSync(file)) return;
  const made = `SELECT i AS id, 'https://example.com/page/' || i AS url, 200 AS http_status, 'Title of ' || i AS title,
    TIMESTAMP '2024-01-01' + to_seconds(i) AS crawl_time, i / 7 AS score FROM range(${rows}) r(i)`;
  await readFromSumi(['sql', file, '-c', `CREATE TABLE t AS ${made}`]);
}

async function compareStarts(rounds: number): Promise<Row[]> {
  const version: Measured[] = [];
  const select: Measured[] = [];
  for (let round = 0; round < rounds; round++) {
    version.push(await measureSumi(['--version']));
    select.push(await measureSumi(['sql', '-c', 'SELECT 1']));
  }
  const wall = (list: Measured[]) => median(list.map(({ wallMs }) => wallMs));
  return [
    shown(
      'start: sumi --version, sumi sql -c "SELECT 1"',
      `${wall(version).toFixed()}, ${wall(select).toFixed()}`,
      'ms',
    ),
    atMost('start against sumi --version', wall(select) / wall(version), 6, '×'),
  ];
}

/** What a LIMIT asks of servers. */
async function countRequests(): Promise<Row[]> {
  const site = await startSite({ seed: 1, pages: 500, textWords: 300 }, true, 20);
  try {
    const given = Object.entries({ ...OPTIONS, threads: THREADS }).map(
      ([name, value]) => `${name}: '${value}'`,
    );
    const query = `FROM crawl('${site.origins[0]}/', options := {${given.join(', ')}}) LIMIT 3`;
    const rows = JSON.parse(await readFromSumi(['sql', '--json', '-c', query])) as unknown[];
    if (rows.length !== 3) throw new Error(`LIMIT 3 gave ${rows.length} rows`);
    const requests = (await site.log()).length;
    return [atMost(`crawl() LIMIT 3 with ${THREADS} threads: requests`, requests, 3 + THREADS)];
  } finally {
    await site.stop();
  }
}

/** A statement that has nothing to do: the table knows all. */
async function runIdle(rows: number): Promise<Row[]> {
  const site = await serveMadePages({ pages: 20, textWords: 300, linksPerPage: 10 });
  try {
    return await inTemporaryFolder(async (folder) => {
      const file = join(folder, 'web.duckdb');
      const more = `INSERT INTO pages BY NAME SELECT '${site.start}known/' || i AS url, 200 AS http_status,
        now()::TIMESTAMP AS crawl_time, 'Processed' AS state FROM range(${rows}) r(i)`;
      await readFromSumi(['sql', file, '-c', statementOf(site.start), '-c', more]);
      const again = await measureSumi(['sql', file, '--json', '-c', statementOf(site.start)]);
      const [{ Count: written, seconds }] = JSON.parse(again.stdout) as [{ Count: number; seconds: number }];
      if (written !== 0) throw new Error(`the second run wrote ${written} rows`);
      const name = `the same CRAWL again, ${rows.toLocaleString('en')} known rows`;
      return [
        shown(`${name}: the statement`, seconds, 's'),
        shown(`${name}: the command`, again.wallMs / 1000, 's'),
      ];
    });
  } finally {
    await site.stop();
  }
}

async function growCrawl(pages: number): Promise<Row[]> {
  const rss: number[] = [];
  for (const count of [pages / 10, pages]) {
    const site = await serveMadePages({ pages: count, textWords: 60, linksPerPage: 10 });
    try {
      const cost = await crawlBySql(site.start);
      if (cost.pages !== count) throw new Error(`${cost.pages} of ${count} pages were read`);
      rss.push(cost.maxRssMb);
    } finally {
      await site.stop();
    }
  }
  const sized = [pages / 10, pages].map((count) => count.toLocaleString('en')).join(' and ');
  return [shown(`max RSS, CRAWL of ${sized} small pages`, rss.map((mb) => mb.toFixed()).join(', '), 'MB')];
}

export const scenario: Scenario = {
  name: 'sql',
  about: 'CRAWL, results and start of `sumi sql`, beside `sumi crawl` (some minutes)',
  async run({ quick }) {
    const rounds = quick ? 1 : 5;
    return [
      ...(await compareStarts(quick ? 3 : 9)),
      ...(await countRequests()),
      ...(await compareCrawls(quick ? 500 : 3000, rounds)),
      ...(await compareResults(quick ? 100_000 : 1_000_000, quick ? 1 : 3)),
      ...(await runIdle(quick ? 10_000 : 100_000)),
      ...(await growCrawl(quick ? 5000 : 100_000)),
    ];
  },
};
