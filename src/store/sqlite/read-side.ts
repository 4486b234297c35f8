/**
 * The read side on SQLite. Every batch is a statement of its own, so that a long listing never pins the writer's log;
 * only the audit's sorted replay reads in one go. Opened read-only: it cannot write, whatever is asked of it.
 * Bounded memory: batches of rows, and for links one page's set at a time.
 */
import type { Database } from 'better-sqlite3';
import { MOST_CHANGES_A_DAY } from '../../change/visit-record.ts';
import { sumiError } from '../../errors.ts';
import { PAGE_STATES, pageStateName } from '../../frontier/page-state.ts';
import { explainFailures } from '../explain-failures.ts';
import { IS_EXTERNAL, IS_NOT_EXTERNAL } from '../external-urls.ts';
import { createGivableSide } from '../give-up.ts';
import { readHosts } from '../host-filter.ts';
import { REQUEST_KINDS, type StoredRobots } from '../host-port.ts';
import { orderOfPages } from '../page-order.ts';
import { pageRowList } from '../page-views.ts';
import { IS_SEEN } from '../project-rows.ts';
import type { Questions } from '../question-names.ts';
import { createListReader } from '../read-lists.ts';
import type { LoggedRequest, PageFilter, PageRow, RequestRow, RunRow, StoredRun } from '../read-rows.ts';
import type { ReadSide } from '../read-side.ts';
import { createListDatabase } from './list-database.ts';
import { openForReading, storeError } from './open-database.ts';
import { PROJECTS, readProjectByUid, readProjects } from './project-rows.ts';
import { readSettings } from './project-settings.ts';
import { columnsOf } from './read-columns.ts';
import { readFigures } from './read-figures.ts';
import { createGraphReader } from './read-graph.ts';
import { createHistoryReader } from './read-history.ts';
import { hostsOf, iso, SITE } from './read-hosts.ts';
import { createLinkReader } from './read-links.ts';
import { showAsCurrent } from './read-older.ts';
import { readErrors, readReport } from './read-report.ts';
import { createRevisitReader } from './read-revisits.ts';
import { createSitemapReader } from './read-sitemaps.ts';
import { readTotals } from './read-totals.ts';
import { workersOf } from './read-workers.ts';
import { readLook } from './reader-looks.ts';

const BATCH = 1000;

/** A file of an older version may hold more, and reading does not migrate it. */
const FREQUENCY = `min(f.change_frequency, ${MOST_CHANGES_A_DAY})`;

const PAGE_COLUMNS = pageRowList({
  time: iso,
  hash: (column) => `NULLIF(lower(hex(${column})), '')`,
  bits: (column) => `printf('%016x', ${column})`,
  frequency: FREQUENCY,
});
const PAGES = `url u JOIN host h ON h.id = u.host_id JOIN project p ON p.id = u.project_id
  LEFT JOIN fetched f ON f.page_id = u.id`;

const RUN_COLUMNS = `r.id AS run, p.name AS project, r.status, ${iso('r.started_at')} AS started_at,
  ${iso('r.finished_at')} AS finished_at, r.pages, r.requests, r.bytes, r.config_hash, r.error, r.metadata, r.mode,
  r.mode_reason, r.left_out`;
const RUNS = `run r JOIN project p ON p.id = r.project_id AND ${IS_SEEN}`;

