/** What lists ask of PostgreSQL. */
import { pageStateName } from '../../frontier/page-state.ts';
import type { LinkTargetsOf, ListDatabase, ListDialect } from '../list-database.ts';
import type { LinkBetween, PageRow, RunRow } from '../read-rows.ts';
import type { Sql } from './connection.ts';
import { reverseSourcesOf } from './reverse-links.ts';
import { ask } from './session.ts';

export interface ListTexts {
  site: string;
  /** The question for rows of pages and runs, with the wanted ids as $1. */
  pages: string;
  runs: string;
  linksFrom(
    fromIds: readonly number[],
    to: { has(id: number): boolean },
    isInward: boolean,
  ): Promise<LinkBetween[]>;
}

function dialectOf(site: string): ListDialect {
  return {
    sameHost: (one, other) => `AND ${one}.host_id = ${other}.host_id`,
    // In the collation C, which knows the letters of ASCII only.
    lower: (text) => `lower(${text} COLLATE "C")`,
    place: (text, part) => `strpos(${text}, ${part})`,
    site,
    pagesWith: (words) => ({
      sql: '(SELECT page_id FROM page_words WHERE words @@ ?::text::tsquery)',
      values: [words.map((word) => `'${word}'`).join(' & ')],
    }),
    hasTarget: (target) => ({ sql: 'l.targets @> ARRAY[?::int]', values: [target] }),
    findsRequestsByPage: true,
    findsUrlsByHost: true,
    hasIndex: 'SELECT 1 WHERE to_regclass(?) IS NOT NULL',
  };
}

export function createListDatabase(sql: Sql, texts: ListTexts): ListDatabase {
  return {
    dialect: dialectOf(texts.site),
    ask<Row>(text: string, values: readonly unknown[]) {
      let count = 0;
      return ask<Row>(
        sql,
        text.replace(/\?/g, () => `$${++count}`),
        [...values],
      );
    },
    async pages(ids) {
      const rows = await ask<Omit<PageRow, 'state'> & { state: number }>(sql, texts.pages, [[...ids]]);
      return rows.map((row) => ({ ...row, state: pageStateName(row.state) }));
    },
    runs: (ids) => ask<RunRow>(sql, texts.runs, [[...ids]]),
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
