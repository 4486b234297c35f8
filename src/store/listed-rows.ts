/** The rows of lists by their keys, where both stores answer the same text: visits, changes, hosts, requests. */
import { countUrls, type UrlCounts } from '../frontier/counting-words.ts';
import { type PageStateCode, pageStateName } from '../frontier/page-state.ts';
import { REQUEST_KINDS } from './host-port.ts';
import type { Key } from './list-cursor.ts';
import type { ListDatabase } from './list-database.ts';
import { type ListedHost, type ListedRequest, type ListedVisit, MOST_LOOKED_AT } from './list-queries.ts';
import { oneOf } from './page-conditions.ts';
import type { ChangeRow } from './read-rows.ts';
import { inOrderOf } from './table-track.ts';
import { changeRowOf, type StoredChange, visitRowOf } from './visit-rows.ts';

const VISIT = `v.run_id, v.visited_at, v.outcome, v.known_by, v.status_code, v.etag, v.last_modified, v.content_hash,
  v.text_hash, v.simhash_distance, v.wire_bytes, v.bytes_saved, v.duration_ms`;

const iso = (time: number | null) =>
  time === null || time <= 0 ? null : new Date(Math.round(time)).toISOString();
const numbersOf = (keys: readonly Key[], place: number) => [
  ...new Set(keys.map((key) => Number(key[place]))),
];

/** Of each run, the pages that are wanted; the joins are lookups. */
async function storedVisits(db: ListDatabase, keys: readonly Key[]): Promise<StoredChange[]> {
  const { sameHost } = db.dialect;
  const found: StoredChange[] = [];
  for (const run of numbersOf(keys, 0)) {
    const pages = oneOf(
      'v.page_id',
      numbersOf(
        keys.filter(([ofRun]) => ofRun === run),
        1,
      ),
    );
    const rows = await db.ask<StoredChange>(
      `SELECT ${VISIT}, v.page_id, u.url, f.title, c.parts, c.detail
       FROM visit v JOIN url u ON u.id = v.page_id ${sameHost('u', 'v')}
         LEFT JOIN fetched f ON f.page_id = v.page_id ${sameHost('f', 'v')}
         LEFT JOIN page_change c ON c.run_id = v.run_id AND c.page_id = v.page_id AND c.visited_at = v.visited_at
           ${sameHost('c', 'v')}
       WHERE v.run_id = ? AND ${pages.sql}`,
      [run, ...pages.values],
    );
    found.push(...rows);
  }
  return inOrderOf(keys, found, (row) => [row.run_id, row.page_id, row.visited_at]);
}

export async function readVisits(db: ListDatabase, keys: readonly Key[]): Promise<ListedVisit[]> {
  const rows = await storedVisits(db, keys);
  return rows.map((row) => ({ ...visitRowOf(row), page_id: row.page_id, url: row.url }));
}

export async function readChanges(db: ListDatabase, keys: readonly Key[]): Promise<ChangeRow[]> {
  return (await storedVisits(db, keys)).map(changeRowOf);
}

interface StoredRequest {
  id: number;
  run: number;
  host: string;
  page_id: number | null;
  kind: number;
  sent: number;
  ended: number;
  status_code: number;
  bytes: number;
  failure: string | null;
}

export async function readRequests(db: ListDatabase, keys: readonly Key[]): Promise<ListedRequest[]> {
  if (keys.length === 0) return [];
  const wanted = oneOf('q.id', numbersOf(keys, 0));
  const rows = await db.ask<StoredRequest>(
    `SELECT q.id, q.run_id AS run, h.name AS host, q.page_id, q.kind, q.sent_at AS sent, q.ended_at AS ended,
       q.status_code, q.wire_bytes AS bytes, q.failure
     FROM request q JOIN host h ON h.id = q.host_id WHERE ${wanted.sql}`,
    wanted.values,
  );
  return inOrderOf(keys, rows, ({ id }) => [id]).map(({ sent, ended, kind, ...row }) => ({
    ...row,
    kind: REQUEST_KINDS[kind],
    sent_at: new Date(Math.round(sent)).toISOString(),
    duration_ms: Math.round(ended - sent),
  }));
}

interface StoredHost {
  id: number;
  host: string;
  average: number;
  adaptive: number;
  not_before: number;
  blocked: number;
  consecutive_429: number;
  failures: number;
}

