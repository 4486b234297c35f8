/**
 * What went wrong on a map, as specification 004 section 9.3 counts it: pages in an error state by kind, and the domains
 * that asked for a rest. Plain SQL that both databases understand, so that the same map gives the same numbers on either.
 */
import { ERROR_STATES, stateList } from '../frontier/counting-words.ts';
import { PAGE_STATES } from '../frontier/page-state.ts';
import { MARK_KINDS } from './host-port.ts';
import type { AskRows } from './run-report.ts';

export const MAP_ERROR_KINDS = ['dead', 'rate-limited', 'refused', 'timeout', 'robots', 'other'] as const;
export type MapErrorKind = (typeof MAP_ERROR_KINDS)[number];

export interface MapErrors {
  pages: Record<MapErrorKind, number>;
  /** By name. */
  rate_limited: { domain: string; request: number | null }[];
}

const { DeadLink, RateLimited } = PAGE_STATES;

const KIND = `CASE
  WHEN u.state = ${DeadLink} THEN 'dead'
  WHEN u.state = ${RateLimited} THEN 'rate-limited'
  WHEN u.reason LIKE 'network: refused%' OR u.reason LIKE 'robots: unreachable%ECONNREFUSED%' THEN 'refused'
  WHEN u.reason LIKE 'network: timeout%' OR u.reason LIKE 'robots: unreachable%timeout%' THEN 'timeout'
  WHEN u.reason LIKE 'robots: %' AND u.reason NOT LIKE 'robots: unreachable%' THEN 'robots'
  ELSE 'other' END`;

/** `runId` is the run whose requests are counted up to the answer that asked for a rest. */
export async function readMapErrors(ask: AskRows, projectId: number, runId: number): Promise<MapErrors> {
  const counted = await ask(
    `SELECT ${KIND} AS kind, count(*) AS n FROM url u
     WHERE u.project_id = ${Number(projectId)} AND u.state IN (${stateList(ERROR_STATES)}) GROUP BY 1`,
  );
  const counts = new Map(counted.map(({ kind, n }) => [kind, Number(n)]));
  const limited = await ask(
    `SELECT h.name AS domain, (SELECT count(*) FROM request q WHERE q.host_id = h.id AND q.run_id = ${Number(runId)}
         AND q.kind NOT IN ${MARK_KINDS} AND q.id <= (SELECT min(x.id) FROM request x WHERE x.host_id = h.id
           AND x.run_id = ${Number(runId)} AND x.status_code = 429)) AS request
     FROM host_queue c JOIN host h ON h.id = c.host_id
     WHERE c.project_id = ${Number(projectId)} AND c.closed_state = ${RateLimited}`,
  );
  return {
    pages: Object.fromEntries(
      MAP_ERROR_KINDS.map((kind) => [kind, counts.get(kind) ?? 0]),
    ) as MapErrors['pages'],
    rate_limited: limited
      .map(({ domain, request }) => ({ domain: String(domain), request: Number(request) || null }))
      .sort((a, b) => (a.domain < b.domain ? -1 : 1)),
  };
}
