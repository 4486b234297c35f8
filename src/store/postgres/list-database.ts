/** What lists ask of PostgreSQL. */
import { pageStateName } from '../../frontier/page-state.ts';
import type { LinkTargetsOf, ListDatabase, ListDialect } from '../list-database.ts';
import type { LinkBetween, PageRow, ProjectRow, RunRow } from '../read-rows.ts';
import type { Sql } from './connection.ts';
import { reverseSourcesOf } from './reverse-links.ts';
import { ask } from './session.ts';

export interface ListTexts {
  site: string;
  /** The question for rows of pages, runs and projects, with the wanted ids as $1. */
  pages: string;
  runs: string;
  projects: string;
  linksFrom(
    fromIds: readonly number[],
    to: { has(id: number): boolean },
    isInward: boolean,
  ): Promise<LinkBetween[]>;
}

function dialectOf(site: string): ListDialect {
  return {
    sameHost: (one, other) => `AND ${one}.host_id = ${other}.host_id`,
    hostColumn: ', host_id',
    // In the collation C, which knows the letters of ASCII only.
    lower: (text) => `lower(${text} COLLATE "C")`,
    place: (text, part) => `strpos(${text}, ${part})`,
    byBytes: (column) => `${column} COLLATE "C"`,
    site,
    pagesWith: (words) => ({
      sql: '(SELECT page_id, host_id FROM page_words WHERE words @@ ?::text::tsquery)',
      values: [words.map((word) => `'${word}'`).join(' & ')],
    }),
    hasWords: (words) => ({
      sql: `EXISTS (SELECT 1 FROM page_words w WHERE w.page_id = u.id AND w.host_id = u.host_id
        AND w.words @@ ?::text::tsquery)`,
      values: [words.map((word) => `'${word}'`).join(' & ')],
    }),
    hasTarget: (target) => ({ sql: 'l.targets @> ARRAY[?::int]', values: [target] }),
    findsRequestsByPage: true,
    findsUrlsByHost: true,
    indexesAmong: (count) =>
      `SELECT n.name FROM unnest(ARRAY[${Array(count).fill('?').join(', ')}]::text[]) n (name) WHERE to_regclass(n.name) IS NOT NULL`,
  };
}

export function createListDatabase(sql: Sql, texts: ListTexts): ListDatabase {
  return {
    dialect: dialectOf(texts.site),
    ask<Row>(text: string, values: readonly unknown[]) {
      let count = 0;
      return ask<Row>(
        sql,
        // Those in texts are none of ours.
        text.replace(/'[^']*'|\?/g, (found) => (found === '?' ? `$${++count}` : found)),
        [...values],
      );
    },
    async pages(ids) {
      const rows = await ask<Omit<PageRow, 'state'> & { state: number }>(sql, texts.pages, [[...ids]]);
      return rows.map((row) => ({ ...row, state: pageStateName(row.state) }));
    },
    runs: (ids) => ask<RunRow>(sql, texts.runs, [[...ids]]),
    projects: (ids) => ask<ProjectRow>(sql, texts.projects, [[...ids]]),
    links: texts.linksFrom,
    sourcesOf: (pageId) => reverseSourcesOf(sql, pageId),
    linkSets(from, isForward, count) {
      const [sign, sorted] = isForward ? ['>=', 'ASC'] : ['<=', 'DESC'];
      const text = `SELECT page_id AS "pageId", targets FROM link_set WHERE page_id ${sign} $1
        ORDER BY page_id ${sorted} LIMIT $2`;
      return ask<LinkTargetsOf>(sql, text, [from, count]);
    },
  };
}
