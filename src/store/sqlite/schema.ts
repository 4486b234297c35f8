/**
 * The file format. Base tables are singular and ours; the plural names are views with the columns that the
 * specifications gave them (views.ts). Every change of a base table is a new entry of MIGRATIONS, never an edit:
 * PRAGMA user_version counts them.
 */
import type { Database } from 'better-sqlite3';
import { MOST_CHANGES_A_DAY } from '../../change/visit-record.ts';
import { sumiError } from '../../errors.ts';
import { countTables } from '../count-tables.ts';
import { withFactColumns } from '../fact-columns.ts';
import { REQUEST_KINDS } from '../host-port.ts';
import { knownByNumber, outcomeNumber } from '../visit-rows.ts';
import { VIEWS } from './views.ts';

const GET = REQUEST_KINDS.indexOf('GET');

/**
 * History of the versions before: what the log of requests tells of visits. Equal bodies are told by their hash; what
 * else was compared then is not known any more.
 */
const HISTORY_OF_LOG = `
INSERT OR REPLACE INTO visit (run_id, page_id, visited_at, outcome, known_by, status_code, content_hash, wire_bytes,
    duration_ms)
  SELECT run_id, page_id, CAST(sent_at AS INTEGER),
    CASE WHEN NOT was_read THEN ${outcomeNumber('failed')} WHEN earlier = 0 THEN ${outcomeNumber('new')}
      WHEN content_hash IS NOT NULL AND content_hash IS last_hash THEN ${outcomeNumber('unchanged')}
      ELSE ${outcomeNumber('changed')} END,
    CASE WHEN status_code = 0 THEN ${knownByNumber('network')} WHEN NOT was_read THEN ${knownByNumber('status')}
      WHEN earlier > 0 AND content_hash IS NOT NULL AND content_hash IS last_hash THEN ${knownByNumber('hash')}
      ELSE ${knownByNumber('content')} END,
    NULLIF(status_code, 0), content_hash, wire_bytes, round(ended_at - sent_at)
  FROM (SELECT *, sum(was_read) OVER w - was_read AS earlier, lag(content_hash) OVER w AS last_hash
    FROM (SELECT *, status_code BETWEEN 200 AND 399 AS was_read, max(id) OVER (PARTITION BY run_id, page_id) AS last_id
      FROM request WHERE kind = ${GET} AND page_id IS NOT NULL)
    WHERE id = last_id WINDOW w AS (PARTITION BY page_id, was_read ORDER BY id));
UPDATE fetched SET wire_bytes = q.wire_bytes FROM (SELECT page_id, wire_bytes, max(id) FROM request
  WHERE kind = ${GET} AND page_id IS NOT NULL AND status_code BETWEEN 200 AND 299 GROUP BY page_id) q
WHERE q.page_id = fetched.page_id;`;

