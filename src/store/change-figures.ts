/**
 * The figures behind the pictures of a project: what its visits found over time, what was spared, what was slow. Asked in
 * plain SQL that both databases understand; an adapter brings its way to ask and the few words in which they differ.
 *
 * Promises: everything is counted by the database, so that memory does not grow with the pages: every list that comes
 * back is bounded by columns of time, sections, statuses or a limit. Asked for a run, `ledger`, `statuses`, `responses`,
 * `depths` and `slowest` are of that run alone; `cells`, `spans`, `lasts` and `changing` of the history up to and with it.
 */
import {
  KNOWN_BY,
  type KnownBy,
  MOST_CHANGES_A_DAY,
  VISIT_OUTCOMES,
  type VisitOutcome,
} from '../change/visit-record.ts';
import { chooseBuckets, type TimeBuckets } from './time-buckets.ts';

export interface ChangeFigures {
  /** Null while there is no history. */
  buckets: TimeBuckets | null;
  /** The time of the first visit; columns may begin before. */
  firstVisitAt: number | null;
  known: number;
  /** Pages with an answer of some kind. */
  visited: number;
  hosts: number;
  /** Of the history: how many runs have visits, and how many those are. */
  runs: number;
  visits: number;
  /** The biggest first; then single pages at the top (`/`) and all others. */
  sections: SectionFigures[];
  cells: HeatCell[];
  spans: SpanGroup[];
  lasts: LastGroup[];
  ledger: LedgerFigures[];
  statuses: { status: number | null; isAsked: boolean; visits: number }[];
  /** By the place of their upper end in RESPONSE_LIMITS_MS, one more for the slowest. */
  responses: { band: number; visits: number }[];
  /** Null for pages that no followed link leads to. */
  depths: { depth: number | null; pages: number }[];
  slowest: SlowPage[];
  changing: ChangingPage[];
  /** Newest first, at most MOST_RUNS. */
  runList: RunFigures[];
}

export interface SectionFigures {
  /** Null for all that is in none of the others. */
  name: string | null;
  pages: number;
}

/** The visits of a section in a column of time. */
export interface HeatCell {
  section: string | null;
  bucket: number;
  visits: number;
  new: number;
  changed: number;
  gone: number;
  failed: number;
  wireBytes: number;
  bytesSaved: number;
}

/** Pages that were visited in column `from` and next in `to`, the same or a later one, and whether that found another content. */
export interface SpanGroup {
  from: number;
  to: number;
  isChanged: boolean;
  pages: number;
  /** Their mean times: of the one visit and of the next. */
  fromAt: number;
  toAt: number;
}

/** Pages that are still there, by the columns of their first and last visit and by the changes seen between. */
export interface LastGroup {
  first: number;
  last: number;
  changes: number;
  pages: number;
  /** Their mean: of the time of the last visit, and of what lies between it and the first. */
  lastAt: number;
  recordMs: number;
}

export interface LedgerFigures {
  outcome: VisitOutcome;
  knownBy: KnownBy;
  visits: number;
  wireBytes: number;
  bytesSaved: number;
}

export interface SlowPage {
  url: string;
  title: string | null;
  visits: number;
  averageMs: number;
  longestMs: number;
}

export interface ChangingPage {
  url: string;
  title: string | null;
  visits: number;
  changes: number;
  lastChangeAt: number;
  /** Changes a day, as specification 003 counts them. */
  changeFrequency: number;
}

export interface RunFigures {
  run: number;
  startedAt: number;
  finishedAt: number | null;
  status: string;
  mode: string | null;
  requests: number;
  bytes: number;
  bytesSaved: number;
  outcomes: Record<VisitOutcome, number>;
}

/** Upper ends of the bands of response time. */
export const RESPONSE_LIMITS_MS = [25, 50, 100, 200, 400, 800, 1600, 3200, 6400];
export const MOST_SECTIONS = 20;
const MOST_LISTED = 12;
export const MOST_RUNS = 24;
/** Up to so many hosts a section is a folder of a host, beyond that a host. */
const FEW_HOSTS = 3;
const MOST_CHANGES_TOLD_APART = 99;
/** Room for an outcome beside a time. */
const TIME_SHIFT = 16;

