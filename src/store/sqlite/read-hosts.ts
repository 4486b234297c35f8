/** Hosts on SQLite: what is known of each, and how many of its URLs are in which state. */
import type { Database } from 'better-sqlite3';
import { COUNTING_WORD_NAMES, COUNTING_WORDS, stateList } from '../../frontier/counting-words.ts';
import type { HostRow } from '../read-rows.ts';

const BATCH = 1000;

/** Wall milliseconds as ISO 8601; 0 is no time. */
export const iso = (column: string) =>
  `CASE WHEN ${column} > 0 THEN strftime('%Y-%m-%dT%H:%M:%fZ', ${column} / 1000.0, 'unixepoch') END`;

/** The site of a page: its host, with the port where the URL has one. A robots.txt's is that of its origin. */
export const SITE =
  "substr(u.url, instr(u.url, '//') + 2, instr(substr(u.url || '/', instr(u.url, '//') + 2), '/') - 1)";
const ROBOTS_SITE = "substr(r.origin, instr(r.origin, '//') + 2)";

const COUNTS = COUNTING_WORD_NAMES.map(
  (word) => `sum(u.state IN (${stateList(COUNTING_WORDS[word].states)})) AS ${word}`,
).join(', ');
const COUNTED = COUNTING_WORD_NAMES.map((word) => `c.${word}`).join(', ');

/** A row a host and port. Pages are counted once for all of them, into a table of this connection's own: there is no index by host. */
export function* hostsOf(db: Database, filter: { project?: string; limit?: number }): Generator<HostRow> {
  const project = filter.project ?? null;
  db.exec('DROP TABLE IF EXISTS temp.host_pages');
  db.prepare(
    `CREATE TEMP TABLE host_pages AS SELECT u.host_id, ${SITE} AS site, count(*) AS known_urls, ${COUNTS}
     FROM url u JOIN project p ON p.id = u.project_id WHERE ? IS NULL OR p.name = ?
     GROUP BY u.host_id, site ORDER BY u.host_id, site`,
  ).run(project, project);
  const read = db.prepare(
    `SELECT c.rowid AS at, c.site AS host, c.known_urls, ${COUNTED},
       COALESCE((SELECT sum(q.requests) FROM host_queue q JOIN project p ON p.id = q.project_id
         WHERE q.host_id = h.id AND (? IS NULL OR p.name = ?)), 0) AS requests,
       round(h.average_ms) AS average_ms, round(h.adaptive_ms) AS adaptive_delay_ms,
       ${iso('h.not_before')} AS next_slot_at, ${iso('h.blocked_until')} AS blocked_until, h.consecutive_429, h.failures,
       (SELECT r.status FROM robots_txt r WHERE r.host_id = h.id AND ${ROBOTS_SITE} IN (c.site, 'www.' || c.site)
         ORDER BY r.fetched_at DESC LIMIT 1) AS robots_status,
       (SELECT ${iso('max(r.fetched_at)')} FROM robots_txt r
         WHERE r.host_id = h.id AND ${ROBOTS_SITE} IN (c.site, 'www.' || c.site)) AS robots_fetched_at,
       (SELECT q.closed_reason FROM host_queue q JOIN project p ON p.id = q.project_id
         WHERE q.host_id = h.id AND q.closed_reason IS NOT NULL AND (? IS NULL OR p.name = ?) LIMIT 1) AS closed
     FROM temp.host_pages c JOIN host h ON h.id = c.host_id WHERE c.rowid > ? ORDER BY c.rowid LIMIT ?`,
  );
  let left = filter.limit ?? Number.POSITIVE_INFINITY;
  for (let after = 0; left > 0; ) {
    const size = Math.min(BATCH, left);
    const rows = read.all(project, project, project, project, after, size) as (HostRow & { at: number })[];
    for (const { at, ...row } of rows) {
      after = at;
      yield row;
    }
    if (rows.length < size) return;
    left -= rows.length;
  }
}