export function openSqliteReadSide(path: string): ReadSide {
  const db = openForReading(path);
  // A file that a crawler made but never filled holds no tables to ask.
  if (db.pragma('user_version', { simple: true }) === 0) {
    db.close();
    throw sumiError('db-missing', { file: path });
  }
  showAsCurrent(db);
  const onePage = db.prepare(`SELECT ${PAGE_COLUMNS} FROM ${PAGES} WHERE u.id = ?`);
  const pageByUrl = db.prepare(`SELECT ${PAGE_COLUMNS} FROM ${PAGES} WHERE u.project_id = ? AND u.url = ?`);
  const links = createLinkReader(db, BATCH);
  const side: Questions & Pick<ReadSide, 'close'> = {
    projects: async () => readProjects(db),
    projectByUid: async (uid) => readProjectByUid(db, uid),
    runs: (filter) => runsOf(db, filter),
    run: async (id) =>
      (db.prepare(`SELECT ${RUN_COLUMNS}, r.config FROM ${RUNS} WHERE r.id = ?`).get(id) as StoredRun) ??
      null,
    lastRun: async (projectId) =>
      (db
        .prepare(
          `SELECT ${RUN_COLUMNS}, r.config FROM ${RUNS} WHERE r.project_id = ? ORDER BY r.id DESC LIMIT 1`,
        )
        .get(projectId) as StoredRun) ?? null,
    pages: (filter) => pagesOf(db, filter),
    page: async (projectId, url) => named(pageByUrl.get(projectId, url)),
    pageById: async (id) => named(onePage.get(id)),
    links: links.all,
    linksOf: links.of,
    linksTo: links.linksTo,
    countExternal: (project) => countExternal(db, project),
    ...createGraphReader(db),
    hosts: (filter) => streamed(hostsOf(db, filter)),
    columns: (question) => streamed(columnsOf(db, question)),
    hostId: async (name) =>
      (db.prepare('SELECT id FROM host WHERE name = ?').pluck().get(name) as number) ?? null,
    blockedHosts: async (at) =>
      db.prepare('SELECT id FROM host WHERE blocked_until > ? ORDER BY id').pluck().all(at) as number[],
    pageText: async (id) => {
      const text = db.prepare('SELECT text FROM page_text WHERE page_id = ?').pluck().get(id);
      return text === undefined || text === null ? null : String(text);
    },
    requests: async (pageId) => requestsOf(db, pageId),
    ...createHistoryReader(db),
    ...createSitemapReader(db),
    ...createRevisitReader(db),
    readerLook: async (projectId, reader) => readLook(db, projectId, reader),
    projectSettings: async (project) => readSettings(db, project),
    robots: async (origin) =>
      (db
        .prepare(
          `SELECT origin, status, body, fetched_at AS fetchedAt, expires_at AS expiresAt,
             delay_seconds AS delaySeconds FROM robots_txt WHERE origin = ?`,
        )
        .get(origin) as StoredRobots) ?? null,
    workers: () => workersOf(db),
    totals: async (project) => readTotals(db, project),
    report: (runId) => readReport(db, runId),
    changeFigures: (projectId, runId) => readFigures(db, projectId, runId),
    mapErrors: (projectId, runId) => readErrors(db, projectId, runId),
    requestLog: () => requestLogOf(db),
    repeatedUrls: () => repeatedUrlsOf(db),
    ...createListReader(
      createListDatabase(db, {
        site: SITE,
        pages: (wanted) => `SELECT ${PAGE_COLUMNS} FROM ${PAGES} WHERE u.id IN (${wanted})`,
        projects: (wanted) => `${PROJECTS} AND p.id IN (${wanted})`,
        runs: (wanted) => `SELECT ${RUN_COLUMNS} FROM ${RUNS} WHERE r.id IN (${wanted})`,
        linksFrom: links.linksFrom,
      }),
    ),
    close: async () => void db.close(),
  };
  const { close, ...questions } = explainFailures(side, (error) => storeError(error, path));
  // A statement runs to its end before anybody can give it up: between two answers it is noticed.
  const until = (signal: AbortSignal) => createGivableSide(() => questions, close, signal);
  return { ...questions, until, close };
}

async function* streamed<Row>(rows: Iterable<Row>): AsyncGenerator<Row> {
  yield* rows;
}

type RawPage = Omit<PageRow, 'state'> & { state: number };

function named(row: unknown): PageRow | null {
  if (row === undefined) return null;
  const raw = row as RawPage;
  return { ...raw, state: pageStateName(raw.state) };
}

