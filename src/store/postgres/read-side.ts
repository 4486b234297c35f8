/**
 * The read side on PostgreSQL: the answers of sqlite/read-side.ts, row for row. Every batch is a statement of its own,
 * by keyset, so that no listing keeps a transaction open while it is printed. Its sessions are read-only where the
 * server itself is spoken to: they cannot write, whatever is asked of them.
 * A page is looked up in its host's partition; only what names no host is asked of all of them.
 */
import { COUNTING_WORD_NAMES, COUNTING_WORDS, stateList } from '../../frontier/counting-words.ts';
import { PAGE_STATES, pageStateName } from '../../frontier/page-state.ts';
import { explainFailures } from '../explain-failures.ts';
import { IS_EXTERNAL, IS_NOT_EXTERNAL } from '../external-urls.ts';
import { createGivableSide } from '../give-up.ts';
import { readHosts } from '../host-filter.ts';
import { REQUEST_KINDS, type StoredRobots } from '../host-port.ts';
import { orderOfPages, type PagePlace } from '../page-order.ts';
import { pageRowList } from '../page-views.ts';
import { IS_SEEN, projectColumns } from '../project-rows.ts';
import type { Questions } from '../question-names.ts';
import { createListReader } from '../read-lists.ts';
import type {
  HostRow,
  LoggedRequest,
  PageFilter,
  PageRow,
  ProjectRow,
  RequestRow,
  RunRow,
  StoredRun,
} from '../read-rows.ts';
import type { ReadSide } from '../read-side.ts';
import { cancelledBy } from './cancel-queries.ts';
import { disconnect, postgresError, type Sql } from './connection.ts';
import { createListDatabase } from './list-database.ts';
import { openForReading } from './open-database.ts';
import { readProjectSettings } from './project-settings.ts';
import { columnsOf } from './read-columns.ts';
import { readFigures } from './read-figures.ts';
import { createGraphReader } from './read-graph.ts';
import { createHistoryReader } from './read-history.ts';
import { createLinkReader } from './read-links.ts';
import { readErrors, readReport } from './read-report.ts';
import { createRevisitReader } from './read-revisits.ts';
import { createSitemapReader } from './read-sitemaps.ts';
import { readTotals } from './read-totals.ts';
import { workersOf } from './read-workers.ts';
import { readLook } from './reader-looks.ts';
import { ask } from './session.ts';
import { createUrlIdentity } from './url-identity.ts';
import { hex, iso } from './views.ts';

const BATCH = 1000;
/** A listing, what is asked while it runs, and one to spare. */
const CONNECTIONS = 3;

/** 0 is no time. */
const time = (column: string) => `CASE WHEN ${column} > 0 THEN ${iso(column)} END`;
/** Halves go up, as in SQLite; PostgreSQL rounds them to even. */
const whole = (number: string) => `floor(${number} + 0.5)`;

const PAGE_COLUMNS = pageRowList({
  time,
  hash: hex,
  bits: (column) => `lpad(to_hex(COALESCE(${column}, 0)), 16, '0')`,
  frequency: 'f.change_frequency',
});
const FETCHED = 'fetched f ON f.page_id = u.id AND f.host_id = u.host_id';
/** The site of a page: its host, with the port where the URL has one. A robots.txt's is that of its origin. */
const SITE = "split_part(u.url, '/', 3)";
/** Around a choice of rows of url. */
const pagesFrom = (
  urls: string,
  key?: string,
) => `SELECT ${PAGE_COLUMNS}${key === undefined ? '' : `, ${key} AS key`}
  FROM ${urls} u JOIN host h ON h.id = u.host_id
  JOIN project p ON p.id = u.project_id LEFT JOIN ${FETCHED}`;

const COUNTS = COUNTING_WORD_NAMES.map(
  (word) => `count(*) FILTER (WHERE u.state IN (${stateList(COUNTING_WORDS[word].states)})) AS ${word}`,
).join(', ');
const COUNTED = COUNTING_WORD_NAMES.map((word) => `c.${word}`).join(', ');

const RUN_COLUMNS = `r.id AS run, p.name AS project, r.status, ${time('r.started_at')} AS started_at,
  ${time('r.finished_at')} AS finished_at, r.pages, r.requests, r.bytes, r.config_hash, r.error, r.metadata, r.mode,
  r.mode_reason, r.left_out`;
const RUNS = `run r JOIN project p ON p.id = r.project_id AND ${IS_SEEN}`;
/** To be followed by more conditions. */
const PROJECTS = `SELECT ${projectColumns(time, 'p.uid')} FROM project p WHERE ${IS_SEEN}`;