/** The tables that the version of history, changes and sitemaps added. */
export const CHANGE_TABLES = `
-- One row a visit: the history. outcome and known_by count as in change/visit-record.ts.
CREATE TABLE visit (
  run_id INTEGER NOT NULL,
  page_id INTEGER NOT NULL,
  visited_at INTEGER NOT NULL,
  outcome INTEGER NOT NULL,
  known_by INTEGER NOT NULL,
  status_code INTEGER,
  etag TEXT,
  last_modified TEXT,
  content_hash BLOB,
  text_hash BLOB,
  simhash_distance INTEGER,
  wire_bytes INTEGER NOT NULL DEFAULT 0,
  bytes_saved INTEGER NOT NULL DEFAULT 0,
  duration_ms REAL,
  PRIMARY KEY (run_id, page_id, visited_at)
) WITHOUT ROWID;

-- What a visit found changed: parts as bits, detail as JSON.
CREATE TABLE page_change (
  run_id INTEGER NOT NULL,
  page_id INTEGER NOT NULL,
  visited_at INTEGER NOT NULL,
  parts INTEGER NOT NULL,
  detail TEXT NOT NULL,
  PRIMARY KEY (run_id, page_id, visited_at)
) WITHOUT ROWID;

-- What sitemaps say of a page; lost_run: the run at whose end they named it no more.
CREATE TABLE sitemap_entry (
  page_id INTEGER PRIMARY KEY,
  lastmod INTEGER,
  changefreq TEXT,
  priority REAL,
  sitemap TEXT NOT NULL,
  first_seen INTEGER NOT NULL,
  last_seen INTEGER NOT NULL,
  lost_run INTEGER
);

-- How the pages of a project's host were found when it was looked at last.
CREATE TABLE discovery (
  project_id INTEGER NOT NULL,
  host_id INTEGER NOT NULL,
  method TEXT NOT NULL,
  checked_at INTEGER NOT NULL,
  entries INTEGER NOT NULL,
  sitemaps TEXT NOT NULL,
  PRIMARY KEY (project_id, host_id)
) WITHOUT ROWID;

-- What the plan of revisits learned of a page.
CREATE TABLE revisit (
  page_id INTEGER PRIMARY KEY,
  learned_at INTEGER,
  rate_shape REAL NOT NULL,
  rate_days REAL NOT NULL,
  signals INTEGER NOT NULL,
  signals_in_all INTEGER NOT NULL,
  flags INTEGER NOT NULL
);`;

/** Up to where a reader of `sumi changes` has looked: all runs up to `run_id`, and what came later up to `looked_at`. */
export const READER_TABLE = `CREATE TABLE reader_look (
  project_id INTEGER NOT NULL,
  reader TEXT NOT NULL,
  run_id INTEGER NOT NULL,
  looked_at INTEGER NOT NULL,
  PRIMARY KEY (project_id, reader)
) WITHOUT ROWID;`;

/** Who links to a page, and what such indexes were built from (index-state.ts). */
export const INDEX_TABLES = `
CREATE TABLE reverse_link_set (page_id INTEGER PRIMARY KEY, sources TEXT NOT NULL);
CREATE TABLE index_state (
  project_id INTEGER NOT NULL,
  kind TEXT NOT NULL,
  built_from TEXT NOT NULL,
  PRIMARY KEY (project_id, kind)
) WITHOUT ROWID;`;

/** Pages that nothing leads to any more, and the run at whose end that was found. */
export const ORPHAN_TABLE = 'CREATE TABLE orphan (page_id INTEGER PRIMARY KEY, run_id INTEGER NOT NULL);';

/** The columns that the version of history added, with what stands for them in a file that is older; without facts. */
export const CHANGE_COLUMNS = {
  project: { settings: 'NULL', revisit_plan: 'NULL', learned_run: '0' },
  run: { mode: 'NULL', mode_reason: 'NULL' },
  fetched: { change_frequency: '0.0', changes_detected: '0' },
} as const;

/**
 * A project that was given no name has that of its start hosts. Before, ports were no part of it; now a crawl of the same
 * URLs looks for the name with them. The last run says what the project is begun with. A project was given no name where
 * any of its runs was given none: resume and watch wrote the name that they had found.
 *
 * Makes a table of this connection's own, `new_name`, of the projects that get another name: for the migration, and for
 * reading a file that is not migrated yet.
 */
