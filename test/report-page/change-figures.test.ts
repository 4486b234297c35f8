/**
 * The figures of the report, on both stores: each counted again, once from the rows that were put in, once by plain SQL
 * over the views that everybody may ask.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { VISIT_OUTCOMES } from '../../src/change/visit-record.ts';
import {
  type ChangeFigures,
  MOST_RUNS,
  MOST_SECTIONS,
  RESPONSE_LIMITS_MS,
} from '../../src/store/change-figures.ts';
import { openReadSide } from '../../src/store/open-store.ts';
import { disconnect } from '../../src/store/postgres/connection.ts';
import { openForWriting as openPostgres } from '../../src/store/postgres/open-database.ts';
import { openForWriting as openSqlite } from '../../src/store/sqlite/open-database.ts';
import { sharedPostgres } from '../servers/shared-postgres.ts';
import {
  type HistoryPlan,
  type MadeHistory,
  type MadeVisit,
  makeHistory,
  SHOP,
  toSql,
} from './made-history.ts';

type Row = Record<string, string | number | null>;

interface Filled {
  figures(run: number | null, project?: number): Promise<ChangeFigures>;
  ask(sql: string): Promise<Row[]>;
  close(): Promise<void>;
}

async function fillSqlite(history: MadeHistory): Promise<Filled> {
  const folder = mkdtempSync(join(tmpdir(), 'sumi-figures-'));
  const db = openSqlite(join(folder, 'a.db'));
  for (const statement of toSql(history, 'sqlite')) db.exec(statement);
  db.exec('COMMIT');
  const side = await openReadSide(join(folder, 'a.db'));
  return {
    figures: (run, project = 1) => side.changeFigures(project, run),
    ask: async (sql) => db.prepare(sql).all() as Row[],
    async close() {
      await side.close();
      db.close();
      rmSync(folder, { recursive: true });
    },
  };
}

async function fillPostgres(history: MadeHistory): Promise<Filled> {
  const address = await (await sharedPostgres()).newDatabase();
  const { sql } = await openPostgres(address, { max: 1, applicationName: 'figures' });
  for (const statement of toSql(history, 'postgres')) await sql.unsafe(statement);
  const side = await openReadSide(address);
  return {
    figures: (run, project = 1) => side.changeFigures(project, run),
    ask: async (text) => [...(await sql.unsafe(text))] as unknown as Row[],
    async close() {
      await side.close();
      await disconnect(sql);
    },
  };
}

const SMALL: HistoryPlan = {
  ...SHOP,
  runs: 9,
  redesign: 5,
  sections: [
    ['news', 12, 0.5],
    ['a%2Fb?x', 4, 0.1],
    ['shop', 20, 0.2],
    ['', 6, 0.3],
    ...Array.from({ length: 24 }, (_, i): [string, number, number] => [`s${i}`, 2 + (i % 3), 0.1]),
  ],
};

const PLANS: [string, HistoryPlan][] = [
  ['one host, more sections than are shown', SMALL],
  [
    'three hosts',
    {
      ...SMALL,
      seed: 8,
      hosts: ['a.example', 'b.example', 'c.example'],
      sections: [
        ['x', 5, 0.4],
        ['', 3, 0],
      ],
    },
  ],
  [
    'five hosts',
    {
      ...SMALL,
      seed: 9,
      hosts: ['a', 'b', 'c', 'd', 'e'].map((n) => `${n}.example`),
      sections: [['x', 3, 0.4]],
    },
  ],
];

const sum = <T>(rows: readonly T[], pick: (row: T) => number) =>
  rows.reduce((all, row) => all + pick(row), 0);

function groups<T>(rows: readonly T[], key: (row: T) => string | number): Map<string, T[]> {
  const found = new Map<string, T[]>();
  for (const row of rows) {
    const mine = found.get(String(key(row)));
    if (mine === undefined) found.set(String(key(row)), [row]);
    else mine.push(row);
  }
  return found;
}

/** Sections as the page explains them, found another way: with a URL parser. */
function sectionsOf({ pages, hosts }: MadeHistory): Map<number, string | null> {
  const visited = pages.filter(({ visitedAt }) => visitedAt !== null);
  const partsOf = (url: string) => {
    const { host, pathname } = new URL(url);
    const words = pathname.slice(1).split('/');
    const at = hosts.length === 1 ? '' : host;
    return {
      key: hosts.length > 3 ? host : `${at}/${words[0]}`,
      top: words.length === 1 && hosts.length <= 3 ? `${at}/` : null,
    };
  };
  const sizes = [...groups(visited, ({ url }) => partsOf(url).key)]
    .filter(([, mine]) => mine.length > 1)
    .sort(([a, x], [b, y]) => y.length - x.length || (a < b ? -1 : 1))
    .slice(0, MOST_SECTIONS)
    .map(([name]) => name);
  return new Map(
    visited.map(({ id, url }) => {
      const { key, top } = partsOf(url);
      return [id, sizes.includes(key) ? key : top];
    }),
  );
}