export async function openPostgresReadSide(address: string): Promise<ReadSide> {
  // Not under the workers' name: one that reads slowly is none that was stopped (see FREE_LOCKS in workers.ts).
  const options = { max: CONNECTIONS, applicationName: 'sumi reading', isReadOnly: true };
  const sql = await openForReading(address, options);
  const explain = (error: unknown) => postgresError(error, address);
  return createGivableSide(
    (signal) => explainFailures(questionsOf(cancelledBy(sql, signal)), explain),
    () => disconnect(sql),
  );
}

function questionsOf(sql: Sql): Questions {
  const links = createLinkReader(sql, BATCH);
  return {
    projects: () => ask<ProjectRow>(sql, `${PROJECTS} ORDER BY p.id`),
    projectByUid: (uid) => one<ProjectRow>(sql, `${PROJECTS} AND p.uid = $1`, [uid]),
    runs: (filter) => runsOf(sql, filter),
    run: (id) => one<StoredRun>(sql, `SELECT ${RUN_COLUMNS}, r.config FROM ${RUNS} WHERE r.id = $1`, [id]),
    lastRun: (projectId) =>
      one<StoredRun>(
        sql,
        `SELECT ${RUN_COLUMNS}, r.config FROM ${RUNS} WHERE r.project_id = $1 ORDER BY r.id DESC LIMIT 1`,
        [projectId],
      ),
    pages: (filter) => pagesOf(sql, filter),
    page: (projectId, url) => pageByUrl(sql, projectId, url),
    pageById: async (id) => named(await one<RawPage>(sql, `${pagesFrom('url')} WHERE u.id = $1`, [id])),
    links: links.all,
    linksOf: links.of,
    linksTo: links.linksTo,
    countExternal: (project) => countExternal(sql, project),
    ...createGraphReader(sql),
    ...createHistoryReader(sql),
    ...createSitemapReader(sql),
    ...createRevisitReader(sql),
    readerLook: (projectId, reader) => readLook(sql, projectId, reader),
    projectSettings: (project) => readProjectSettings(sql, project),
    hosts: (filter) => hostsOf(sql, filter),
    columns: (question) => columnsOf(sql, question, (filter) => hostsOf(sql, filter)),
    hostId: async (name) =>
      (await one<{ id: number }>(sql, 'SELECT id FROM host WHERE name = $1', [name]))?.id ?? null,
    blockedHosts: async (at) => {
      const text = 'SELECT id FROM host WHERE blocked_until > $1 ORDER BY id';
      return (await ask<{ id: number }>(sql, text, [Math.round(at)])).map(({ id }) => id);
    },
    pageText: async (id) =>
      (await one<{ text: string }>(sql, 'SELECT text FROM page_text WHERE page_id = $1', [id]))?.text ?? null,
    requests: (pageId) => requestsOf(sql, pageId),
    robots: (origin) =>
      one<StoredRobots>(
        sql,
        `SELECT origin, status, body, fetched_at AS "fetchedAt", expires_at AS "expiresAt",
           delay_seconds AS "delaySeconds" FROM robots_txt WHERE origin = $1`,
        [origin],
      ),
    workers: () => workersOf(sql),
    totals: (project) => readTotals(sql, project),
    report: (runId) => readReport(sql, runId),
    changeFigures: (projectId, runId) => readFigures(sql, projectId, runId),
    mapErrors: (projectId, runId) => readErrors(sql, projectId, runId),
    requestLog: () => requestLogOf(sql),
    repeatedUrls: () => repeatedUrlsOf(sql),
    ...createListReader(
      createListDatabase(sql, {
        site: SITE,
        pages: `${pagesFrom('url')} WHERE u.id = ANY ($1::int[])`,
        projects: `${PROJECTS} AND p.id = ANY ($1::int[])`,
        runs: `SELECT ${RUN_COLUMNS} FROM ${RUNS} WHERE r.id = ANY ($1::int[])`,
        linksFrom: links.linksFrom,
      }),
    ),
  };
}

async function one<Row>(sql: Sql, text: string, values: unknown[]): Promise<Row | null> {
  const [row] = await ask<Row>(sql, text, values);
  return row ?? null;
}

type RawPage = Omit<PageRow, 'state'> & { state: number };

function named(raw: RawPage | null): PageRow | null {
  return raw === null ? null : { ...raw, state: pageStateName(raw.state) };
}

/** The identity is unique in its host, and the host is that of the URL: one lookup. */
async function pageByUrl(sql: Sql, projectId: number, url: string): Promise<PageRow | null> {
  if (!URL.canParse(url)) return null;
  const host = await one<{ id: number }>(sql, 'SELECT id FROM host WHERE name = $1', [new URL(url).hostname]);
  if (host === null) return null;
  const key = await one<{ value: string }>(sql, "SELECT value FROM meta WHERE key = 'hash_key'", []);
  const identity = createUrlIdentity(key!.value)(url);
  const where = 'WHERE u.host_id = $1 AND u.project_id = $2 AND u.identity = $3';
  return named(await one<RawPage>(sql, `${pagesFrom('url')} ${where}`, [host.id, projectId, identity]));
}

