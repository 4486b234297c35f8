/**
 * How the tables of a file are read as neutral rows and written from them (copy-port.ts): one SELECT and one INSERT a
 * table. The file keeps no host beside a page's id, so that it is looked up in the page's row.
 */
import type { Database, Statement } from 'better-sqlite3';
import { type ColumnKind, type CopyRow, type CopyTable, columnsOf, type Numbering } from '../copy-port.ts';
import { createHostIds } from './session.ts';

interface TableSource {
  from: string;
  /** Which rows, with @project, @after (or @low and @high), @limit. */
  rows: string;
  /** Where the next batch begins. Null for tables read in windows of page ids. */
  cursor: string | null;
  /** Columns that stand elsewhere than in the table itself. */
  columns?: Record<string, string>;
}

/** A table with a row (or some) a page, read in windows of page ids. */
function ofPages(
  table: string,
  key: string,
  columns: Record<string, string> = {},
  joins = '',
  thenBy = '',
): TableSource {
  return {
    from: `${table} t JOIN url u ON u.id = t.${key} ${joins}`,
    rows: `WHERE t.${key} BETWEEN @low AND @high AND u.project_id = @project
      ORDER BY t.${key}${thenBy === '' ? '' : `, ${thenBy}`}`,
    cursor: null,
    columns: { host_id: 'u.host_id', ...columns },
  };
}

/** History stands by run: each run of the project is asked for the window's pages. */
function ofVisits(table: string): TableSource {
  return {
    from: `run r CROSS JOIN ${table} t ON t.run_id = r.id CROSS JOIN url u ON u.id = t.page_id`,
    rows: `WHERE r.project_id = @project AND t.page_id BETWEEN @low AND @high ORDER BY t.page_id, t.run_id, t.visited_at`,
    cursor: null,
    columns: { host_id: 'u.host_id' },
  };
}

const SOURCES: Record<CopyTable, TableSource> = {
  run: {
    from: 'run t',
    rows: 'WHERE t.project_id = @project AND t.id > @after ORDER BY t.id LIMIT @limit',
    cursor: 't.id',
  },
  host: {
    from: 'host t JOIN temp.copied_host c ON c.id = t.id',
    rows: 'WHERE c.id > @after ORDER BY c.id LIMIT @limit',
    cursor: 'c.id',
    // Whoever held it is not asked: the next holder rests one full delay.
    columns: { taken_over: '(t.taken_over <> 0 OR t.lease_owner IS NOT NULL)' },
  },
  robots_txt: {
    from: 'temp.copied_robots c JOIN robots_txt t ON t.origin = c.origin',
    rows: 'WHERE c.id > @after ORDER BY c.id LIMIT @limit',
    cursor: 'c.id',
  },
  host_queue: {
    from: 'host_queue t',
    rows: `WHERE t.project_id = @project AND t.host_id > @after AND (t.requests > 0 OR t.closed_state IS NOT NULL)
      ORDER BY t.host_id LIMIT @limit`,
    cursor: 't.host_id',
  },
  url: {
    from: 'url t',
    rows: 'WHERE t.id BETWEEN @low AND @high AND t.project_id = @project ORDER BY t.id',
    cursor: null,
  },
  fetched: ofPages(
    'fetched',
    'page_id',
    { redirect_host: 'r.host_id' },
    'LEFT JOIN url r ON r.id = t.redirect_to',
  ),
  page_text: ofPages('page_text', 'page_id'),
  link_set: ofPages('link_set', 'page_id'),
  link_change: ofPages('link_change', 'page_id'),
  redirect_wait: ofPages(
    'redirect_wait',
    'target_id',
    { target_host: 'u.host_id', source_host: 's.host_id' },
    'JOIN url s ON s.id = t.source_id',
  ),
  lowering: ofPages('lowering', 'page_id'),
  origin: {
    from: 'origin t',
    // Cursors begin at 0, numbers too.
    rows: 'WHERE t.project_id = @project AND t.number + 1 > @after ORDER BY t.number LIMIT @limit',
    cursor: 't.number + 1',
  },
  page_depth: ofPages('page_depth', 'page_id', {}, '', 't.origin'),
  visit: ofVisits('visit'),
  page_change: ofVisits('page_change'),
  sitemap_entry: ofPages('sitemap_entry', 'page_id'),
  discovery: {
    from: 'discovery t',
    rows: 'WHERE t.project_id = @project AND t.host_id > @after ORDER BY t.host_id LIMIT @limit',
    cursor: 't.host_id',
  },
  revisit: ofPages('revisit', 'page_id'),
  orphan: ofPages('orphan', 'page_id'),
  request: {
    from: 'request t',
    rows: `WHERE t.id > @after AND t.run_id IN (SELECT id FROM run WHERE project_id = @project)
      ORDER BY t.id LIMIT @limit`,
    cursor: 't.id',
  },
};

