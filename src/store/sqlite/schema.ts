/**
 * The file format. Base tables are singular and ours; the plural names are views with the columns that the
 * specifications gave them (views.ts). Every change of a base table is a new entry of MIGRATIONS, never an edit:
 * PRAGMA user_version counts them.
 */
import type { Database } from 'better-sqlite3';
import { sumiError } from '../../errors.ts';
import { VIEWS } from './views.ts';

const MIGRATIONS = [
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
];

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
