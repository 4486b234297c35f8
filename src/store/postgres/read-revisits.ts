/** What a plan of revisits begins with: every page that has a past or is to be visited for the first time, and the plan as it was. */
import { PAGE_STATES, pageStateName } from '../../frontier/page-state.ts';
import type { RevisitPage } from '../read-rows.ts';
import { NO_DEPTH } from '../settlement.ts';
import type { Sql } from './connection.ts';
import { ask } from './session.ts';

const BATCH = 5000;
const SETS_A_BATCH = 500;
const ofPage = (table: string) => `${table}.page_id = u.id AND ${table}.host_id = u.host_id
  AND ${table}.page_id BETWEEN $1 AND (SELECT max(id) FROM u)`;
/** Without a visit: to be made yet, or given up with their host in a run. */
const { Queued, Fetching, Unreachable, RateLimited } = PAGE_STATES;
const UNVISITED: ReadonlySet<number> = new Set([Queued, Fetching, Unreachable, RateLimited]);

type RawPage = Omit<RevisitPage, 'state'> & { state: number };

export function createRevisitReader(sql: Sql) {
  async function* revisitPages(projectId: number, pageId?: number): AsyncGenerator<readonly RevisitPage[]> {
    // The batch is cut from url alone, and the others to its range of ids: else every batch might read all of them.
    const text = `WITH u AS MATERIALIZED (SELECT id, host_id, url, depth, state FROM url
        WHERE id ${pageId === undefined ? '>' : '='} $1 AND project_id = $2 ORDER BY id LIMIT $3)
      SELECT u.id AS "pageId", u.host_id AS "hostId", u.url, NULLIF(u.depth, ${NO_DEPTH}) AS depth, u.state,
        f.content_hash IS NOT NULL OR f.facet_hash IS NOT NULL AS "wasRead", f.visited_at AS "visitedAt", COALESCE(f.change_frequency, 0) AS "changeFrequency", e.lastmod AS "sitemapDate",
        r.learned_at AS "learnedAt", COALESCE(r.rate_shape, 0) AS "rateShape", COALESCE(r.rate_days, 0) AS "rateDays",
        COALESCE(r.signals, 0) AS signals, COALESCE(r.signals_in_all, 0) AS "signalsInAll", COALESCE(r.flags, 0) AS flags
      FROM u LEFT JOIN fetched f ON ${ofPage('f')} LEFT JOIN sitemap_entry e ON ${ofPage('e')} AND e.lost_run IS NULL
        LEFT JOIN revisit r ON ${ofPage('r')} ORDER BY u.id`;
    for (let after = 0; ; ) {
      const rows = await ask<RawPage>(sql, text, [pageId ?? after, projectId, BATCH]);
      const wanted = rows.filter(({ visitedAt, state }) => visitedAt !== null || UNVISITED.has(state));
      if (wanted.length > 0) yield wanted.map((row) => ({ ...row, state: pageStateName(row.state) }));
      if (rows.length < BATCH || pageId !== undefined) return;
      after = rows[rows.length - 1].pageId;
    }
  }

  async function revisitPlan(projectId: number): Promise<{ plan: string | null; learnedRun: number }> {
    const [row] = await ask<{ plan: string | null; learnedRun: number }>(
      sql,
      'SELECT revisit_plan AS plan, learned_run AS "learnedRun" FROM project WHERE id = $1',
      [projectId],
    );
    return row ?? { plan: null, learnedRun: 0 };
  }

  async function* newlyLinked(projectId: number, runId: number): AsyncGenerator<readonly number[]> {
    const found = sql.unsafe<{ added: number[] }[]>(
      `SELECT c.added FROM link_change c JOIN run r ON r.id = c.run_id
       WHERE r.project_id = $1 AND r.id > $2 AND cardinality(c.added) > 0`,
      [projectId, runId],
    );
    for await (const rows of found.cursor(SETS_A_BATCH)) for (const { added } of rows) yield added;
  }

  async function* linkedFrom(pageIds: readonly number[]): AsyncGenerator<readonly number[]> {
    for (let at = 0; at < pageIds.length; at += SETS_A_BATCH) {
      const rows = await ask<{ targets: number[] }>(
        sql,
        'SELECT targets FROM link_set WHERE page_id = ANY($1::int[])',
        [pageIds.slice(at, at + SETS_A_BATCH)],
      );
      for (const { targets } of rows) yield targets;
    }
  }

  return { revisitPages, revisitPlan, newlyLinked, linkedFrom };
}