/** What each visit tells of the copy, in the order of time. */
const tellsSomething = ({ outcome, knownBy }: MadeVisit) =>
  outcome !== 'failed' && !(outcome === 'unchanged' && knownBy === 'status');

function recountSpans(visits: readonly MadeVisit[], bucketOf: (at: number) => number) {
  const spans: string[] = [];
  const lasts: string[] = [];
  const times = { elapsed: 0, last: 0, record: 0 };
  for (const [, mine] of groups(visits.filter(tellsSomething), ({ page }) => page)) {
    const told = mine.sort((a, b) => a.at - b.at);
    for (const [i, visit] of told.entries()) {
      if (visit.outcome === 'gone') continue;
      const next = told[i + 1];
      const changes = told.filter(({ outcome }) => outcome === 'changed' || outcome === 'gone').length;
      if (next === undefined) {
        lasts.push(`${bucketOf(told[0].at)} ${bucketOf(visit.at)} ${changes}`);
        times.last += visit.at;
        times.record += visit.at - told[0].at;
      } else {
        spans.push(`${bucketOf(visit.at)} ${bucketOf(next.at)} ${next.outcome !== 'unchanged'}`);
        times.elapsed += next.at - visit.at;
      }
    }
  }
  return { spans, lasts, times };
}

const sizes = (list: readonly string[]) =>
  Object.fromEntries([...groups(list, (text) => text)].map(([text, mine]) => [text, mine.length]));