/** Rows that a table alone tells which project they are of: the hosts and robots.txt it has to do with. */
export function listShared(db: Database, projectId: number): void {
  dropShared(db);
  db.exec('CREATE TEMP TABLE copied_host (id INTEGER PRIMARY KEY)');
  db.prepare(
    `INSERT INTO temp.copied_host SELECT host_id FROM url WHERE project_id = @project
     UNION SELECT host_id FROM host_queue WHERE project_id = @project AND (requests > 0 OR closed_state IS NOT NULL)
     UNION SELECT host_id FROM discovery WHERE project_id = @project
     UNION SELECT host_id FROM request WHERE run_id IN (SELECT id FROM run WHERE project_id = @project)`,
  ).run({ project: projectId });
  db.exec('CREATE TEMP TABLE copied_robots (id INTEGER PRIMARY KEY, origin TEXT NOT NULL)');
  db.exec(
    `INSERT INTO temp.copied_robots (origin) SELECT origin FROM robots_txt
     WHERE host_id IN (SELECT id FROM temp.copied_host) ORDER BY host_id, origin`,
  );
}

export function dropShared(db: Database): void {
  db.exec('DROP TABLE IF EXISTS temp.copied_host; DROP TABLE IF EXISTS temp.copied_robots');
}

function selected(table: CopyTable): string {
  const { columns = {} } = SOURCES[table];
  return columnsOf(table)
    .map(([name, kind]) => asRaw(columns[name] ?? `t.${name}`, kind))
    .join(', ');
}

function asRaw(value: string, kind: ColumnKind): string {
  if (kind === 'host') return `(SELECT name FROM host WHERE id = ${value})`;
  if (kind === 'bytes') return `CASE WHEN ${value} IS NULL THEN NULL ELSE lower(hex(${value})) END`;
  return kind === 'wide' ? `CAST(${value} AS TEXT)` : value;
}

export function isReadInWindows(table: CopyTable): boolean {
  return SOURCES[table].cursor === null;
}

/** The raw rows of a batch, each with the cursor behind its columns where there is one. */
export function prepareRead(db: Database, table: CopyTable): Statement {
  const { from, rows, cursor } = SOURCES[table];
  return db
    .prepare(`SELECT ${selected(table)}${cursor === null ? '' : `, ${cursor}`} FROM ${from} ${rows}`)
    .raw();
}

/** The stored row of a shared table by its key, with what tells whether crawls of this file have used it behind. */
export function prepareFind(db: Database, table: 'host' | 'robots_txt'): Statement {
  const isInUse = table === 'host' ? 't.fence > 0' : '0';
  const key = table === 'host' ? 'name' : 'origin';
  // A lease on it is this file's own affair.
  const columns = columnsOf(table).map(([name, kind]) => asRaw(`t.${name}`, kind));
  return db.prepare(`SELECT ${columns.join(', ')}, ${isInUse} FROM ${table} t WHERE t.${key} = ?`).raw();
}