/** Batches by a growing place, as many rows as are wanted. */
async function* batches<Row, Place>(
  limit: number | undefined,
  order: { first: Place; placeOf: (row: Row) => Place; batch?: number },
  read: (after: Place, size: number) => Promise<Row[]>,
): AsyncGenerator<Row> {
  let left = limit ?? Number.POSITIVE_INFINITY;
  for (let after = order.first; left > 0; ) {
    const size = Math.min(order.batch ?? BATCH, left);
    const rows = await read(after, size);
    yield* rows;
    if (rows.length < size) return;
    after = order.placeOf(rows[rows.length - 1]);
    left -= rows.length;
  }
}

/** The batch is cut from url alone wherever that is possible, so that the joins see no more than its rows. */
async function* pagesOf(sql: Sql, filter: PageFilter): AsyncGenerator<PageRow> {
  const order = orderOfPages(filter, 'u.url COLLATE "C"');
  const wide = order.columns.length;
  const conditions = [`(${order.columns}) > (${order.columns.map((_, i) => `$${i + 1}`)})`];
  const values: unknown[] = [];
  const add = (condition: string, value: unknown) => {
    values.push(value);
    conditions.push(condition.replace('?', `$${values.length + wide + 1}`));
  };
  const { project, states, statusCodes, hosts, changes, changingMoreThan, notVisitedSince } = filter;
  if (project !== undefined) add('u.project_id = (SELECT id FROM project WHERE name = ?)', project);
  if (states !== undefined)
    add(
      'u.state = ANY (?::smallint[])',
      states.map((state) => PAGE_STATES[state]),
    );
  if (hosts !== undefined) {
    const wanted = readHosts(hosts);
    add('u.host_id = ANY (?::int[])', await hostIdsOf(sql, wanted.hosts));
    if (wanted.sites.length > 0) {
      // The names stand as sites among others: what a name means is said by its host alone.
      const whole = (await hostIdsOf(sql, wanted.names)).map(String).join(', ') || 'NULL';
      add(`(u.host_id IN (${whole}) OR ${SITE} = ANY (?::text[]))`, wanted.sites);
    }
  }
  if (statusCodes !== undefined) add('f.status_code = ANY (?::int[])', [...statusCodes]);
  if (changes !== undefined) add('f.change = ANY (?::text[])', [...changes]);
  if (changingMoreThan !== undefined) add('f.change_frequency > ?', changingMoreThan);
  if (filter.withoutExternal) conditions.push(IS_NOT_EXTERNAL);
  if (notVisitedSince !== undefined) add('f.visited_at < ?', Math.round(notVisitedSince));
  const asksVisits = [statusCodes, changes, changingMoreThan, notVisitedSince].some(
    (value) => value !== undefined,
  );
  const visited = asksVisits ? `JOIN ${FETCHED}` : '';
  const text = `${pagesFrom(
    `(SELECT u.* FROM url u ${visited} WHERE ${conditions.join(' AND ')} ORDER BY ${order.columns} LIMIT $${wide + 1})`,
    order.key,
  )} ORDER BY ${order.columns}`;
  const read = (after: PagePlace, size: number) =>
    ask<RawPage & { key: number }>(sql, text, [...after, size, ...values]);
  for await (const { key: _, ...row } of batches(filter.limit, order, read)) yield named(row)!;
}

async function countExternal(sql: Sql, project: string | undefined): Promise<number> {
  const mine = project === undefined ? '' : 'AND u.project_id = (SELECT id FROM project WHERE name = $1)';
  const values = project === undefined ? [] : [project];
  const [{ n }] = await ask<{ n: number }>(
    sql,
    `SELECT count(*) AS n FROM url u WHERE ${IS_EXTERNAL} ${mine}`,
    values,
  );
  return n;
}

async function hostIdsOf(sql: Sql, names: readonly string[]): Promise<number[]> {
  const rows = await ask<{ id: number }>(sql, 'SELECT id FROM host WHERE name = ANY ($1::text[])', [
    [...names],
  ]);
  return rows.map(({ id }) => id);
}

function runsOf(sql: Sql, filter: { project?: string; limit?: number }): AsyncGenerator<RunRow> {
  const text = `SELECT ${RUN_COLUMNS} FROM ${RUNS}
    WHERE r.id > $1 AND ($3::text IS NULL OR p.name = $3) ORDER BY r.id LIMIT $2`;
  const read = (after: number, size: number) => ask<RunRow>(sql, text, [after, size, filter.project ?? null]);
  return batches(filter.limit, { first: 0, placeOf: ({ run }) => run }, read);
}