export interface FiguresDialect {
  /** How `fetched f`, and how `visit v`, are joined to `url u`. */
  fetchedOfUrl: string;
  visitOfUrl: string;
  noDepth: number;
  /** The place of the first `part` in `text`, from 1; 0 when there is none. */
  placeOf(text: string, part: string): string;
  /** The text in the order of its bytes, whatever the database's language. */
  byBytes(text: string): string;
}

type Row = Record<string, string | number | null>;
type AskRows = (sql: string) => Promise<Row[]>;

interface Question {
  ask: AskRows;
  dialect: FiguresDialect;
  projectId: number;
  /** Conditions on `visit v`: what is asked about, and what led to it. */
  asked: string;
  history: string;
}

const outcomes = (...names: VisitOutcome[]) => names.map((name) => VISIT_OUTCOMES.indexOf(name)).join(', ');
const levels = (...names: KnownBy[]) => names.map((name) => KNOWN_BY.indexOf(name)).join(', ');
const NOT_ASKED = `v.known_by IN (${levels('freshness', 'lastmod', 'orphan')})`;
const countIf = (condition: string) => `sum(CASE WHEN ${condition} THEN 1 ELSE 0 END)`;

/** `runId` null: of the whole project. */
export async function readChangeFigures(
  ask: AskRows,
  dialect: FiguresDialect,
  projectId: number,
  runId: number | null,
): Promise<ChangeFigures> {
  const upTo = runId === null ? '' : ` AND r.id <= ${runId}`;
  const history = `v.run_id IN (SELECT r.id FROM run r WHERE r.project_id = ${projectId}${upTo})`;
  const asked = runId === null ? history : `v.run_id = ${runId}`;
  const question: Question = { ask, dialect, projectId, asked, history };
  const [span] = await ask(
    `SELECT min(v.visited_at) AS first, max(v.visited_at) AS last, count(*) AS visits, count(DISTINCT v.run_id) AS runs
     FROM visit v WHERE ${history}`,
  );
  const buckets =
    span.first === null ? null : chooseBuckets(Number(span.first), Number(span.last), Number(span.runs));
  const totals = await readTotals(question);
  return {
    buckets,
    firstVisitAt: span.first === null ? null : Number(span.first),
    ...totals,
    runs: Number(span.runs),
    visits: Number(span.visits),
    ...(await readHeat(question, buckets, totals.hosts)),
    ...(await readSpans(question, buckets)),
    ...(await readCounts(question)),
    ...(await readLists(question)),
    runList: await readRuns(question, upTo),
  };
}

async function readTotals({ ask, dialect, projectId }: Question) {
  const [totals] = await ask(
    `SELECT count(*) AS known, count(f.page_id) AS visited,
       count(DISTINCT CASE WHEN f.page_id IS NOT NULL THEN u.host_id END) AS hosts
     FROM url u LEFT JOIN fetched f ON ${dialect.fetchedOfUrl} WHERE u.project_id = ${projectId}`,
  );
  return { known: Number(totals.known), visited: Number(totals.visited), hosts: Number(totals.hosts) };
}

/** The first folder of a page's path, as a section of its site. */
function sectionWords({ placeOf }: FiguresDialect, hosts: number) {
  if (hosts > FEW_HOSTS) return { key: 'h.name', isTop: '1 = 0' };
  // The ninth character is inside the host's name or after it, whether the scheme is http or https.
  const path = `substr(u.url, 9 + ${placeOf("substr(u.url, 9) || '/'", '/')})`;
  const folder = `substr(${path}, 1, ${placeOf(`replace(${path}, '?', '/') || '/'`, '/')} - 1)`;
  return {
    key: `${hosts > 1 ? 'h.name || ' : ''}'/' || ${folder}`,
    // A page at the top that is no section is one of the site itself.
    isTop: `${placeOf(`substr(${path}, 1, ${placeOf(`${path} || '?'`, '?')} - 1)`, '/')} = 0`,
  };
}

/**
 * Sections are counted by number, which sorts faster than names: from 1 for the biggest, minus the host for the top of
 * its site, 0 for all others.
 */