export async function readListedHosts(
  db: ListDatabase,
  keys: readonly Key[],
  projectId: number | null,
): Promise<ListedHost[]> {
  if (keys.length === 0) return [];
  const ids = numbersOf(keys, 0);
  const rows = await db.ask<StoredHost>(
    `SELECT h.id, h.name AS host, h.average_ms AS average, h.adaptive_ms AS adaptive, h.not_before,
       h.blocked_until AS blocked, h.consecutive_429, h.failures FROM host h WHERE ${oneOf('h.id', ids).sql}`,
    ids,
  );
  const [requests, robots, urls] = await Promise.all([
    requestsByHost(db, ids, projectId),
    robotsByHost(db, ids),
    urlsByHost(db, ids, projectId),
  ]);
  return inOrderOf(keys, rows, ({ id }) => [id]).map((row) => ({
    id: row.id,
    host: row.host,
    requests: requests.get(row.id) ?? 0,
    average_ms: Math.round(row.average),
    adaptive_delay_ms: Math.round(row.adaptive),
    next_slot_at: iso(row.not_before),
    blocked_until: iso(row.blocked),
    consecutive_429: row.consecutive_429,
    failures: row.failures,
    robots_status: robots.get(row.id)?.status ?? null,
    robots_fetched_at: iso(robots.get(row.id)?.fetched ?? null),
    urls: urls === null ? null : (urls.get(row.id) ?? countUrls({})),
  }));
}

async function requestsByHost(
  db: ListDatabase,
  ids: readonly number[],
  projectId: number | null,
): Promise<Map<number, number>> {
  const projects = projectId === null ? 'SELECT id FROM project' : '?';
  const rows = await db.ask<{ host_id: number; n: number }>(
    `SELECT host_id, sum(requests) AS n FROM host_queue
     WHERE project_id IN (${projects}) AND ${oneOf('host_id', ids).sql} GROUP BY host_id`,
    [...(projectId === null ? [] : [projectId]), ...ids],
  );
  return new Map(rows.map(({ host_id, n }) => [host_id, n]));
}

/** Of each host, what was fetched last. */
async function robotsByHost(db: ListDatabase, ids: readonly number[]) {
  const rows = await db.ask<{ host_id: number; status: number; fetched: number }>(
    `SELECT host_id, status, fetched_at AS fetched FROM robots_txt WHERE ${oneOf('host_id', ids).sql}
     ORDER BY fetched_at, origin DESC`,
    ids,
  );
  return new Map(rows.map((row) => [row.host_id, row]));
}

/** Null where too many would have to be counted. */
async function urlsByHost(
  db: ListDatabase,
  ids: readonly number[],
  projectId: number | null,
): Promise<Map<number, UrlCounts> | null> {
  const ofHosts = oneOf('host_id', ids);
  const [inside, outside] = db.dialect.findsUrlsByHost ? [ofHosts, null] : [null, ofHosts];
  const looked = `(SELECT host_id, project_id, state FROM url ${inside === null ? '' : `WHERE ${inside.sql}`} LIMIT ${MOST_LOOKED_AT + 1}) u`;
  const [{ n }] = await db.ask<{ n: number }>(`SELECT count(*) AS n FROM ${looked}`, inside?.values ?? []);
  if (n > MOST_LOOKED_AT) return null;
  const where = [outside?.sql, projectId === null ? undefined : 'project_id = ?'].filter(
    (part) => part !== undefined,
  );
  const rows = await db.ask<{ host_id: number; state: PageStateCode; n: number }>(
    `SELECT host_id, state, count(*) AS n FROM ${looked} ${where.length === 0 ? '' : `WHERE ${where.join(' AND ')}`}
     GROUP BY host_id, state`,
    [...(inside?.values ?? []), ...(outside?.values ?? []), ...(projectId === null ? [] : [projectId])],
  );
  const byHost = new Map<number, Record<string, number>>();
  for (const { host_id, state, n: count } of rows) {
    const states = byHost.get(host_id) ?? {};
    states[pageStateName(state)] = count;
    byHost.set(host_id, states);
  }
  return new Map([...byHost].map(([id, states]) => [id, countUrls(states)]));
}
