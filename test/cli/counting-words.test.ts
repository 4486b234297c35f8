/** One map with a URL in every state: each place that counts URLs says the same numbers, on both stores. */
import { readFileSync, writeFileSync } from 'node:fs';
import Sqlite from 'better-sqlite3';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { SummaryEvent } from '../../src/events/events.ts';
import { PAGE_STATES, type PageState } from '../../src/frontier/page-state.ts';
import type { TerrainFigures } from '../../src/graph/terrain-figures.ts';
import { crawl } from '../../src/index.ts';
import type { PageData } from '../../src/pages/map/page-data.ts';
import type { ReportFacts } from '../../src/pages/report/report-facts.ts';
import type { FullReport } from '../../src/project/report-on-run.ts';
import { connect, disconnect } from '../../src/store/postgres/connection.ts';
import type { HostRow, RunRow, StoreTotals } from '../../src/store/read-side.ts';
import { sharedPostgres } from '../servers/shared-postgres.ts';
import { answer, type FakeWeb, startFakeWeb } from '../web/fake-web.ts';
import { makeFolder, sumi } from './run-sumi.ts';
import { writeTerrain } from './terrain-web.ts';

/** Written here once more, so that a change of the table in src is noticed. */
const WORDS = {
  read: ['Processed'],
  broken: ['DeadLink', 'Gone', 'Failed', 'Unreachable'],
  rate_limited: ['RateLimited'],
  skipped: [
    'Discovered',
    'Skipped',
    'Blacklisted',
    'Stubbed',
    'DepthExceeded',
    'RequestLimitHit',
    'ContentMismatch',
  ],
  waiting: ['Queued', 'Fetching'],
} satisfies Record<string, PageState[]>;
type Word = keyof typeof WORDS;
type Counts = Record<Word | 'known_urls', number>;

function countsOf(byState: Record<string, number>): Counts {
  const sum = (states: string[]) => states.reduce((total, state) => total + (byState[state] ?? 0), 0);
  return {
    known_urls: sum(Object.keys(byState)),
    ...(Object.fromEntries(Object.entries(WORDS).map(([word, states]) => [word, sum(states)])) as Record<
      Word,
      number
    >),
  };
}

const pick = (from: Counts): Counts =>
  Object.fromEntries(
    (['known_urls', ...Object.keys(WORDS)] as (keyof Counts)[]).map((word) => [word, from[word]]),
  ) as Counts;

/** As people read it. */
const inWords = (counts: Counts) =>
  `${counts.known_urls} known URLs: ${Object.keys(WORDS)
    .filter((word) => counts[word as Word] > 0)
    .map((word) => `${counts[word as Word]} ${word.replace('_', '-')}`)
    .join(', ')}`;

/** Pages of these names are put into a state that a finished map does not leave. */
const PUT: Partial<Record<PageState, string>> = {
  Discovered: '/n1',
  Queued: '/n2',
  Fetching: '/n3',
  RequestLimitHit: '/n4',
  Skipped: '/n5',
};

let web: FakeWeb;

beforeAll(async () => {
  const link = (href: string) => `<a href="${href}">x</a>`;
  web = await startFakeWeb({
    hosts: 7,
    pages: {
      '0:/': (at) =>
        answer(at, {
          body: [
            '/a',
            '/dead',
            '/gone',
            '/500',
            '/file',
            ...Object.values(PUT),
            at.url('/', 2),
            at.url('/t', 3),
            at.url('/s', 4),
            at.url('/', 5),
            at.url('/two', 5),
            at.url('/nobody', 5).replace('127.0.0.6', '127.0.0.250'),
          ]
            .map(link)
            .join(' '),
        }),
      '0:/a': '<title>A</title>',
      '0:/gone': { status: 410 },
      '0:/500': { status: 500 },
      '0:/file': { headers: { 'content-type': 'application/octet-stream' }, body: 'xx' },
      '1:/': '<title>Second</title>',
      '2:/': link('/b'),
      '2:/b': link('/c'),
      '5:/': { status: 429 },
      '5:/two': { status: 429 },
      ...Object.fromEntries(Object.values(PUT).map((path) => [`0:${path}`, '<title>N</title>'])),
    },
  });
});

