/** What a plan of revisits starts from, on SQLite: the project's pages in batches, and what was saved of the plan. */
import type { Database } from 'better-sqlite3';
import { PAGE_STATES, pageStateName } from '../../frontier/page-state.ts';
import type { RevisitPage } from '../read-rows.ts';
import { NO_DEPTH } from '../settlement.ts';
import { unpackNumbers } from './pack-links.ts';

const BATCH = 1000;
/** Without a visit: to be made yet, or given up with their host in a run. */
const { Queued, Fetching, Unreachable, RateLimited } = PAGE_STATES;

type StoredPage = Omit<RevisitPage, 'state' | 'wasRead'> & { state: number; wasRead: number };

const namedPage = (row: StoredPage): RevisitPage => ({
  ...row,
  state: pageStateName(row.state),
  wasRead: row.wasRead === 1,
});

export function createRevisitReader(db: Database) {
  async function* pagesOf(projectId: number, pageId?: number): AsyncGenerator<readonly RevisitPage[]> {
    const read = db.prepare(
      `SELECT u.id AS pageId, u.host_id AS hostId, u.url, NULLIF(u.depth, ${NO_DEPTH}) AS depth, u.state,
         f.content_hash IS NOT NULL OR f.facet_hash IS NOT NULL AS wasRead, f.visited_at AS visitedAt, COALESCE(f.change_frequency, 0) AS changeFrequency, e.lastmod AS sitemapDate,
         r.learned_at AS learnedAt, COALESCE(r.rate_shape, 0) AS rateShape, COALESCE(r.rate_days, 0) AS rateDays,
         COALESCE(r.signals, 0) AS signals, COALESCE(r.signals_in_all, 0) AS signalsInAll, COALESCE(r.flags, 0) AS flags
       FROM url u LEFT JOIN fetched f ON f.page_id = u.id LEFT JOIN revisit r ON r.page_id = u.id
         LEFT JOIN sitemap_entry e ON e.page_id = u.id AND e.lost_run IS NULL
       WHERE u.id ${pageId === undefined ? '>' : '='} @id AND u.project_id = @project
         AND (f.page_id IS NOT NULL OR u.state IN (${[Queued, Fetching, Unreachable, RateLimited]})) ORDER BY u.id LIMIT ${BATCH}`,
    );
    for (let after = 0; ; ) {
      const rows = read.all({ id: pageId ?? after, project: projectId }) as StoredPage[];
      if (rows.length > 0) yield rows.map(namedPage);
      if (rows.length < BATCH || pageId !== undefined) return;
      after = rows[rows.length - 1].pageId;
    }
  }

  function planOf(projectId: number): { plan: string | null; learnedRun: number } {
    const saved = db
      .prepare('SELECT revisit_plan AS plan, learned_run AS learnedRun FROM project WHERE id = ?')
      .get(projectId) as { plan: string | null; learnedRun: number } | undefined;
    return saved ?? { plan: null, learnedRun: 0 };
  }

  async function* newlyLinked(projectId: number, runId: number): AsyncGenerator<readonly number[]> {
    const read = db
      .prepare(
        `SELECT c.added FROM run r CROSS JOIN link_change c ON c.run_id = r.id
         WHERE r.project_id = ? AND r.id > ? AND c.added <> '[]'`,
      )
      .pluck();
    for (const added of read.iterate(projectId, runId) as Iterable<string>) yield unpackNumbers(added);
  }

  async function* linkedFrom(pageIds: readonly number[]): AsyncGenerator<readonly number[]> {
    const read = db.prepare('SELECT targets FROM link_set WHERE page_id = ?').pluck();
    for (const id of pageIds) {
      const targets = read.get(id) as string | undefined;
      if (targets !== undefined) yield unpackNumbers(targets);
    }
  }

  return {
    revisitPages: pagesOf,
    revisitPlan: async (projectId: number) => planOf(projectId),
    newlyLinked,
    linkedFrom,
  };
}
