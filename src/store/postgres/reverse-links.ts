/**
 * Who links to a page, packed per target as an array of page ids in order. A page that lost a link may still stand there:
 * whoever reads looks at the page's own links. No page is missing.
 *
 * A whole build goes by ranges of targets, one statement each: the server sorts a range, on its disk where its memory for
 * sorting does not hold it. Later runs add what their pages link to now.
 */
import type { IndexBuilt } from '../index-state.ts';
import { lastRunOf, packMark } from '../index-state.ts';
import type { Sql } from './connection.ts';
import { dropIndexMark, hasCurrentIndex, readIndexMark, runsMark, saveIndexMark } from './index-marks.ts';
import { makeOnDemand } from './make-on-demand.ts';
import { partitionsOnDemand } from './schema.ts';
import { type Attempting, ask } from './session.ts';

const KIND = 'reverse-links';
const TARGETS_AT_ONCE = 250_000;

const CLEAR = `DELETE FROM reverse_link_set r USING url u
WHERE u.id = r.page_id AND u.host_id = r.host_id AND u.project_id = $1 AND r.page_id > $2 AND r.page_id <= $3`;
/** Of pages whose links a run after $4 wrote. */
const WRITE = `
INSERT INTO reverse_link_set (page_id, host_id, sources)
SELECT t.id, t.host_id, s.sources FROM (
  SELECT j.target, array_agg(l.page_id ORDER BY l.page_id) AS sources
  FROM link_set l JOIN url u ON u.id = l.page_id AND u.host_id = l.host_id, unnest(l.targets) j(target)
  WHERE u.project_id = $1 AND j.target > $2 AND j.target <= $3 AND ($4 = 0 OR l.run_id > $4 OR EXISTS
    (SELECT 1 FROM link_change c WHERE c.page_id = l.page_id AND c.host_id = l.host_id AND c.run_id > $4))
  GROUP BY j.target) s JOIN url t ON t.id = s.target
ON CONFLICT (page_id, host_id) DO UPDATE SET sources = (
  SELECT array_agg(DISTINCT page ORDER BY page) FROM unnest(reverse_link_set.sources || excluded.sources) page)`;

/** Answers null while a run of the project is under way: what it finds would be missing. */
export async function buildReverseLinks(database: Attempting, projectId: number): Promise<IndexBuilt | null> {
  const run = <Row>(text: string, values: unknown[]) =>
    database.attempt((sql) => ask<Row>(sql, text, values));
  const mark = await database.attempt((sql) => runsMark(sql, projectId));
  if (mark.running > 0) return null;
  if (await database.attempt((sql) => hasCurrentIndex(sql, projectId, KIND)))
    return { kind: KIND, pages: 0, isWhole: false };
  const built = await database.attempt((sql) => readIndexMark(sql, projectId, KIND));
  const known = built === null ? 0 : lastRunOf(built);
  const before = await database.attempt((sql) => runsMark(sql, projectId, known));
  // Runs that the index knows have changed since: what they wrote cannot be told from what they had written.
  const isWhole = built === null || packMark(before) !== built;
  await database.attempt((sql) => dropIndexMark(sql, projectId, KIND));
  await makeOnDemand(database, partitionsOnDemand('reverse_link_set'));
  const [{ last }] = await run<{ last: number }>('SELECT COALESCE(max(id), 0) AS last FROM url', []);
  let pages = 0;
  for (let first = 0; first < last; first += TARGETS_AT_ONCE) {
    const range = [projectId, first, first + TARGETS_AT_ONCE];
    if (isWhole) await run(CLEAR, range);
    const [{ n }] = await run<{ n: number }>(
      `WITH written AS (${WRITE} RETURNING 1) SELECT count(*) AS n FROM written`,
      [...range, isWhole ? 0 : known],
    );
    pages += n;
  }
  await database.attempt((sql) => saveIndexMark(sql, projectId, KIND, mark));
  return { kind: KIND, pages, isWhole };
}

/** The pages that may link to this one, in order, none missing; null where only the link sets themselves know. */
export async function reverseSourcesOf(sql: Sql, pageId: number): Promise<number[] | null> {
  const [page] = await ask<{ project_id: number; host_id: number }>(
    sql,
    'SELECT project_id, host_id FROM url WHERE id = $1',
    [pageId],
  );
  if (page === undefined || !(await hasCurrentIndex(sql, page.project_id, KIND))) return null;
  const [packed] = await ask<{ sources: number[] }>(
    sql,
    'SELECT sources FROM reverse_link_set WHERE page_id = $1 AND host_id = $2',
    [pageId, page.host_id],
  );
  return packed?.sources ?? [];
}