/** A batch of hosts, each counted in its own partition, a row a port; hosts without pages of the project are left out. */
async function* hostsOf(sql: Sql, filter: { project?: string; limit?: number }): AsyncGenerator<HostRow> {
  const mine = (table: string) =>
    `($3::text IS NULL OR ${table}.project_id = (SELECT id FROM project WHERE name = $3))`;
  const robots = `FROM robots_txt r WHERE r.host_id = h.id AND split_part(r.origin, '/', 3) IN (c.site, 'www.' || c.site)`;
  const text = `SELECT h.id AS at, c.site, c.site AS host, c.known_urls, ${COUNTED},
      COALESCE((SELECT sum(q.requests) FROM host_queue q WHERE q.host_id = h.id AND ${mine('q')}), 0) AS requests,
      ${whole('h.average_ms')} AS average_ms, ${whole('h.adaptive_ms')} AS adaptive_delay_ms,
      ${time('h.not_before')} AS next_slot_at, ${time('h.blocked_until')} AS blocked_until, h.consecutive_429, h.failures,
      (SELECT r.status ${robots} ORDER BY r.fetched_at DESC LIMIT 1) AS robots_status,
      (SELECT ${time('max(r.fetched_at)')} ${robots}) AS robots_fetched_at,
      (SELECT q.closed_reason FROM host_queue q
        WHERE q.host_id = h.id AND q.closed_reason IS NOT NULL AND ${mine('q')} LIMIT 1) AS closed
    FROM (SELECT * FROM host WHERE id > $1 ORDER BY id LIMIT $2) h LEFT JOIN LATERAL (
      SELECT ${SITE} AS site, count(*) AS known_urls, ${COUNTS}
      FROM url u WHERE u.host_id = h.id AND ${mine('u')} GROUP BY 1) c ON true
    ORDER BY h.id, c.site COLLATE "C"`;
  const read = (after: number, size: number) =>
    ask<HostRow & { at: number; site: string | null }>(sql, text, [after, size, filter.project ?? null]);
  let left = filter.limit ?? Number.POSITIVE_INFINITY;
  if (left <= 0) return;
  for await (const { at: _, site, ...row } of batches(
    undefined,
    { first: 0, placeOf: ({ at }) => at },
    read,
  )) {
    // A host of which this project has no URL.
    if (site === null) continue;
    yield row;
    if (--left <= 0) return;
  }
}

async function requestsOf(sql: Sql, pageId: number): Promise<LoggedRequest[]> {
  const rows = await ask<Omit<LoggedRequest, 'kind'> & { kind: number }>(
    sql,
    `SELECT q.run_id AS run, q.kind, ${time('q.sent_at')} AS sent_at, q.status_code,
       ${whole('q.ended_at - q.sent_at')} AS duration_ms, q.wire_bytes AS bytes, q.failure
     FROM request q WHERE q.page_id = $1 ORDER BY q.id`,
    [pageId],
  );
  return rows.map((row) => ({ ...row, kind: REQUEST_KINDS[row.kind] }));
}

/** In the order of the index on host and time, so that no batch sorts more than itself. */
async function* requestLogOf(sql: Sql): AsyncGenerator<RequestRow> {
  const text = `SELECT q.id, q.run_id AS run, q.host_id AS "hostId", h.name AS host, q.kind, q.slot_at AS "slotAt",
      q.sent_at AS "sentAt", q.ended_at AS "endedAt", q.delay_ms AS "delayMs", q.per_host AS "perHost",
      q.status_code AS "statusCode", q.blocked_until AS "blockedUntil"
    FROM (SELECT * FROM request WHERE (host_id, sent_at, id) > ($1::int, $2::float8, $3::bigint)
      ORDER BY host_id, sent_at, id LIMIT $4) q JOIN host h ON h.id = q.host_id
    ORDER BY q.host_id, q.sent_at, q.id`;
  for (let after = [0, 0, 0]; ; ) {
    const rows = await ask<Omit<RequestRow, 'kind'> & { kind: number; hostId: number }>(sql, text, [
      ...after,
      BATCH,
    ]);
    for (const { hostId: _, ...row } of rows) yield { ...row, kind: REQUEST_KINDS[row.kind] };
    const last = rows.at(-1);
    if (last === undefined || rows.length < BATCH) return;
    after = [last.hostId, last.sentAt, last.id];
  }
}

/** Equal URLs have the same host, so that each partition is looked through for itself. */
async function* repeatedUrlsOf(sql: Sql): AsyncGenerator<{ project: string; url: string; count: number }> {
  const found = sql<{ project: string; url: string; count: number }[]>`
    SELECT p.name AS project, c.url, c.count
    FROM (SELECT u.project_id, u.url, count(*) AS count FROM url u
      GROUP BY u.host_id, u.project_id, u.url HAVING count(*) > 1) c JOIN project p ON p.id = c.project_id`;
  for await (const rows of found.cursor(BATCH)) yield* rows;
}
