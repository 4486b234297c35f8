/** What a file or one of its projects amounts to, counted by SQLite in a few scans. */
import type { Database } from 'better-sqlite3';
import { countUrls } from '../../frontier/counting-words.ts';
import { pageStateName } from '../../frontier/page-state.ts';
import type { StoreTotals } from '../read-rows.ts';
import { NO_DEPTH } from '../settlement.ts';

const MOST_REASONS = 20;

export function readTotals(db: Database, project: string | undefined): StoreTotals {
  const name = project ?? null;
  const mine = '(? IS NULL OR u.project_id = (SELECT id FROM project WHERE name = ?))';
  const count = (key: string, from: string, rest = ''): Record<string, number> =>
    Object.fromEntries(
      db
        .prepare(
          `SELECT ${key} AS k, count(*) AS n FROM ${from} WHERE ${mine} AND ${key} IS NOT NULL GROUP BY k ${rest}`,
        )
        .raw()
        .all(name, name) as [string, number][],
    );
  const one = (sql: string, ...values: (string | null)[]) =>
    (db
      .prepare(sql)
      .pluck()
      .get(...values) as number | null) ?? 0;
  const byCode = count('u.state', 'url u', 'ORDER BY n DESC, k');
  const byState = Object.fromEntries(
    Object.entries(byCode)
      .map(([state, n]): [string, number] => [pageStateName(Number(state)), n])
      .sort((a, b) => b[1] - a[1]),
  );
  const visited = 'url u JOIN fetched f ON f.page_id = u.id';
  const ofRuns = 'FROM run r JOIN project p ON p.id = r.project_id WHERE ? IS NULL OR p.name = ?';
  return {
    ...countUrls(byState),
    hosts: one(`SELECT count(DISTINCT u.host_id) FROM url u WHERE ${mine}`, name, name),
    links: one(
      `SELECT sum(json_array_length(l.targets)) FROM link_set l JOIN url u ON u.id = l.page_id WHERE ${mine}`,
      name,
      name,
    ),
    requests: one(`SELECT sum(r.requests) ${ofRuns}`, name, name),
    bytes: one(`SELECT sum(r.bytes) ${ofRuns}`, name, name),
    by_state: byState,
    by_status: count('f.status_code', visited),
    by_content_type: count(
      "lower(trim(substr(f.content_type, 1, instr(f.content_type || ';', ';') - 1)))",
      visited,
      'ORDER BY n DESC, k',
    ),
    by_reason: count('u.reason', 'url u', `ORDER BY n DESC, k LIMIT ${MOST_REASONS}`),
    by_depth: count(`NULLIF(u.depth, ${NO_DEPTH})`, 'url u', 'ORDER BY k'),
  };
}
