/**
 * The figures of one run, for `sumi report`: asked in plain SQL that both databases understand, so that the same crawl
 * gives the same report on either; an adapter brings only its way to ask and the few words in which they differ.
 *
 * Promises: hosts, kinds of requests, statuses and retries come from the request log and are the run's own until the log is cleared.
 * A page keeps only its last visit: states, types, depths and errors are those of all pages of the project where the
 * run is its latest, and of the pages that no later run has visited or queued again where it is not. Lists are bounded.
 */
import { countUrls, ERROR_STATES, stateList, type UrlCounts } from '../frontier/counting-words.ts';
import { PAGE_STATES, pageStateName } from '../frontier/page-state.ts';
import { MARK_KINDS, REQUEST_KINDS } from './host-port.ts';

export interface DomainFigures {
  host: string;
  requests: number;
  /** GETs of pages, retries included. */
  page_requests: number;
  /** Of these, those without an answer, or answered by 4xx or 5xx. */
  failed_requests: number;
  bytes: number;
  /** Seconds: the greatest delay in force between two requests of the run. */
  delay: number;
  /** Seconds that robots.txt asks for; null when it asks for none. */
  robots_delay: number | null;
  /** HTTP status of robots.txt, 0 without an answer; null when it was not asked for. */
  robots_status: number | null;
}

/** `known_urls` and the words after it count URLs as docs/words.md says. */
export interface RunReport extends UrlCounts {
  is_latest: boolean;
  /** From the start to the end, or to the last answer while there is no end; pauses of a resumed run included. */
  duration_seconds: number;
  pages_by_state: Record<string, number>;
  /** Of page GETs; 0 for no answer. */
  status_codes: Record<string, number>;
  content_types: Record<string, number>;
  requests_by_kind: Record<string, number>;
  hosts_visited: number;
  /** Page GETs beyond the first of each page. */
  retries: number;
  /** Broken and rate-limited URLs. */
  errors: number;
  errors_by_reason: Record<string, number>;
  robots_denials: number;
  queued_by_priority: Record<string, number>;
  bodies_stored: number;
  /** Equal bodies counted once. */
  distinct_bodies: number;
  /** Most requests first. */
  domains: DomainFigures[];
  top_errors: { reason: string; pages: number; example: string }[];
  deepest_pages: { url: string; depth: number; state: string }[];
}

const MOST_DOMAINS = 1000;
const MOST_REASONS = 100;
const MOST_EXAMPLES = 10;

export interface ReportDialect {
  /** How `fetched f` is joined to `url u`. */
  fetchedOfUrl: string;
  /** The depth that stands for none. */
  noDepth: number;
  mediaType(column: string): string;
  /** The text in the order of its bytes, whatever the database's language. */
  byBytes(text: string): string;
}

type Row = Record<string, string | number | null>;
export type AskRows = (sql: string) => Promise<Row[]>;

const { Discovered, Queued, Fetching } = PAGE_STATES;
/** Where a later run exists, these wait for that one. */
const WAITING = `(${Discovered}, ${Queued}, ${Fetching})`;
const DENIED = "u.reason LIKE 'robots: %' AND u.reason NOT LIKE 'robots: unreachable%'";
const IS_ERROR = `u.state IN (${stateList(ERROR_STATES)})`;
const GET = REQUEST_KINDS.indexOf('GET');
const IS_VISIT = `q.kind = ${GET} AND q.page_id IS NOT NULL`;

/** Null when there is no such run. */
export async function readRunReport(
  ask: AskRows,
  dialect: ReportDialect,
  runId: number,
): Promise<RunReport | null> {
  if (!Number.isSafeInteger(runId)) return null;
  const [run] = await ask(
    `SELECT r.project_id, r.started_at, r.finished_at,
       (SELECT max(x.id) FROM run x WHERE x.project_id = r.project_id) AS latest,
       (SELECT max(q.ended_at) FROM request q WHERE q.run_id = r.id AND q.kind NOT IN ${MARK_KINDS}) AS last_answer
     FROM run r WHERE r.id = ${runId}`,
  );
  if (run === undefined) return null;
  const isLatest = Number(run.latest) === runId;
  const startedAt = Number(run.started_at);
  const endedAt = Number(run.finished_at ?? run.last_answer ?? startedAt);
  const pages = `FROM url u LEFT JOIN fetched f ON ${dialect.fetchedOfUrl} WHERE u.project_id = ${Number(run.project_id)}
    AND ${isLatest ? '1 = 1' : `COALESCE(f.run_id, u.discovered_run) = ${runId} AND u.state NOT IN ${WAITING}`}`;
  return {
    is_latest: isLatest,
    duration_seconds: Math.max(0, Math.round(endedAt - startedAt) / 1000),
    ...(await readLog(ask, dialect, runId)),
    ...(await readPages(ask, dialect, runId, pages)),
    ...(await readErrors(ask, dialect, pages)),
  };
}

type LogFigures = Pick<
  RunReport,
  'status_codes' | 'requests_by_kind' | 'hosts_visited' | 'retries' | 'domains'
>;

async function readLog(ask: AskRows, dialect: ReportDialect, runId: number): Promise<LogFigures> {
  const log = `FROM request q WHERE q.run_id = ${runId} AND q.kind NOT IN ${MARK_KINDS}`;
  const kinds = await ask(`SELECT q.kind AS k, count(*) AS n ${log} GROUP BY q.kind ORDER BY q.kind`);
  const [visited] = await ask(
    `SELECT count(*) AS visits, count(DISTINCT q.page_id) AS pages ${log} AND ${IS_VISIT}`,
  );
  const [hosts] = await ask(`SELECT count(DISTINCT q.host_id) AS n ${log}`);
  return {
    status_codes: counted(
      await ask(
        `SELECT q.status_code AS k, count(*) AS n ${log} AND ${IS_VISIT} GROUP BY q.status_code ORDER BY q.status_code`,
      ),
    ),
    requests_by_kind: Object.fromEntries(kinds.map(({ k, n }) => [REQUEST_KINDS[Number(k)], Number(n)])),
    hosts_visited: Number(hosts.n),
    retries: Number(visited.visits) - Number(visited.pages),
    domains: await readDomains(ask, dialect, runId),
  };
}

