// The figures of a map: 300 domains, 20,000 pages and 400,000 links at 0.1 s a domain. How near the scheduling comes to
// what the politest host allows, what a page costs beside `sumi crawl`, how many bytes a link takes, and whether the
// listed domains were left alone. The web is in a process of its own, and its log is the judge.
import { spawnSync } from 'node:child_process';
import { existsSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { inTemporaryFolder, type Measured, measureSumi, readFromSumi } from './run-sumi.ts';
import { atLeast, atMost, type Row, type Scenario, shown, skipped } from './scenario.ts';
import type { SeenRequest } from './site-server.ts';
import { type SiteProcess, startSite } from './start-site.ts';
import type { TerrainWebOptions } from './terrain-web.ts';

const SQLITE = 'sqlite3';
const DELAY_S = 0.1;
const FULL: TerrainWebOptions = {
  seed: 20_240_704,
  quality: 5,
  discovered: 255,
  listed: 40,
  pages: 20_000,
  most: 250,
  linksPerPage: 20,
};
const QUICK: TerrainWebOptions = { ...FULL, quality: 2, discovered: 22, listed: 6, pages: 1000, most: 60 };
/** The tables of specification 004 section 8.1, by its names. */
const TABLES = [
  'runs',
  'pages',
  'page_depths',
  'links',
  'blacklisted_urls',
  'blacklisted_referrers',
  'stubbed_urls',
  'stubbed_referrers',
  'domain_states',
  'frontier',
];

interface Domains {
  quality: string[];
  open: string[];
  blacklist: string[];
  stub: string[];
}

const hostname = (origin: string) => new URL(origin).hostname;

/** Half of the listed domains are blacklisted, half are stubbed. */
function domainsOf(origins: readonly string[], { quality, discovered, listed }: TerrainWebOptions): Domains {
  const names = origins.map(hostname);
  const open = quality + discovered;
  return {
    quality: names.slice(0, quality),
    open: names.slice(0, open),
    blacklist: names.slice(open, open + listed / 2),
    stub: names.slice(open + listed / 2),
  };
}

function writeTerrainFile(file: string, { origins }: SiteProcess, domains: Domains): void {
  const section = (list: string, domain: string, more = '') => `[[${list}]]\ndomain = "${domain}"\n${more}`;
  writeFileSync(
    file,
    [
      '[crawler]\nmax-depth = 50\nmax-concurrent-pages-open = 100\nmax-domain-requests = 1000000',
      `minimum-time-on-page = ${1000 * DELAY_S}\nallow-http = true`,
      '[output]\ndatabase-path = "map.db"\nsummary-path = "map.md"\n',
      ...domains.quality.map((domain, at) => section('quality', domain, `seeds = ["${origins[at]}/"]\n`)),
      ...domains.blacklist.map((domain) => section('blacklist', domain)),
      ...domains.stub.map((domain) => section('stub', domain)),
    ].join('\n'),
  );
}

interface LogVerdict {
  /** The most over hosts of the delay times the requests to it. */
  idealS: number;
  spanS: number;
  listed: number;
  pages: number;
  twice: number;
  shortGaps: number;
}

function judgeLog(log: readonly SeenRequest[], open: number): LogVerdict {
  const [count, last, seen] = [new Map<number, number>(), new Map<number, number>(), new Set<string>()];
  const verdict = { listed: 0, twice: 0, shortGaps: 0 };
  for (const { host, method, path, atMs } of log) {
    if (host >= open) verdict.listed++;
    count.set(host, (count.get(host) ?? 0) + 1);
    if (atMs - (last.get(host) ?? Number.NEGATIVE_INFINITY) < 950 * DELAY_S) verdict.shortGaps++;
    last.set(host, atMs);
    if (method === 'HEAD' || path === '/robots.txt') continue;
    if (seen.has(`${host}${path}`)) verdict.twice++;
    seen.add(`${host}${path}`);
  }
  const spanS = (log.at(-1)!.atMs - log[0].atMs) / 1000;
  return { ...verdict, pages: seen.size, spanS, idealS: DELAY_S * Math.max(...count.values()) };
}

/** By the plain program and no code of ours; null where there is none. */
function askSqlite(file: string, sql: string): number[] | null {
  const { error, status, stdout, stderr } = spawnSync(SQLITE, ['-readonly', file, sql], {
    encoding: 'utf8',
  });
  if (error !== undefined) return null;
  if (status !== 0) throw new Error(`sqlite3: ${stderr.trim()}`);
  return stdout.trim().split('\n').map(Number);
}

function judgeDatabase(file: string, web: TerrainWebOptions): Row[] {
  const links = web.pages * web.linksPerPage;
  const counts = askSqlite(file, TABLES.map((table) => `SELECT count(*) FROM ${table};`).join('\n'));
  if (counts === null) return [skipped('bytes a link', 'the sqlite3 program is not installed')];
  const rowsOf = (table: string) => counts[TABLES.indexOf(table)];
  // Links that lead away from a page and links that lead to it, and whatever else is kept of links.
  const [bytes] = askSqlite(file, "SELECT sum(pgsize) FROM dbstat WHERE name LIKE '%link%'")!;
  const [states] = askSqlite(file, "SELECT count(*) FROM pages WHERE state = 'Processed'")!;
  const [referred] = askSqlite(
    file,
    'SELECT (SELECT sum(reference_count) FROM blacklisted_urls) + (SELECT sum(reference_count) FROM stubbed_urls)',
  )!;
  return [
    atMost('bytes a link, both directions', bytes / rowsOf('links'), 20),
    atLeast('links by the sqlite3 program', rowsOf('links'), links),
    atLeast('pages Processed by the sqlite3 program', states, web.pages),
    atLeast('references to listed URLs', referred, rowsOf('blacklisted_urls') + rowsOf('stubbed_urls')),
    shown('rows', TABLES.map((table, at) => `${table} ${counts[at].toLocaleString('en')}`).join(', ')),
    shown('the whole database', statSync(file).size / 1024 / 1024, 'MB'),
  ];
}

/** The same pages by `sumi crawl` at the same pace, as it is without being told otherwise. */
async function crawlSamePages(
  folder: string,
  site: SiteProcess,
  { quality, open }: Domains,
  more: readonly string[],
): Promise<Measured> {
  await site.forget();
  const seeds = quality.map((_, at) => `${site.origins[at]}/`);
  const flags = ['--allowed-hosts', open.join(','), '--delay', `${DELAY_S}`, '--concurrency', '100', '-q'];
  return measureSumi([
    'crawl',
    ...seeds,
    ...flags,
    ...more,
    '--db',
    join(folder, `crawl${more.join('')}.db`),
  ]);
}

async function measure(folder: string, site: SiteProcess, web: TerrainWebOptions): Promise<Row[]> {
  const domains = domainsOf(site.origins, web);
  const [terrain, database] = [join(folder, 'terrain.toml'), join(folder, 'map.db')];
  writeTerrainFile(terrain, site, domains);
  const map = await measureSumi(['map', terrain, '-q']);
  const log = judgeLog(await site.log(), domains.open.length);
  const audit = JSON.parse(await readFromSumi(['audit', '--db', database, '--json'], [0, 1])) as {
    violations: number;
  };
  const inDatabase = judgeDatabase(database, web);
  const summary = await measureSumi(['map', terrain, '--export-summary', '-q']);
  if (!existsSync(join(folder, 'map.md'))) throw new Error('no summary was written');
  const crawl = await crawlSamePages(folder, site, domains, []);
  const crawled = judgeLog(await site.log(), domains.open.length);
  const headFirst = await crawlSamePages(folder, site, domains, ['--head-first']);
  const perPage = ({ cpuMs }: Measured) => cpuMs / web.pages;
  return [
    atMost('wall against the ideal', map.wallMs / 1000 / log.idealS, 1.15, 'x'),
    shown('... ideal, wall', `${log.idealS.toFixed(1)} s, ${(map.wallMs / 1000).toFixed(1)} s`),
    shown('... first to last request', log.spanS, 's'),
    atMost('CPU a page against sumi crawl', perPage(map) / perPage(crawl), 1.3, 'x'),
    shown('... sumi map', perPage(map), 'ms'),
    shown('... sumi crawl', perPage(crawl), 'ms'),
    shown('... sumi crawl --head-first', perPage(headFirst), 'ms'),
    shown('... of it the summary, anew', perPage(summary), 'ms'),
    shown('max RSS of map and crawl', `${Math.round(map.maxRssMb)} MB, ${Math.round(crawl.maxRssMb)} MB`),
    ...inDatabase,
    atMost('requests to listed domains in the log', log.listed, 0),
    atLeast('pages in the log', log.pages, web.pages),
    atLeast('pages of sumi crawl in the log', crawled.pages, web.pages),
    atMost('pages fetched twice', log.twice, 0),
    atMost('violations by sumi audit', audit.violations, 0),
    // Only shown: both processes share two cores, and the server writes a request down when it gets round to it.
    shown('gaps under 0.095 s in the log', log.shortGaps),
  ];
}

export const scenario: Scenario = {
  name: 'terrain',
  about: 'a map of 300 domains, 20,000 pages and 400,000 links at 0.1 s a domain',
  async run({ quick }) {
    const web = quick ? QUICK : FULL;
    const site = await startSite(web, true);
    try {
      return await inTemporaryFolder((folder) => measure(folder, site, web));
    } finally {
      await site.stop();
    }
  },
};