async function readHeat(
  { ask, dialect, projectId, history }: Question,
  buckets: TimeBuckets | null,
  hosts: number,
) {
  const pages = `FROM fetched f JOIN url u ON ${dialect.fetchedOfUrl} JOIN host h ON h.id = u.host_id`;
  const mine = `WHERE u.project_id = ${projectId}`;
  const { key, isTop } = sectionWords(dialect, hosts);
  const biggest = `WITH sized AS (SELECT name, count(*) AS pages FROM (SELECT ${key} AS name ${pages} ${mine}) k
      GROUP BY name HAVING count(*) > 1 ORDER BY pages DESC, ${dialect.byBytes('name')} LIMIT ${MOST_SECTIONS}),
    biggest AS (SELECT name, row_number() OVER (ORDER BY pages DESC, ${dialect.byBytes('name')}) AS place FROM sized)`;
  const place = `COALESCE(b.place, CASE WHEN ${isTop} THEN -h.id ELSE 0 END) AS place`;
  const rows = await ask(
    `${biggest} SELECT place, count(*) AS pages, max(name) AS name FROM (SELECT ${place}, COALESCE(b.name, h.name) AS name
       ${pages} LEFT JOIN biggest b ON b.name = ${key} ${mine}) s GROUP BY place`,
  );
  const nameOf = ({ place, name }: Row) => {
    if (Number(place) > 0) return String(name);
    if (Number(place) === 0) return null;
    return hosts > 1 ? `${name}/` : '/';
  };
  const orderOf = (place: number) => {
    if (place > 0) return place;
    return place === 0 ? Number.MAX_SAFE_INTEGER : MOST_SECTIONS - place;
  };
  const ordered = rows.sort((a, b) => orderOf(Number(a.place)) - orderOf(Number(b.place)));
  const names = new Map(ordered.map((row) => [Number(row.place), nameOf(row)]));
  const is = (outcome: VisitOutcome) => countIf(`outcome = ${outcomes(outcome)}`);
  const cells =
    buckets === null
      ? []
      : await ask(
          `${biggest} SELECT place, bucket, count(*) AS visits, ${is('new')} AS fresh, ${is('changed')} AS changed,
             ${is('gone')} AS gone, ${is('failed')} AS failed, sum(wire_bytes) AS bytes, sum(bytes_saved) AS saved
           FROM (SELECT ${place}, ${bucketOf(buckets)} AS bucket, v.outcome, v.wire_bytes, v.bytes_saved
             FROM visit v JOIN url u ON ${dialect.visitOfUrl} JOIN host h ON h.id = u.host_id
               LEFT JOIN biggest b ON b.name = ${key} WHERE ${history}) c
           GROUP BY place, bucket ORDER BY bucket, place`,
        );
  return {
    sections: ordered.map((row) => ({ name: nameOf(row), pages: Number(row.pages) })),
    cells: cells.map((row) => ({
      section: names.get(Number(row.place)) ?? null,
      bucket: Number(row.bucket),
      visits: Number(row.visits),
      new: Number(row.fresh),
      changed: Number(row.changed),
      gone: Number(row.gone),
      failed: Number(row.failed),
      wireBytes: Number(row.bytes),
      bytesSaved: Number(row.saved),
    })),
  };
}

const bucketOf = ({ start, stepMs }: TimeBuckets) => `CAST((v.visited_at - ${start}) / ${stepMs} AS INTEGER)`;
const textOf = (value: string | number | null) => (value === null ? null : String(value));

/**
 * What happened to each page between two visits that told something of it. A failed visit tells nothing, and so does the
 * same answer again from a page that is gone.
 */
