// The numbers of docs/scale.md: `npx tsx bench/simulate-scale.ts [--pages N] [--hosts N] [--links N] [--group N]
// [--buffers SIZE] [--store URL] [--only rows|model] [--worker-pages N]`. First what a page costs PostgreSQL (measured,
// on a server of its own with fsync on), then the sums for 10⁷, 10⁸ and 10⁹ pages and a simulation of how long such
// crawls take (computed).
import { cpus } from 'node:os';
import { parseArgs } from 'node:util';
import postgres from 'postgres';
import { startPostgres } from '../test/servers/start-postgres.ts';
import { type CrawlShape, simulateCrawl, zipfPages } from './scale-model.ts';
import {
  createSchema,
  fillTables,
  type GrowthStep,
  type TableSize,
  tableSizes,
  timeCommits,
} from './scale-rows.ts';

const { values: flags } = parseArgs({
  options: {
    pages: { type: 'string', default: '300000' },
    hosts: { type: 'string', default: '3000' },
    links: { type: 'string', default: '80' },
    group: { type: 'string', default: '256' },
    buffers: { type: 'string', default: '1GB' },
    store: { type: 'string' },
    only: { type: 'string' },
    'worker-pages': { type: 'string', default: '500' },
  },
});

/** As an operator would set a small server; what tests turn off for speed is on. */
const SERVER = {
  fsync: 'on',
  full_page_writes: 'on',
  shared_buffers: flags.buffers,
  max_wal_size: '8GB',
  wal_compression: 'on',
};
const SIZES = [1e7, 1e8, 1e9];
/** Known URLs for each page fetched: what scope, limits and robots.txt keep out has a row too. */
const KNOWN_PER_PAGE = 1.3;
const DAY = 86_400;

const whole = (value: number) => Math.round(value).toLocaleString('en');
const short = (value: number) => (value >= 100 ? whole(value) : value.toPrecision(3));

function bytes(value: number): string {
  const units = ['B', 'kB', 'MB', 'GB', 'TB', 'PB'];
  const power = Math.min(units.length - 1, Math.floor(Math.log10(Math.max(1, value)) / 3));
  return `${short(value / 1000 ** power)} ${units[power]}`;
}

function duration(seconds: number): string {
  if (seconds >= 2 * DAY) return `${short(seconds / DAY)} days`;
  return seconds >= 7200 ? `${short(seconds / 3600)} h` : `${short(seconds / 60)} min`;
}

function print(title: string, head: readonly string[], rows: readonly (readonly string[])[]): void {
  console.log(`\n${title}\n`);
  console.log(`| ${head.join(' | ')} |\n| ${head.map(() => '---').join(' | ')} |`);
  for (const row of rows) console.log(`| ${row.join(' | ')} |`);
}

interface Cost {
  /** Bytes a row by table, indexes and TOAST included. */
  rowBytes: Map<string, number>;
  walBytesPerPage: number;
}

function printSizes(sizes: readonly TableSize[]): void {
  const each = (total: number, rows: number) => short(total / Math.max(1, rows));
  print(
    'Bytes a row (measured)',
    ['table', 'rows', 'heap', 'TOAST and maps', 'indexes', 'together'],
    sizes.map(({ table, rows, heapBytes, toastBytes, indexBytes }) => [
      `\`${table}\``,
      whole(rows),
      each(heapBytes, rows),
      each(toastBytes, rows),
      each(indexBytes, rows),
      each(heapBytes + toastBytes + indexBytes, rows),
    ]),
  );
}

function printGrowth(steps: readonly GrowthStep[]): void {
  print(
    'One connection, groups of settlements, claims between them (measured)',
    [
      'pages in',
      'pages/s',
      'group, median',
      'worst',
      'claim, median',
      'p99',
      'WAL a page',
      '8 kB blocks read a page',
    ],
    steps.map((step) => [
      whole(step.pages),
      whole(step.pagesPerSecond),
      `${short(step.groupMedianMs)} ms`,
      `${short(step.groupWorstMs)} ms`,
      `${short(step.claimMedianMs)} ms`,
      `${short(step.claimP99Ms)} ms`,
      bytes(step.walBytesPerPage),
      short(step.blocksReadPerPage),
    ]),
  );
}