/** What happens to a row whose key is there already. */
const CONFLICTS: Partial<Record<CopyTable, string>> = {
  // The politer of both: later times, longer pauses.
  host: `ON CONFLICT (name) DO UPDATE SET not_before = max(not_before, excluded.not_before),
    blocked_until = max(blocked_until, excluded.blocked_until), consecutive_429 = max(consecutive_429, excluded.consecutive_429),
    adaptive_ms = max(adaptive_ms, excluded.adaptive_ms), taken_over = max(taken_over, excluded.taken_over),
    distrusted_until = max(distrusted_until, excluded.distrusted_until),
    announced = CASE WHEN announced + unannounced = 0 THEN excluded.announced ELSE announced END,
    unannounced = CASE WHEN announced + unannounced = 0 THEN excluded.unannounced ELSE unannounced END,
    head_checks = CASE WHEN head_checks = 0 THEN excluded.head_checks ELSE head_checks END,
    average_ms = CASE WHEN samples = 0 THEN excluded.average_ms ELSE average_ms END,
    samples = CASE WHEN samples = 0 THEN excluded.samples ELSE samples END`,
  robots_txt: `ON CONFLICT (origin) DO UPDATE SET host_id = excluded.host_id, status = excluded.status, body = excluded.body,
    fetched_at = excluded.fetched_at, expires_at = excluded.expires_at, delay_seconds = excluded.delay_seconds
    WHERE excluded.fetched_at > fetched_at`,
  // The row that keeps the ids reserved gives way to the last page's.
  url: `ON CONFLICT (id) DO UPDATE SET host_id = excluded.host_id, state = excluded.state, priority = excluded.priority,
    depth = excluded.depth, attempts = excluded.attempts, hops = excluded.hops, retry_at = excluded.retry_at,
    discovered_run = excluded.discovered_run, discovered_at = excluded.discovered_at, referrer_id = excluded.referrer_id,
    url = excluded.url, fetch_url = excluded.fetch_url, reason = excluded.reason,
    known_state = excluded.known_state, known_reason = excluded.known_reason, left_run = excluded.left_run,
    left_reason = excluded.left_reason`,
};

/** Columns that a file does not have: it finds the host in the page's row. */
const NOT_KEPT: Partial<Record<CopyTable, readonly string[]>> = {
  fetched: ['host_id', 'redirect_host'],
  page_text: ['host_id'],
  link_set: ['host_id'],
  link_change: ['host_id'],
  redirect_wait: ['target_host', 'source_host'],
  lowering: ['host_id'],
  page_depth: ['host_id'],
  visit: ['host_id'],
  page_change: ['host_id'],
  sitemap_entry: ['host_id'],
  revisit: ['host_id'],
  orphan: ['host_id'],
  run: ['id'],
};
const WITH_PROJECT: ReadonlySet<CopyTable> = new Set(['run', 'host_queue', 'url', 'origin', 'discovery']);

/** Writes neutral rows of a table as rows of the file. */
export function createRowWriter(
  db: Database,
  table: CopyTable,
  projectId: number,
  { pages, runs }: Numbering,
): (rows: readonly CopyRow[]) => void {
  const hosts = createHostIds(db);
  const toValue: Partial<Record<ColumnKind, (value: never) => unknown>> = {
    page: (number: number) => pages.idOf(number),
    run: (number: number) => runs[number - 1],
    host: (name: string) => hosts.idOf(name),
    pages: (numbers: number[]) => JSON.stringify(numbers.map((number) => pages.idOf(number))),
    flags: (flags: number[]) => JSON.stringify(flags),
    texts: (texts: string[]) => JSON.stringify(texts),
  };
  const kept = columnsOf(table)
    .map(([name, kind], at) => ({ name, kind, at, convert: toValue[kind] }))
    .filter(({ name }) => NOT_KEPT[table]?.includes(name) !== true);
  const names = kept.map(({ name }) => name);
  const marks = kept.map(({ kind }) => MARKS[kind] ?? '?');
  if (WITH_PROJECT.has(table)) {
    names.push('project_id');
    marks.push(String(projectId));
  }
  const insert = db.prepare(
    `INSERT INTO ${table} (${names.join(', ')}) VALUES (${marks.join(', ')}) ${CONFLICTS[table] ?? ''}`,
  );
  return (rows) => {
    for (const row of rows) {
      insert.run(
        kept.map(({ at, convert }) => {
          const value = row[at];
          return value === null || convert === undefined ? value : convert(value as never);
        }),
      );
    }
  };
}

const MARKS: Partial<Record<ColumnKind, string>> = { bytes: 'unhex(?)', wide: 'CAST(? AS INTEGER)' };