async function readSpans({ ask, history }: Question, buckets: TimeBuckets | null) {
  if (buckets === null) return { spans: [], lasts: [] };
  const bucket = bucketOf(buckets);
  const told = `FROM visit v WHERE ${history} AND (v.outcome IN (${outcomes('new', 'changed', 'gone')})
      OR v.outcome = ${outcomes('unchanged')} AND v.known_by <> ${levels('status')})`;
  const spans = await ask(
    `SELECT bucket, next_bucket, CASE WHEN next_outcome = ${outcomes('unchanged')} THEN 0 ELSE 1 END AS changed,
       count(*) AS pages, avg(visited_at) AS from_at, avg(next_at) AS to_at
     FROM (SELECT v.outcome, v.visited_at, ${bucket} AS bucket, lead(${bucket}) OVER later AS next_bucket,
         lead(v.outcome) OVER later AS next_outcome, lead(v.visited_at) OVER later AS next_at ${told}
       WINDOW later AS (PARTITION BY v.page_id ORDER BY v.visited_at, v.run_id)) t
     WHERE next_at IS NOT NULL AND outcome <> ${outcomes('gone')} GROUP BY 1, 2, 3 ORDER BY 1, 2, 3`,
  );
  const lasts = await ask(
    // The last outcome rides on the last time.
    `SELECT first_bucket, bucket, CASE WHEN changes > ${MOST_CHANGES_TOLD_APART} THEN ${MOST_CHANGES_TOLD_APART}
       ELSE changes END AS changes, count(*) AS pages, avg(last_at) AS last_at, avg(last_at - first_at) AS record
     FROM (SELECT min(${bucket}) AS first_bucket, max(${bucket}) AS bucket,
         min(v.visited_at) AS first_at, max(v.visited_at) AS last_at,
         ${countIf(`v.outcome IN (${outcomes('changed', 'gone')})`)} AS changes,
         max(v.visited_at * ${TIME_SHIFT} + v.outcome) % ${TIME_SHIFT} AS last_outcome ${told} GROUP BY v.page_id) l
     WHERE last_outcome <> ${outcomes('gone')} GROUP BY 1, 2, 3 ORDER BY 1, 2, 3`,
  );
  return {
    spans: spans.map((row) => ({
      from: Number(row.bucket),
      to: Number(row.next_bucket),
      isChanged: Number(row.changed) === 1,
      pages: Number(row.pages),
      fromAt: Number(row.from_at),
      toAt: Number(row.to_at),
    })),
    lasts: lasts.map((row) => ({
      first: Number(row.first_bucket),
      last: Number(row.bucket),
      changes: Number(row.changes),
      pages: Number(row.pages),
      lastAt: Number(row.last_at),
      recordMs: Number(row.record),
    })),
  };
}

async function readCounts({ ask, dialect, asked }: Question) {
  const ledger = await ask(
    `SELECT v.outcome, v.known_by, count(*) AS visits, sum(v.wire_bytes) AS bytes, sum(v.bytes_saved) AS saved
     FROM visit v WHERE ${asked} GROUP BY v.outcome, v.known_by ORDER BY v.outcome, v.known_by`,
  );
  // An orphan that was visited has its answer in the same line.
  const isAsked = `CASE WHEN v.status_code IS NULL AND ${NOT_ASKED} THEN 0 ELSE 1 END`;
  const statuses = await ask(
    `SELECT v.status_code AS status, ${isAsked} AS asked, count(*) AS visits FROM visit v WHERE ${asked}
     GROUP BY v.status_code, ${isAsked} ORDER BY 2 DESC, COALESCE(v.status_code, 0)`,
  );
  const band = `CASE ${RESPONSE_LIMITS_MS.map((limit, i) => `WHEN v.duration_ms < ${limit} THEN ${i}`).join(' ')}
    ELSE ${RESPONSE_LIMITS_MS.length} END`;
  const responses = await ask(
    `SELECT ${band} AS band, count(*) AS visits FROM visit v WHERE ${asked} AND v.duration_ms IS NOT NULL
     GROUP BY ${band} ORDER BY 1`,
  );
  const depths = await ask(
    `SELECT u.depth, count(DISTINCT u.id) AS pages FROM visit v JOIN url u ON ${dialect.visitOfUrl}
     WHERE ${asked} GROUP BY u.depth ORDER BY u.depth`,
  );
  return {
    ledger: ledger.map((row) => ({
      outcome: VISIT_OUTCOMES[Number(row.outcome)],
      knownBy: KNOWN_BY[Number(row.known_by)],
      visits: Number(row.visits),
      wireBytes: Number(row.bytes),
      bytesSaved: Number(row.saved),
    })),
    statuses: statuses.map((row) => ({
      status: row.status === null ? null : Number(row.status),
      isAsked: Number(row.asked) === 1,
      visits: Number(row.visits),
    })),
    responses: responses.map((row) => ({ band: Number(row.band), visits: Number(row.visits) })),
    depths: depths.map((row) => ({
      depth: Number(row.depth) === dialect.noDepth ? null : Number(row.depth),
      pages: Number(row.pages),
    })),
  };
}