async function measure(url: string): Promise<Cost> {
  const sql = postgres(url, { max: 1, onnotice: () => {} });
  try {
    await createSchema(sql);
    const [{ version }] = await sql`SELECT current_setting('server_version') AS version`;
    console.log(
      `PostgreSQL ${version}, Node ${process.version}, ${cpus().length} cores, one connection, fsync on, shared_buffers ${flags.buffers}`,
    );
    const commits = await timeCommits(sql, 5);
    const pages = Number(flags.pages);
    const steps: GrowthStep[] = [];
    await fillTables(
      sql,
      {
        pages,
        hosts: Number(flags.hosts),
        links: Number(flags.links),
        withText: true,
        group: Number(flags.group),
        waiting: Math.ceil(pages / 3),
      },
      (step) => {
        steps.push(step);
        process.stderr.write(`${whole(step.pages)} pages, ${whole(step.pagesPerSecond)} a second\n`);
      },
    );
    await sql`VACUUM (ANALYZE)`;
    const sizes = await tableSizes(sql);
    printSizes(sizes);
    printGrowth(steps);
    console.log(`\nSingle-row commits: ${whole(commits)} a second on one connection.`);
    const last = steps.at(-1)!;
    return {
      rowBytes: new Map(
        sizes.map((size) => [
          size.table,
          (size.heapBytes + size.toastBytes + size.indexBytes) / Math.max(1, size.rows),
        ]),
      ),
      walBytesPerPage: last.walBytesPerPage,
    };
  } finally {
    await sql.end();
  }
}

function printSums({ rowBytes, walBytesPerPage }: Cost): void {
  const of = (table: string) => rowBytes.get(table)!;
  const lines: [string, (pages: number) => string][] = [
    ['`url` rows', (pages) => (pages * KNOWN_PER_PAGE).toExponential(1)],
    ['`url`', (pages) => bytes(pages * KNOWN_PER_PAGE * of('url'))],
    ['`fetched`', (pages) => bytes(pages * of('fetched'))],
    ['`link_set`', (pages) => bytes(pages * of('link_set'))],
    ['`request`', (pages) => bytes(pages * of('request'))],
    ['without text', (pages) => bytes(withoutText(pages))],
    ['`page_text`', (pages) => bytes(pages * of('page_text'))],
    ['all', (pages) => bytes(withoutText(pages) + pages * of('page_text'))],
    ['write-ahead log', (pages) => bytes(pages * walBytesPerPage)],
    ['pages a second for 30 days', (pages) => short(pages / (30 * DAY))],
    ['statements a second then, at 0.2 a page', (pages) => short((pages / (30 * DAY)) * 0.2)],
  ];
  const withoutText = (pages: number) =>
    pages * (KNOWN_PER_PAGE * of('url') + of('fetched') + of('link_set') + of('request'));
  print(
    `Sums, ${KNOWN_PER_PAGE} known URLs a page (computed from the above)`,
    ['', ...SIZES.map((pages) => `${pages.toExponential(0)} pages`)],
    lines.map(([name, at]) => [name, ...SIZES.map(at)]),
  );
}

const MODEL_HEAD = [
  ...['pages', 'hosts', 'most a host', 'workers', 'leases each', 'order'],
  ...['work bound', 'biggest host', 'crawl', 'last 1 %', 'hosts then'],
];

function modelRow(shape: CrawlShape, ranked: Float64Array): string[] {
  const answer = simulateCrawl(shape, ranked);
  return [
    shape.pages.toExponential(0),
    shape.hosts.toExponential(0),
    shape.mostPagesPerHost === shape.pages ? 'no limit' : whole(shape.mostPagesPerHost),
    String(shape.workers),
    whole(shape.leases),
    shape.order,
    duration(answer.workBoundSeconds),
    duration(answer.hostBoundSeconds),
    duration(answer.seconds),
    duration(answer.tailSeconds),
    whole(answer.tailHosts),
  ];
}

function printModel(pagesPerSecond: number): void {
  // A worker leases hosts while it has a request free, so that it holds about as many as it can ask in one delay.
  const usual = {
    exponent: 0.9,
    delaySeconds: 1,
    pagesPerSecond,
    leases: pagesPerSecond,
    order: 'as-found',
  } as const;
  const rows: string[][] = [];
  for (const pages of SIZES) {
    for (const mostPagesPerHost of [pages, pages / 1000, pages / 10_000]) {
      const site = { ...usual, pages, hosts: pages / 100, mostPagesPerHost };
      const ranked = zipfPages(site);
      for (const workers of [1, 4, 16]) rows.push(modelRow({ ...site, workers }, ranked));
    }
  }
  const speed = `${whole(pagesPerSecond)} pages/s a worker`;
  print(`Length of a crawl, delay 1 s, ${speed}, Zipf with exponent 0.9 (computed)`, MODEL_HEAD, rows);

  const capped = { ...usual, pages: 1e8, hosts: 1e6, mostPagesPerHost: 1e5, workers: 4 };
  const ranked = zipfPages(capped);
  print(
    'The same, by number of leases and by order of hosts (computed)',
    MODEL_HEAD,
    [100, 250, 500, 1000, 20_000].flatMap((leases) =>
      (['as-found', 'longest-first'] as const).map((order) => modelRow({ ...capped, leases, order }, ranked)),
    ),
  );
}

if (flags.only !== 'model') {
  const server = flags.store === undefined ? await startPostgres({ settings: SERVER }) : undefined;
  try {
    printSums(await measure(flags.store ?? (await server!.newDatabase())));
  } finally {
    await server?.remove();
  }
}
if (flags.only !== 'rows') printModel(Number(flags['worker-pages']));