async function readDomains(ask: AskRows, dialect: ReportDialect, runId: number): Promise<DomainFigures[]> {
  const name = dialect.byBytes('h.name');
  const robots = (column: string) =>
    `(SELECT r.${column} FROM robots_txt r WHERE r.host_id = h.id ORDER BY r.fetched_at DESC, r.origin LIMIT 1)`;
  const rows = await ask(
    `SELECT h.name AS host, c.requests, c.page_requests, c.failed_requests, c.bytes, c.delay_ms,
       ${robots('delay_seconds')} AS robots_delay, ${robots('status')} AS robots_status
     FROM (SELECT q.host_id, count(*) AS requests, sum(q.wire_bytes) AS bytes, max(q.delay_ms) AS delay_ms,
         sum(CASE WHEN ${IS_VISIT} THEN 1 ELSE 0 END) AS page_requests,
         sum(CASE WHEN ${IS_VISIT} AND (q.status_code = 0 OR q.status_code >= 400) THEN 1 ELSE 0 END) AS failed_requests
       FROM request q WHERE q.run_id = ${runId} AND q.kind NOT IN ${MARK_KINDS} GROUP BY q.host_id) c
     JOIN host h ON h.id = c.host_id ORDER BY c.requests DESC, ${name} LIMIT ${MOST_DOMAINS}`,
  );
  return rows.map((row) => ({
    host: String(row.host),
    requests: Number(row.requests),
    page_requests: Number(row.page_requests),
    failed_requests: Number(row.failed_requests),
    bytes: Number(row.bytes),
    delay: Math.round(Number(row.delay_ms)) / 1000,
    robots_delay: row.robots_delay === null ? null : Number(row.robots_delay),
    robots_status: row.robots_status === null ? null : Number(row.robots_status),
  }));
}

type PageFigures = Pick<
  RunReport,
  | 'pages_by_state'
  | 'content_types'
  | 'robots_denials'
  | keyof UrlCounts
  | 'queued_by_priority'
  | 'bodies_stored'
  | 'distinct_bodies'
  | 'deepest_pages'
>;

async function readPages(
  ask: AskRows,
  dialect: ReportDialect,
  runId: number,
  pages: string,
): Promise<PageFigures> {
  const states = await ask(
    `SELECT u.state AS k, count(*) AS n ${pages} GROUP BY u.state ORDER BY n DESC, u.state`,
  );
  const byState = Object.fromEntries(states.map(({ k, n }) => [pageStateName(Number(k)), Number(n)]));
  const type = dialect.mediaType('f.content_type');
  const types = await ask(
    `SELECT ${type} AS k, count(*) AS n ${pages} AND f.run_id = ${runId} AND f.content_type IS NOT NULL
     GROUP BY ${type} ORDER BY n DESC, ${dialect.byBytes(type)} LIMIT ${MOST_REASONS}`,
  );
  const [denied] = await ask(`SELECT count(*) AS n ${pages} AND ${DENIED}`);
  const queued = counted(
    await ask(
      `SELECT u.priority AS k, count(*) AS n ${pages} AND u.state IN (${Queued}, ${Fetching})
       GROUP BY u.priority ORDER BY u.priority`,
    ),
  );
  const [bodies] = await ask(
    `SELECT count(f.body_key) AS n, count(DISTINCT f.body_key) AS d ${pages} AND f.run_id = ${runId}`,
  );
  const deepest = await ask(
    `SELECT u.url, u.depth, u.state ${pages} AND u.depth < ${dialect.noDepth}
     ORDER BY u.depth DESC, ${dialect.byBytes('u.url')} LIMIT ${MOST_EXAMPLES}`,
  );
  return {
    pages_by_state: byState,
    ...countUrls(byState),
    content_types: counted(types),
    robots_denials: Number(denied.n),
    queued_by_priority: queued,
    bodies_stored: Number(bodies.n),
    distinct_bodies: Number(bodies.d),
    deepest_pages: deepest.map(({ url, depth, state }) => ({
      url: String(url),
      depth: Number(depth),
      state: pageStateName(Number(state)),
    })),
  };
}

type ErrorFigures = Pick<RunReport, 'errors' | 'errors_by_reason' | 'top_errors'>;

async function readErrors(ask: AskRows, dialect: ReportDialect, pages: string): Promise<ErrorFigures> {
  const [all] = await ask(`SELECT count(*) AS n ${pages} AND ${IS_ERROR}`);
  const reason = "COALESCE(u.reason, f.error, 'unknown')";
  const rows = await ask(
    `SELECT ${reason} AS k, count(*) AS n, min(${dialect.byBytes('u.url')}) AS example ${pages} AND ${IS_ERROR}
     GROUP BY ${reason} ORDER BY n DESC, ${dialect.byBytes(reason)} LIMIT ${MOST_REASONS}`,
  );
  return {
    errors: Number(all.n),
    errors_by_reason: counted(rows),
    top_errors: rows
      .slice(0, MOST_EXAMPLES)
      .map(({ k, n, example }) => ({ reason: String(k), pages: Number(n), example: String(example) })),
  };
}

function counted(rows: readonly Row[]): Record<string, number> {
  return Object.fromEntries(rows.map(({ k, n }) => [String(k), Number(n)]));
}