export const NEW_NAMES = `
CREATE TEMP TABLE start_site AS
  SELECT project_id, site, CASE WHEN site LIKE '%]' THEN site WHEN instr(site, ']') > 0 THEN substr(site, 1, instr(site, ']'))
      ELSE substr(site, 1, instr(site || ':', ':') - 1) END AS host
  FROM (SELECT project_id, substr(rest, 1, instr(rest || '/', '/') - 1) AS site
    FROM (SELECT r.project_id, substr(s.value, CASE instr(s.value, '://') WHEN 0 THEN 1 ELSE instr(s.value, '://') + 3 END) AS rest
      FROM main.run r, json_each(CASE WHEN json_valid(r.config) THEN r.config ELSE '{}' END, '$.start-urls') s
      WHERE r.id IN (SELECT max(id) FROM main.run GROUP BY project_id) AND r.project_id IN (SELECT project_id FROM main.run
        WHERE json_extract(CASE WHEN json_valid(config) THEN config ELSE '{"project":""}' END, '$.project') IS NULL)));
CREATE TEMP TABLE new_name AS
  SELECT n.id, n.by_site AS name FROM (SELECT p.id, p.name, (SELECT group_concat(host, ' ') FROM
      (SELECT DISTINCT host FROM temp.start_site s WHERE s.project_id = p.id ORDER BY host)) AS by_host,
    (SELECT group_concat(site, ' ') FROM
      (SELECT DISTINCT site FROM temp.start_site s WHERE s.project_id = p.id ORDER BY site)) AS by_site
  FROM main.project p) n
  WHERE n.name = n.by_host AND n.by_site <> n.name AND n.by_site NOT IN (SELECT name FROM main.project);
DROP TABLE temp.start_site;`;

const NAME_BY_SITES = `${NEW_NAMES}
UPDATE project SET name = n.name FROM temp.new_name n WHERE n.id = project.id;
DROP TABLE temp.new_name;`;

/** A UUID of version 4, another one for each row. */
const RANDOM_UID = `lower(hex(randomblob(4)) || '-' || hex(randomblob(2)) || '-4' || substr(hex(randomblob(2)), 2) || '-' ||
  substr('89AB', 1 + (random() & 3), 1) || substr(hex(randomblob(2)), 2) || '-' || hex(randomblob(6)))`;

/**
 * Projects have ids that programs know them by, and can be marked as deleted. One with purged_at is seen by nobody any more,
 * and is on its way to be deleted for good.
 */
const PROJECT_IDENTITY = `
ALTER TABLE project ADD COLUMN uid TEXT;
ALTER TABLE project ADD COLUMN website_url TEXT;
ALTER TABLE project ADD COLUMN updated_at INTEGER NOT NULL DEFAULT 0;
ALTER TABLE project ADD COLUMN deleted_at INTEGER;
ALTER TABLE project ADD COLUMN purged_at INTEGER;
UPDATE project SET uid = ${RANDOM_UID}, updated_at = created_at;
CREATE UNIQUE INDEX project_uid ON project (uid);
CREATE INDEX project_created ON project (created_at);
CREATE INDEX project_updated ON project (updated_at);`;

/** What stands for those columns in a file that is older. */
export const IDENTITY_COLUMNS =
  'NULL AS uid, NULL AS website_url, 0 AS updated_at, NULL AS deleted_at, NULL AS purged_at';

