/** What lists ask of SQLite. Every statement looks at one batch, so that no list pins the writer's log. */
import type { Database } from 'better-sqlite3';
import { pageStateName } from '../../frontier/page-state.ts';
import type { ListDatabase, ListDialect } from '../list-database.ts';
import type { LinkBetween, PageRow, ProjectRow, RunRow } from '../read-rows.ts';
import { reverseSourcesOf } from './reverse-links.ts';

export interface ListTexts {
  site: string;
  /** The question for rows of pages, runs and projects, around the ids that are wanted. */
  pages(wanted: string): string;
  runs(wanted: string): string;
  projects(wanted: string): string;
  linksFrom(
    fromIds: readonly number[],
    to: { has(id: number): boolean },
    isInward: boolean,
  ): Iterable<LinkBetween>;
}

const IDS = 'SELECT value FROM json_each(?)';

function dialectOf(site: string): ListDialect {
  return {
    sameHost: () => '',
    hostColumn: '',
    lower: (text) => `lower(${text})`,
    place: (text, part) => `instr(${text}, ${part})`,
    byBytes: (column) => column,
    site,
    pagesWith: (words) => ({
      sql: '(SELECT rowid AS page_id FROM page_words(?))',
      values: [words.map((word) => `"${word}"`).join(' ')],
    }),
    hasWords: (words) => ({
      sql: 'EXISTS (SELECT 1 FROM page_words(?) w WHERE w.rowid = u.id)',
      values: [words.map((word) => `"${word}"`).join(' ')],
    }),
    // The digits may be part of a longer id: the cheap test picks the sets, unpacking decides.
    hasTarget: (target) => ({
      sql: 'instr(l.targets, ?) > 0 AND EXISTS (SELECT 1 FROM json_each(l.targets) j WHERE j.value = ?)',
      values: [String(target), target],
    }),
    findsRequestsByPage: false,
    findsUrlsByHost: false,
    indexesAmong: (count) =>
      `SELECT name FROM sqlite_schema WHERE type = 'index' AND name IN (${Array(count).fill('?').join(', ')})`,
  };
}

export function createListDatabase(db: Database, texts: ListTexts): ListDatabase {
  return {
    dialect: dialectOf(texts.site),
    ask: async <Row>(text: string, values: readonly unknown[]) => db.prepare(text).all(...values) as Row[],
    async pages(ids) {
      const rows = db.prepare(texts.pages(IDS)).all(JSON.stringify(ids)) as (Omit<PageRow, 'state'> & {
        state: number;
      })[];
      return rows.map((row) => ({ ...row, state: pageStateName(row.state) }));
    },
    runs: async (ids) => db.prepare(texts.runs(IDS)).all(JSON.stringify(ids)) as RunRow[],
    projects: async (ids) => db.prepare(texts.projects(IDS)).all(JSON.stringify(ids)) as ProjectRow[],
    links: async (...asked) => [...texts.linksFrom(...asked)],
    sourcesOf: async (pageId) => reverseSourcesOf(db, pageId),
    async linkSets(from, isForward, count) {
      const [sign, sorted] = isForward ? ['>=', 'ASC'] : ['<=', 'DESC'];
      const rows = db
        .prepare(
          `SELECT page_id AS pageId, targets FROM link_set WHERE page_id ${sign} ? ORDER BY page_id ${sorted} LIMIT ?`,
        )
        .all(from, count) as { pageId: number; targets: string }[];
      return rows.map(({ pageId, targets }) => ({ pageId, targets: JSON.parse(targets) as number[] }));
    },
  };
}