afterAll(() => web.close());

describe.each(['SQLite', 'PostgreSQL'])('on %s', (kind) => {
  const folder = makeFolder();
  let address: string | null = null;
  let env: Record<string, string>;
  let summary: SummaryEvent;
  let byState: Record<string, number>;
  let counts: Counts;

  const run = async (...args: string[]) => {
    const { stdout, stderr, code } = await sumi(args, { cwd: folder.path, env });
    expect([code, stderr]).toEqual([0, expect.not.stringContaining('error:')]);
    return stdout;
  };
  const json = async <T>(...args: string[]) => JSON.parse(await run(...args, '--format', 'json')) as T;

  async function ask(sql: string): Promise<Record<string, unknown>[]> {
    if (address === null) {
      const db = new Sqlite(folder.file('map.db'));
      try {
        const statement = db.prepare(sql);
        if (statement.reader) return statement.all() as Record<string, unknown>[];
        statement.run();
        return [];
      } finally {
        db.close();
      }
    }
    const client = connect(address, { max: 1, applicationName: 'test' });
    try {
      return [...(await client.unsafe(sql))] as Record<string, unknown>[];
    } finally {
      await disconnect(client);
    }
  }

  const statesNow = async () =>
    Object.fromEntries(
      (await ask('SELECT state, count(*) AS n FROM pages GROUP BY state')).map(({ state, n }) => [
        String(state),
        Number(n),
      ]),
    );

  beforeAll(async () => {
    if (kind === 'PostgreSQL') address = await (await sharedPostgres()).newDatabase();
    env = address === null ? { SUMI_DB: 'map.db' } : { SUMI_STORE: address };
    writeTerrain(
      folder.file('terrain.toml'),
      web,
      'max-depth = 2\nretries = 0\nretry-delay = 0.01\nadaptive-delay = false',
    );
    // The file names its database; a store of the environment comes before it.
    if (address !== null)
      writeFileSync(
        folder.file('terrain.toml'),
        readFileSync(folder.file('terrain.toml'), 'utf8').replace(/^database-path.*$/m, ''),
      );
    const lines = (await run('map', 'terrain.toml', '--json')).trim().split('\n');
    summary = JSON.parse(lines.at(-1)!) as SummaryEvent;
  });

  afterAll(async () => {
    if (address !== null) await (await sharedPostgres()).dropDatabase(address);
    folder.remove();
  });

  it('the summary of a run counts as its stored states do', async () => {
    const stored = await statesNow();
    expect(summary.by_state).toEqual(stored);
    expect(pick(summary)).toEqual(countsOf(stored));
    expect(summary.broken).toBeGreaterThan(3);
    expect(summary).not.toHaveProperty('errors');
  });

  describe('with a URL in every state', () => {
    beforeAll(async () => {
      for (const [state, path] of Object.entries(PUT))
        await ask(
          `UPDATE url SET state = ${PAGE_STATES[state as PageState]}, reason = 'put' WHERE url LIKE '%${path}'`,
        );
      byState = await statesNow();
      counts = countsOf(byState);
    });

    it('every state is there, and the words add up', () => {
      expect(Object.keys(byState).sort()).toEqual(Object.keys(PAGE_STATES).sort());
      const { known_urls, ...words } = counts;
      expect(Object.values(words).reduce((sum, n) => sum + n, 0)).toBe(known_urls);
    });

    it('stats, hosts, runs and report agree', async () => {
      const stats = await json<StoreTotals>('stats');
      expect(pick(stats)).toEqual(counts);
      expect(await run('stats')).toContain(`${inWords(counts)}.`);

      const hosts = await json<HostRow[]>('hosts');
      const sum = (word: keyof Counts) => hosts.reduce((total, row) => total + row[word], 0);
      expect(Object.fromEntries(Object.keys(counts).map((word) => [word, sum(word as Word)]))).toEqual(
        counts,
      );

      const report = await json<FullReport>('report');
      expect(pick(report.statistics)).toEqual(counts);
      expect(report.statistics.errors).toBe(counts.broken + counts.rate_limited);
      const reasons = Object.values(report.statistics.errors_by_reason);
      expect(reasons.reduce((total, n) => total + n, 0)).toBe(report.statistics.errors);
      expect(await run('report')).toContain(inWords(counts));

      const [listed] = await json<RunRow[]>('runs');
      expect([report.pages, summary.pages]).toEqual([listed.pages, listed.pages]);
    });

    it('the pages to look at agree: report and map', async () => {
      const dataOf = <T>(html: string) =>
        JSON.parse(/<script id="data"[^>]*>(.*?)<\/script>/s.exec(html)![1]) as T;
      const { state } = dataOf<ReportFacts>(await run('report', '--html', '-'));
      expect(pick(state)).toEqual(counts);
      expect(state.errors).toBe(counts.broken + counts.rate_limited);

      const map = dataOf<PageData>(await run('export', '--format', 'html'));
      const sum = (column: number[]) => column.reduce((total, n) => total + n, 0);
      expect([sum(map.pages), sum(map.processed), sum(map.errors)]).toEqual([
        counts.known_urls,
        counts.read,
        counts.broken + counts.rate_limited,
      ]);
    });

    it('the figures and the summary of the map agree', async () => {
      const figures = JSON.parse(await run('map', 'terrain.toml', '--stats', '--json')) as TerrainFigures;
      expect(pick(figures)).toEqual(counts);
      expect(figures.pages_crawled).toBe(counts.read);
      expect(figures.errors).toBe(counts.broken + counts.rate_limited);
      const kinds = Object.values(figures.errors_by_kind);
      expect(kinds.reduce((total, n) => total + n, 0)).toBe(figures.errors);
      expect(await run('map', 'terrain.toml', '--stats')).toContain(inWords(counts));
      await run('map', 'terrain.toml', '--export-summary');
      const text = readFileSync(folder.file('map.md'), 'utf8');
      expect(text).toContain(`**URLs:** ${inWords(counts)}`);
      expect(text).toContain(`| Errors Encountered | ${figures.errors} |`);
    });

    it('crawled_pages keeps the three words of its specification, as docs/words.md lists them', async () => {
      const rows = await ask(
        `SELECT p.state, c.status FROM pages p LEFT JOIN crawled_pages c ON c.id = p.id
         WHERE COALESCE(p.reason, '') NOT LIKE 'robots:%' GROUP BY 1, 2`,
      );
      const found = new Map(rows.map(({ state, status }) => [String(state), status ?? null]));
      const doc = readFileSync('docs/words.md', 'utf8');
      for (const [state, status] of found)
        expect(doc).toMatch(new RegExp(`^\\| ${state} \\| \\w[\\w-]* \\| ${status ?? '–'} \\|$`, 'm'));
    });
  });

  it('the library gives the numbers that the command prints', async () => {
    const db = folder.file('library.db');
    const handle = await crawl({
      startUrls: [web.url('/', 0)],
      ...(address === null ? { db } : { store: address }),
      project: 'library',
      delay: 0,
      retries: 0,
      discover: ['links'],
      env: {},
    });
    const told = await handle.finished;
    const at = address === null ? ['--db', db] : [];
    const stats = await json<StoreTotals>('stats', '--project', 'library', ...at);
    expect(pick(told)).toEqual(pick(stats));
    expect(told.by_state).toEqual(stats.by_state);
    expect(told.skipped).toBeGreaterThan(0);
  });
});