/** For tests too, which make files of older versions of them. */
export const MIGRATIONS: readonly string[] = withFactColumns('sqlite', [
  `
CREATE TABLE meta (key TEXT PRIMARY KEY, value) WITHOUT ROWID;

CREATE TABLE project (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, created_at INTEGER NOT NULL);

CREATE TABLE run (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  project_id INTEGER NOT NULL,
  started_at INTEGER NOT NULL,
  finished_at INTEGER,
  status TEXT NOT NULL,
  config_hash TEXT NOT NULL,
  config TEXT NOT NULL,
  pages INTEGER NOT NULL DEFAULT 0,
  bytes INTEGER NOT NULL DEFAULT 0,
  requests INTEGER NOT NULL DEFAULT 0,
  error TEXT
);

-- One row a host, for all projects: its clock, its blocks and the lease on it.
CREATE TABLE host (
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE,
  not_before INTEGER NOT NULL DEFAULT 0,
  blocked_until INTEGER NOT NULL DEFAULT 0,
  consecutive_429 INTEGER NOT NULL DEFAULT 0,
  adaptive_ms REAL NOT NULL DEFAULT 0,
  average_ms REAL NOT NULL DEFAULT 0,
  samples INTEGER NOT NULL DEFAULT 0,
  failures INTEGER NOT NULL DEFAULT 0,
  probes INTEGER NOT NULL DEFAULT 0,
  lease_owner TEXT,
  lease_until INTEGER,
  fence INTEGER NOT NULL DEFAULT 0,
  taken_over INTEGER NOT NULL DEFAULT 0
);

-- One row a host and project: how many pages wait, what the current run asked, whether the run gave the host up.
CREATE TABLE host_queue (
  project_id INTEGER NOT NULL,
  host_id INTEGER NOT NULL,
  waiting INTEGER NOT NULL DEFAULT 0,
  requests INTEGER NOT NULL DEFAULT 0,
  closed_state INTEGER,
  closed_reason TEXT,
  PRIMARY KEY (project_id, host_id)
) WITHOUT ROWID;
CREATE INDEX host_queue_waiting ON host_queue (project_id, host_id) WHERE waiting > 0;

CREATE TABLE robots_txt (
  origin TEXT PRIMARY KEY,
  host_id INTEGER NOT NULL,
  status INTEGER NOT NULL,
  body BLOB,
  fetched_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  delay_seconds REAL
) WITHOUT ROWID;

-- One row a known URL. Ids are given in order of discovery, which makes them the tie-break of the queue.
CREATE TABLE url (
  id INTEGER PRIMARY KEY,
  project_id INTEGER NOT NULL,
  host_id INTEGER NOT NULL,
  state INTEGER NOT NULL,
  priority INTEGER NOT NULL,
  depth INTEGER NOT NULL,
  attempts INTEGER NOT NULL,
  retry_at INTEGER,
  discovered_run INTEGER NOT NULL,
  discovered_at INTEGER NOT NULL,
  referrer_id INTEGER,
  url TEXT NOT NULL,
  fetch_url TEXT,
  reason TEXT,
  hops INTEGER NOT NULL DEFAULT 0
);
-- Redirects that wait for their target's answer; url.hops is the longest of the chains that lead to a page.
CREATE TABLE redirect_wait (
  target_id INTEGER NOT NULL,
  source_id INTEGER NOT NULL,
  hops INTEGER NOT NULL,
  PRIMARY KEY (target_id, source_id)
) WITHOUT ROWID;
CREATE INDEX url_retry ON url (project_id, host_id, retry_at) WHERE state = 1 AND retry_at IS NOT NULL;

-- The queue: ids of waiting pages in blocks, by host, priority and discovery. An id in a block is a hint, the page's own
-- state is the truth. (An index over waiting rows costs 4 µs a URL when hosts are mixed; blocks cost 0.3.)
CREATE TABLE wait_block (
  project_id INTEGER NOT NULL,
  host_id INTEGER NOT NULL,
  priority INTEGER NOT NULL,
  first_id INTEGER NOT NULL,
  seq INTEGER NOT NULL,
  ids BLOB NOT NULL,
  PRIMARY KEY (project_id, host_id, priority, first_id, seq)
) WITHOUT ROWID;

-- What the last visit of a page found.
CREATE TABLE fetched (
  page_id INTEGER PRIMARY KEY,
  run_id INTEGER NOT NULL,
  visited_at INTEGER NOT NULL,
  status_code INTEGER,
  content_type TEXT,
  content_length INTEGER,
  title TEXT,
  h1 TEXT,
  description TEXT,
  lang TEXT,
  charset TEXT,
  canonical TEXT,
  noindex INTEGER NOT NULL,
  nofollow INTEGER NOT NULL,
  word_count INTEGER,
  content_hash BLOB,
  simhash INTEGER,
  etag TEXT,
  last_modified TEXT,
  cache_control TEXT,
  body_key TEXT,
  error TEXT,
  response_ms INTEGER,
  change TEXT,
  redirect_to INTEGER,
  final_url TEXT,
  redirect_count INTEGER NOT NULL DEFAULT 0
);

CREATE TABLE page_text (page_id INTEGER PRIMARY KEY, text TEXT NOT NULL);

-- Links packed per page as JSON arrays of page ids, so that plain SQL (json_each) unpacks them.
CREATE TABLE link_set (
  page_id INTEGER PRIMARY KEY,
  run_id INTEGER NOT NULL,
  targets TEXT NOT NULL,
  flags TEXT,
  anchors TEXT
);
CREATE TABLE link_change (
  page_id INTEGER NOT NULL,
  run_id INTEGER NOT NULL,
  added TEXT NOT NULL,
  removed TEXT NOT NULL,
  PRIMARY KEY (page_id, run_id)
) WITHOUT ROWID;

-- Pages whose depth was lowered and whose links have not heard of it yet.
CREATE TABLE lowering (page_id INTEGER PRIMARY KEY);

-- The request log: what audit replays. A GET of a page is a visit.
CREATE TABLE request (
  id INTEGER PRIMARY KEY,
  run_id INTEGER NOT NULL,
  host_id INTEGER NOT NULL,
  page_id INTEGER,
  kind INTEGER NOT NULL,
  slot_at INTEGER NOT NULL,
  sent_at REAL NOT NULL,
  ended_at REAL NOT NULL,
  delay_ms REAL NOT NULL,
  per_host INTEGER NOT NULL,
  status_code INTEGER NOT NULL,
  wire_bytes INTEGER NOT NULL,
  content_hash BLOB,
  blocked_until INTEGER,
  failure TEXT
);
`,
  // What the operator noted of a run.
  'ALTER TABLE run ADD COLUMN metadata TEXT;',
  // The domains that depth is counted from, by their place in the project's list, and the pages each of them reaches.
  `
CREATE TABLE origin (
  project_id INTEGER NOT NULL,
  number INTEGER NOT NULL,
  name TEXT NOT NULL,
  PRIMARY KEY (project_id, number)
) WITHOUT ROWID;
CREATE TABLE page_depth (
  page_id INTEGER NOT NULL,
  origin INTEGER NOT NULL,
  depth INTEGER NOT NULL,
  PRIMARY KEY (page_id, origin)
) WITHOUT ROWID;
`,
  // History, what changed in it, sitemaps, and what is known of when to come back.
  `
ALTER TABLE project ADD COLUMN settings TEXT;
ALTER TABLE project ADD COLUMN revisit_plan TEXT;
ALTER TABLE project ADD COLUMN learned_run INTEGER NOT NULL DEFAULT 0;
ALTER TABLE run ADD COLUMN mode TEXT;
ALTER TABLE run ADD COLUMN mode_reason TEXT;
-- Its validators lied: until then its pages are fetched in full.
ALTER TABLE host ADD COLUMN distrusted_until INTEGER NOT NULL DEFAULT 0;
-- Changes of its pages that a newer date in a sitemap had announced, and the others.
ALTER TABLE host ADD COLUMN announced INTEGER NOT NULL DEFAULT 0;
ALTER TABLE host ADD COLUMN unannounced INTEGER NOT NULL DEFAULT 0;

-- What was read last; a visit that reads nothing new only says so beside it (visited_at, status_code, error, change).
ALTER TABLE fetched ADD COLUMN text_hash BLOB;
ALTER TABLE fetched ADD COLUMN facet_hash BLOB;
ALTER TABLE fetched ADD COLUMN structured_data TEXT;
ALTER TABLE fetched ADD COLUMN wire_bytes INTEGER NOT NULL DEFAULT 0;
ALTER TABLE fetched ADD COLUMN change_frequency REAL NOT NULL DEFAULT 0;
ALTER TABLE fetched ADD COLUMN changes_detected INTEGER NOT NULL DEFAULT 0;

${CHANGE_TABLES}

-- Which pages lost a link in a run: asked at its end. Written on revisits only.
CREATE INDEX link_change_run ON link_change (run_id);
${HISTORY_OF_LOG}
`,
  ORPHAN_TABLE,
  // What kept some of a host's sitemaps from being read whole.
  'ALTER TABLE discovery ADD COLUMN trouble TEXT;',
  // The words of the sitemap itself, so that they can be told again.
  'ALTER TABLE sitemap_entry ADD COLUMN lastmod_text TEXT; ALTER TABLE sitemap_entry ADD COLUMN details TEXT;',
  // What a page asks of robots beside noindex and nofollow: NULL where it was read before this was kept.
  `ALTER TABLE fetched ADD COLUMN robots_other TEXT;
ALTER TABLE fetched ADD COLUMN x_robots_tag TEXT;
-- Redirects of before had no hash; that one leads on is known by having one.
UPDATE fetched SET facet_hash = x'' WHERE redirect_to IS NOT NULL AND facet_hash IS NULL;`,
  // Nothing but views, which every new version makes anew: crawled_url has the project, and no NULL in texts.
  '',
  // When single sitemaps were read, and how much was in them; where a host's sitemaps were looked for, and not only read as they
  // were given. Views are made anew: one more word for what changed.
  'ALTER TABLE discovery ADD COLUMN looks TEXT; ALTER TABLE discovery ADD COLUMN searched TEXT;',
  // What a page was before a run queued it again (kept-answer.ts), and how many pages a run left as they were. A change
  // seen minutes after the last visit had counted as hundreds a day (visit-record.ts).
  // How often GET gave the same answer as a HEAD that found no page; -1: they differed, and the host is asked by GET
  // (head-first.ts).
  `ALTER TABLE url ADD COLUMN known_state INTEGER; ALTER TABLE url ADD COLUMN known_reason TEXT;
ALTER TABLE url ADD COLUMN left_run INTEGER; ALTER TABLE url ADD COLUMN left_reason TEXT;
ALTER TABLE run ADD COLUMN left_out INTEGER NOT NULL DEFAULT 0;
UPDATE fetched SET change_frequency = ${MOST_CHANGES_A_DAY} WHERE change_frequency > ${MOST_CHANGES_A_DAY};
${READER_TABLE}
ALTER TABLE discovery ADD COLUMN guessed TEXT;
ALTER TABLE host ADD COLUMN head_checks INTEGER NOT NULL DEFAULT 0;
${NAME_BY_SITES}`,
  // Indexes for lists, which are built where they are asked for.
  `${INDEX_TABLES}
CREATE INDEX robots_txt_host ON robots_txt (host_id);`,
  // The project of a page's last visit, for indexes of lists (page-indexes.ts): NULL until one is built for older rows.
  // Kept counts of pages by value and by folder (read-facets.ts), written by `sumi index sections` only.
  `ALTER TABLE fetched ADD COLUMN project_id INTEGER;
${countTables({ text: 'TEXT', whole: 'INTEGER', large: 'INTEGER', ending: ' WITHOUT ROWID' })}`,
  PROJECT_IDENTITY,
]);

export const SCHEMA_VERSION = MIGRATIONS.length;

/** Brings the file to this program's version; refuses a newer one. */
export function migrate(db: Database, path: string): void {
  const found = db.pragma('user_version', { simple: true }) as number;
  if (found > SCHEMA_VERSION) throw sumiError('db-newer', { file: path, found, known: SCHEMA_VERSION });
  for (let version = found; version < SCHEMA_VERSION; version++) db.exec(MIGRATIONS[version]);
  if (found < SCHEMA_VERSION) {
    dropViews(db);
    db.exec(VIEWS);
    db.pragma(`user_version = ${SCHEMA_VERSION}`);
  }
}

/** Views hold no data: those of an older version are made anew. */
function dropViews(db: Database): void {
  const names = db.prepare("SELECT name FROM sqlite_schema WHERE type = 'view'").pluck().all() as string[];
  for (const name of names) db.exec(`DROP VIEW "${name}"`);
}