/** The few are chosen by the history alone, and only then looked up. */
async function readLists({ ask, dialect, asked, history }: Question) {
  const facts = (chosen: string) => `FROM (${chosen} LIMIT ${MOST_LISTED}) c JOIN url u ON u.id = c.page_id
    LEFT JOIN fetched f ON ${dialect.fetchedOfUrl}`;
  const slowest = await ask(
    `SELECT u.url, f.title, c.visits, c.average, c.longest ${facts(
      `SELECT v.page_id, count(*) AS visits, avg(v.duration_ms) AS average, max(v.duration_ms) AS longest
       FROM visit v WHERE ${asked} AND v.duration_ms IS NOT NULL GROUP BY v.page_id ORDER BY average DESC, v.page_id`,
    )} ORDER BY c.average DESC, c.page_id`,
  );
  const isChange = `v.outcome = ${outcomes('changed')}`;
  const changing = await ask(
    `SELECT u.url, f.title, c.visits, c.changes, c.last_change, COALESCE(f.change_frequency, 0) AS frequency ${facts(
      `SELECT v.page_id, count(*) AS visits, ${countIf(isChange)} AS changes,
         max(CASE WHEN ${isChange} THEN v.visited_at END) AS last_change
       FROM visit v WHERE ${history} GROUP BY v.page_id HAVING ${countIf(isChange)} > 0
       ORDER BY changes DESC, visits, v.page_id`,
    )} ORDER BY c.changes DESC, c.visits, c.page_id`,
  );
  return {
    slowest: slowest.map((row) => ({
      url: String(row.url),
      title: textOf(row.title),
      visits: Number(row.visits),
      averageMs: Number(row.average),
      longestMs: Number(row.longest),
    })),
    changing: changing.map((row) => ({
      url: String(row.url),
      title: textOf(row.title),
      visits: Number(row.visits),
      changes: Number(row.changes),
      lastChangeAt: Number(row.last_change),
      changeFrequency: Math.min(Number(row.frequency), MOST_CHANGES_A_DAY),
    })),
  };
}

async function readRuns({ ask, projectId }: Question, upTo: string): Promise<RunFigures[]> {
  const chosen = `SELECT r.id FROM run r WHERE r.project_id = ${projectId}${upTo} ORDER BY r.id DESC LIMIT ${MOST_RUNS}`;
  const runs = await ask(
    `SELECT r.id, r.started_at, r.finished_at, r.status, r.mode, r.requests, r.bytes FROM run r
     WHERE r.id IN (SELECT c.id FROM (${chosen}) c) ORDER BY r.id DESC`,
  );
  const visits = await ask(
    `SELECT v.run_id, v.outcome, count(*) AS visits, sum(v.bytes_saved) AS saved FROM visit v
     WHERE v.run_id IN (SELECT c.id FROM (${chosen}) c) GROUP BY v.run_id, v.outcome`,
  );
  const list = runs.map((row) => ({
    run: Number(row.id),
    startedAt: Number(row.started_at),
    finishedAt: row.finished_at === null ? null : Number(row.finished_at),
    status: String(row.status),
    mode: textOf(row.mode),
    requests: Number(row.requests),
    bytes: Number(row.bytes),
    bytesSaved: 0,
    outcomes: { new: 0, changed: 0, unchanged: 0, gone: 0, failed: 0 },
  }));
  const byId = new Map(list.map((run) => [run.run, run]));
  for (const row of visits) {
    const run = byId.get(Number(row.run_id))!;
    run.outcomes[VISIT_OUTCOMES[Number(row.outcome)]] = Number(row.visits);
    run.bytesSaved += Number(row.saved);
  }
  return list;
}