async function* pagesOf(db: Database, filter: PageFilter): AsyncGenerator<PageRow> {
  const order = orderOfPages(filter, 'u.url');
  const conditions = [`(${order.columns}) > (${order.columns.map(() => '?')})`];
  const values: (string | number)[] = [];
  const add = (column: string, wanted: readonly (string | number)[] | undefined) => {
    if (wanted === undefined) return;
    conditions.push(`${column} IN (${wanted.map(() => '?').join(', ')})`);
    values.push(...wanted);
  };
  add('p.name', filter.project === undefined ? undefined : [filter.project]);
  add(
    'u.state',
    filter.states?.map((state) => PAGE_STATES[state]),
  );
  add('f.status_code', filter.statusCodes);
  if (filter.hosts !== undefined) {
    const { names, sites } = readHosts(filter.hosts);
    conditions.push(`(h.name IN (${names.map(() => '?')}) OR ${SITE} IN (${sites.map(() => '?')}))`);
    values.push(...names, ...sites);
  }
  add('f.change', filter.changes);
  if (filter.withoutExternal) conditions.push(IS_NOT_EXTERNAL);
  if (filter.changingMoreThan !== undefined) {
    conditions.push(`${FREQUENCY} > ?`);
    values.push(filter.changingMoreThan);
  }
  if (filter.notVisitedSince !== undefined) {
    conditions.push('f.visited_at < ?');
    values.push(filter.notVisitedSince);
  }
  // CROSS JOIN pins url as the outer loop: the keyset is its rowid, and a planner that starts at host would sort.
  const read = db.prepare(
    `SELECT ${PAGE_COLUMNS}, ${order.key} AS key FROM ${PAGES.replaceAll(' JOIN ', ' CROSS JOIN ').replace('LEFT CROSS', 'LEFT')}
     WHERE ${conditions.join(' AND ')} ORDER BY ${order.columns} LIMIT ?`,
  );
  let left = filter.limit ?? Number.POSITIVE_INFINITY;
  for (let after = order.first; left > 0; ) {
    const size = Math.min(order.batch, left);
    const rows = read.all(...after, ...values, size) as (RawPage & { key: number })[];
    for (const { key: _, ...row } of rows) yield { ...row, state: pageStateName(row.state) };
    if (rows.length < size) return;
    after = order.placeOf(rows[rows.length - 1]);
    left -= rows.length;
  }
}

async function countExternal(db: Database, project: string | undefined): Promise<number> {
  const mine = project === undefined ? '' : 'AND u.project_id = (SELECT id FROM project WHERE name = ?)';
  const values = project === undefined ? [] : [project];
  return db
    .prepare(`SELECT count(*) FROM url u WHERE ${IS_EXTERNAL} ${mine}`)
    .pluck()
    .get(...values) as number;
}

async function* runsOf(db: Database, filter: { project?: string; limit?: number }): AsyncGenerator<RunRow> {
  const read = db.prepare(
    `SELECT ${RUN_COLUMNS} FROM ${RUNS} WHERE r.id > ? AND (? IS NULL OR p.name = ?) ORDER BY r.id LIMIT ?`,
  );
  const project = filter.project ?? null;
  let left = filter.limit ?? Number.POSITIVE_INFINITY;
  for (let after = 0; left > 0; ) {
    const size = Math.min(BATCH, left);
    const rows = read.all(after, project, project, size) as RunRow[];
    yield* rows;
    if (rows.length < size) return;
    after = rows[rows.length - 1].run;
    left -= rows.length;
  }
}

function requestsOf(db: Database, pageId: number): LoggedRequest[] {
  const rows = db
    .prepare(
      `SELECT q.run_id AS run, q.kind, ${iso('q.sent_at')} AS sent_at, q.status_code,
         CAST(round(q.ended_at - q.sent_at) AS INTEGER) AS duration_ms, q.wire_bytes AS bytes, q.failure
       FROM request q WHERE q.page_id = ? ORDER BY q.id`,
    )
    .all(pageId) as (Omit<LoggedRequest, 'kind'> & { kind: number })[];
  return rows.map((row) => ({ ...row, kind: REQUEST_KINDS[row.kind] }));
}

/** One sorted pass; SQLite sorts on disk when it must. */
async function* requestLogOf(db: Database): AsyncGenerator<RequestRow> {
  const rows = db
    .prepare(
      `SELECT q.id, q.run_id AS run, h.name AS host, q.kind, q.slot_at AS slotAt, q.sent_at AS sentAt,
         q.ended_at AS endedAt, q.delay_ms AS delayMs, q.per_host AS perHost, q.status_code AS statusCode,
         q.blocked_until AS blockedUntil
       FROM request q JOIN host h ON h.id = q.host_id ORDER BY q.host_id, q.sent_at, q.id`,
    )
    .iterate() as IterableIterator<Omit<RequestRow, 'kind'> & { kind: number }>;
  for (const row of rows) yield { ...row, kind: REQUEST_KINDS[row.kind] };
}

async function* repeatedUrlsOf(
  db: Database,
): AsyncGenerator<{ project: string; url: string; count: number }> {
  yield* db
    .prepare(
      `SELECT p.name AS project, u.url, count(*) AS count FROM url u JOIN project p ON p.id = u.project_id
       GROUP BY u.project_id, u.url HAVING count(*) > 1`,
    )
    .iterate() as IterableIterator<{ project: string; url: string; count: number }>;
}