for (const [store, fill] of [
  ['SQLite', fillSqlite],
  ['PostgreSQL', fillPostgres],
] as const) {
  for (const [what, plan] of PLANS) {
    describe(`the figures of ${what} on ${store}`, () => {
      const history = makeHistory(plan);
      let filled: Filled;
      let figures: ChangeFigures;
      beforeAll(async () => {
        filled = await fill(history);
        figures = await filled.figures(null);
      });
      afterAll(async () => {
        await filled?.close();
      });
      const bucketOf = (at: number) => Math.floor((at - figures.buckets!.start) / figures.buckets!.stepMs);

      it('count pages, hosts, runs and visits', () => {
        const visited = history.pages.filter(({ visitedAt }) => visitedAt !== null);
        expect(figures).toMatchObject({
          known: history.pages.length,
          visited: visited.length,
          hosts: plan.hosts.length,
          runs: plan.runs,
          visits: history.visits.length,
          firstVisitAt: history.visits.reduce(
            (first, { at }) => Math.min(first, at),
            Number.POSITIVE_INFINITY,
          ),
        });
      });

      it('put every visit into the section of its page and its column of time', () => {
        const sections = sectionsOf(history);
        const pages = groups([...sections.values()], (name) => String(name));
        expect(figures.sections).toHaveLength(pages.size);
        for (const { name, pages: count } of figures.sections)
          expect(count, String(name)).toBe(pages.get(String(name))!.length);
        const cells = groups(history.visits, ({ page, at }) => `${sections.get(page)} ${bucketOf(at)}`);
        expect(figures.cells).toHaveLength(cells.size);
        for (const cell of figures.cells) {
          const mine = cells.get(`${cell.section} ${cell.bucket}`)!;
          expect(cell).toMatchObject({
            visits: mine.length,
            wireBytes: sum(mine, ({ wireBytes }) => wireBytes),
            bytesSaved: sum(mine, ({ bytesSaved }) => bytesSaved),
          });
          for (const outcome of ['new', 'changed', 'gone', 'failed'] as const)
            expect(cell[outcome]).toBe(mine.filter((visit) => visit.outcome === outcome).length);
        }
        // The biggest first, then the top of the site, then the rest.
        const places = figures.sections.map(({ name }) => (name === null ? 2 : name.endsWith('/') ? 1 : 0));
        expect(places).toEqual([...places].sort((a, b) => a - b));
      });

      it('tell from visit to visit what became of each copy', () => {
        const { spans, lasts, times } = recountSpans(history.visits, bucketOf);
        expect(
          Object.fromEntries(
            figures.spans.map(({ from, to, isChanged, pages }) => [`${from} ${to} ${isChanged}`, pages]),
          ),
        ).toEqual(sizes(spans));
        expect(
          Object.fromEntries(
            figures.lasts.map(({ first, last, changes, pages }) => [`${first} ${last} ${changes}`, pages]),
          ),
        ).toEqual(sizes(lasts));
        const elapsed = sum(figures.spans, ({ pages, fromAt, toAt }) => pages * (toAt - fromAt));
        expect(Math.round(elapsed)).toBe(times.elapsed);
        for (const { from, to, fromAt, toAt } of figures.spans)
          expect([bucketOf(fromAt), bucketOf(toAt)]).toEqual([from, to]);
        expect(Math.round(sum(figures.lasts, ({ pages, recordMs }) => pages * recordMs))).toBe(times.record);
        const start = figures.buckets!.start * lasts.length;
        const after = sum(figures.lasts, ({ pages, lastAt }) => pages * (lastAt - figures.buckets!.start));
        expect(Math.round(after)).toBe(times.last - start);
        expect(spans.length).toBeGreaterThan(10);
      });

      it('are what plain SQL over the views gives', async () => {
        const ledger = await filled.ask(
          `SELECT outcome, known_by, count(*) AS visits, sum(wire_bytes) AS bytes, sum(bytes_saved) AS saved
           FROM visits GROUP BY outcome, known_by`,
        );
        expect(
          figures.ledger
            .map((row) => [row.outcome, row.knownBy, row.visits, row.wireBytes, row.bytesSaved].join(' '))
            .sort(),
        ).toEqual(
          ledger.map((row) => [row.outcome, row.known_by, row.visits, row.bytes, row.saved].join(' ')).sort(),
        );
        const statuses = await filled.ask(
          `SELECT status_code, status_code IS NULL AND known_by IN ('freshness', 'lastmod', 'orphan') AS spared,
             count(*) AS visits FROM visits GROUP BY 1, 2`,
        );
        expect(
          figures.statuses.map(({ status, isAsked, visits }) => [status, !isAsked, visits].join(' ')).sort(),
        ).toEqual(statuses.map((row) => [row.status_code, Boolean(row.spared), row.visits].join(' ')).sort());
        const depths = await filled.ask(
          `SELECT p.depth, count(*) AS pages FROM pages p WHERE p.id IN (SELECT page_id FROM visits) GROUP BY p.depth`,
        );
        expect(figures.depths.map(({ depth, pages }) => `${depth} ${pages}`).sort()).toEqual(
          depths.map(({ depth, pages }) => `${depth} ${pages}`).sort(),
        );
        const runs = await filled.ask('SELECT * FROM runs ORDER BY id DESC');
        expect(figures.runList).toHaveLength(Math.min(MOST_RUNS, plan.runs));
        for (const [i, run] of figures.runList.entries()) {
          const row = runs[i];
          expect([run.run, run.status, run.mode, run.requests, run.bytes, run.bytesSaved]).toEqual(
            [row.id, row.status, row.mode, row.requests, row.bytes, row.bytes_saved].map((value) =>
              typeof value === 'string' && /^\d+$/.test(value) ? Number(value) : value,
            ),
          );
          for (const outcome of VISIT_OUTCOMES) expect(run.outcomes[outcome]).toBe(Number(row[outcome]));
        }
      });

      it('sort answers by time, and list the slowest and the most changing pages', () => {
        const timed = history.visits.filter(({ durationMs }) => durationMs !== null);
        const bandOf = (ms: number) => {
          const band = RESPONSE_LIMITS_MS.findIndex((limit) => ms < limit);
          return band === -1 ? RESPONSE_LIMITS_MS.length : band;
        };
        expect(Object.fromEntries(figures.responses.map(({ band, visits }) => [band, visits]))).toEqual(
          sizes(timed.map(({ durationMs }) => String(bandOf(durationMs!)))),
        );
        const urlOf = (page: string) => history.pages[Number(page) - 1].url;
        const slow = [...groups(timed, ({ page }) => page)]
          .map(([page, mine]) => ({
            page,
            average: sum(mine, ({ durationMs }) => durationMs!) / mine.length,
            mine,
          }))
          .sort((a, b) => b.average - a.average)
          .slice(0, 12);
        expect(figures.slowest.map(({ url }) => url)).toEqual(slow.map(({ page }) => urlOf(page)));
        for (const [i, { averageMs, longestMs, visits }] of figures.slowest.entries()) {
          expect(averageMs).toBeCloseTo(slow[i].average, 6);
          expect(longestMs).toBe(Math.max(...slow[i].mine.map(({ durationMs }) => durationMs!)));
          expect(visits).toBe(slow[i].mine.length);
        }
        const changing = [...groups(history.visits, ({ page }) => page)]
          .map(([page, mine]) => ({
            page,
            mine,
            changes: mine.filter(({ outcome }) => outcome === 'changed'),
          }))
          .filter(({ changes }) => changes.length > 0)
          .sort(
            (a, b) =>
              b.changes.length - a.changes.length ||
              a.mine.length - b.mine.length ||
              Number(a.page) - Number(b.page),
          )
          .slice(0, 12);
        expect(figures.changing).toEqual(
          changing.map(({ page, mine, changes }) => ({
            url: urlOf(page),
            title: history.pages[Number(page) - 1].title,
            visits: mine.length,
            changes: changes.length,
            lastChangeAt: Math.max(...changes.map(({ at }) => at)),
            changeFrequency: history.pages[Number(page) - 1].changeFrequency,
          })),
        );
        expect(figures.changing.length).toBeGreaterThan(3);
      });

      it('of one run are its own, with the history up to it', async () => {
        const run = await filled.figures(4);
        const mine = history.visits.filter((visit) => visit.run === 4);
        const before = history.visits.filter((visit) => visit.run <= 4);
        expect(sum(run.ledger, ({ visits }) => visits)).toBe(mine.length);
        expect(sum(run.statuses, ({ visits }) => visits)).toBe(mine.length);
        expect(sum(run.cells, ({ visits }) => visits)).toBe(before.length);
        expect([run.runs, run.visits, run.runList.length]).toEqual([4, before.length, 4]);
        expect(sum(run.depths, ({ pages }) => pages)).toBe(new Set(mine.map(({ page }) => page)).size);
        expect(sum(run.changing, ({ changes }) => changes)).toBeLessThan(
          sum(figures.changing, ({ changes }) => changes),
        );
      });

      it('are empty for a project without visits', async () => {
        expect(await filled.figures(null, 2)).toMatchObject({
          ...{ buckets: null, firstVisitAt: null, known: 0, visited: 0, hosts: 0, runs: 0, visits: 0 },
          ...{
            sections: [],
            cells: [],
            spans: [],
            lasts: [],
            ledger: [],
            statuses: [],
            responses: [],
            depths: [],
          },
          ...{ slowest: [], changing: [], runList: [] },
        });
      });
    });
  }
}
