/** What a database or one of its projects amounts to, counted by PostgreSQL in a few scans. */
import { countUrls } from '../../frontier/counting-words.ts';
import { pageStateName } from '../../frontier/page-state.ts';
import type { StoreTotals } from '../read-rows.ts';
import { NO_DEPTH } from '../settlement.ts';
import type { Sql } from './connection.ts';
import { ask } from './session.ts';

const MOST_REASONS = 20;
const VISITED = 'url u JOIN fetched f ON f.page_id = u.id AND f.host_id = u.host_id';
const OF_RUNS = 'FROM run r JOIN project p ON p.id = r.project_id WHERE $1::text IS NULL OR p.name = $1';

export async function readTotals(sql: Sql, project: string | undefined): Promise<StoreTotals> {
  const name = project ?? null;
  const mine = '($1::text IS NULL OR u.project_id = (SELECT id FROM project WHERE name = $1))';
  const count = async (key: string, from: string, rest = 'ORDER BY k'): Promise<Record<string, number>> => {
    const rows = await ask<{ k: string | number; n: number }>(
      sql,
      `SELECT ${key} AS k, count(*) AS n FROM ${from} WHERE ${mine} AND ${key} IS NOT NULL GROUP BY k ${rest}`,
      [name],
    );
    return Object.fromEntries(rows.map(({ k, n }) => [k, n]));
  };
  const sum = async (text: string): Promise<number> => {
    const [{ n }] = await ask<{ n: number | null }>(sql, text, [name]);
    return n ?? 0;
  };
  const byCode = await count('u.state', 'url u', 'ORDER BY n DESC, k');
  const byState = Object.fromEntries(
    Object.entries(byCode)
      .map(([state, n]): [string, number] => [pageStateName(Number(state)), n])
      .sort((a, b) => b[1] - a[1]),
  );
  return {
    ...countUrls(byState),
    hosts: await sum(`SELECT count(DISTINCT u.host_id) AS n FROM url u WHERE ${mine}`),
    links: await sum(
      `SELECT sum(cardinality(l.targets)) AS n FROM link_set l JOIN url u ON u.id = l.page_id AND u.host_id = l.host_id
       WHERE ${mine}`,
    ),
    requests: await sum(`SELECT sum(r.requests) AS n ${OF_RUNS}`),
    bytes: await sum(`SELECT sum(r.bytes) AS n ${OF_RUNS}`),
    by_state: byState,
    by_status: await count('f.status_code', VISITED),
    // In the order of bytes, whatever language the database speaks.
    by_content_type: await count(
      `lower(btrim(split_part(f.content_type, ';', 1))) COLLATE "C"`,
      VISITED,
      'ORDER BY n DESC, k',
    ),
    by_reason: await count('u.reason COLLATE "C"', 'url u', `ORDER BY n DESC, k LIMIT ${MOST_REASONS}`),
    by_depth: await count(`NULLIF(u.depth, ${NO_DEPTH})`, 'url u'),
  };
}
