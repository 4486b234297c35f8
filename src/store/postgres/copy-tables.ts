/**
 * How the tables on PostgreSQL are read as neutral rows and written from them (copy-port.ts): one SELECT a table, and
 * COPY for all but the tables that other projects share, which are merged.
 */
import { pipeline } from 'node:stream/promises';
import { REDIRECT_PRIORITY } from '../../frontier/candidate.ts';
import {
  type ColumnKind,
  type CopyRow,
  type CopyTable,
  columnsOf,
  type Numbering,
  type SharedTable,
} from '../copy-port.ts';
import type { TransactionSql } from './connection.ts';
import { ask, recordset, rowsJson } from './session.ts';

interface TableSource {
  from: string;
  /** Which rows: $1 the project, $2 and $3 the first and last page id of a window, or the cursor and the limit. */
  rows: string;
  /** Where the next batch begins. Null for tables read in windows of page ids. */
  cursor: string | null;
  columns?: Record<string, string>;
}

/** Both tables are cut to the window, so that neither is looked up page by page in every partition. */
function ofPages(table: string, key: string, host = 'host_id', thenBy = ''): TableSource {
  return {
    from: `${table} t JOIN url u ON u.id = t.${key} AND u.host_id = t.${host}`,
    rows: `WHERE t.${key} BETWEEN $2 AND $3 AND u.id BETWEEN $2 AND $3 AND u.project_id = $1
      ORDER BY t.${key}${thenBy === '' ? '' : `, ${thenBy}`}`,
    cursor: null,
  };
}

/** History stands by run: each run of the project is asked for the window's pages. */
function ofVisits(table: string): TableSource {
  return {
    from: `run r JOIN ${table} t ON t.run_id = r.id`,
    rows: 'WHERE r.project_id = $1 AND t.page_id BETWEEN $2 AND $3 ORDER BY t.page_id, t.run_id, t.visited_at',
    cursor: null,
  };
}

const RUNS = '(SELECT id FROM run WHERE project_id = $1)';
/** The hosts a project has to do with. Asked of a host's own partition, cheapest first. */
const isOurs = (
  host: string,
) => `(EXISTS (SELECT 1 FROM url u WHERE u.host_id = ${host} AND u.project_id = $1)
  OR EXISTS (SELECT 1 FROM host_queue q WHERE q.host_id = ${host} AND q.project_id = $1
    AND (q.requests > 0 OR q.closed_state IS NOT NULL))
  OR EXISTS (SELECT 1 FROM discovery d WHERE d.host_id = ${host} AND d.project_id = $1)
  OR EXISTS (SELECT 1 FROM request q WHERE q.host_id = ${host} AND q.run_id IN ${RUNS}))`;

const SOURCES: Record<CopyTable, TableSource> = {
  run: {
    from: 'run t',
    rows: 'WHERE t.project_id = $1 AND t.id > $2 ORDER BY t.id LIMIT $3',
    cursor: 't.id',
  },
  host: {
    from: 'host t',
    rows: `WHERE t.id > $2 AND ${isOurs('t.id')} ORDER BY t.id LIMIT $3`,
    cursor: 't.id',
    // Whoever held it is not asked: the next holder rests one full delay.
    columns: { taken_over: '(t.taken_over <> 0 OR t.lease_owner IS NOT NULL)::int' },
  },
  robots_txt: {
    from: `(SELECT h.id FROM host h WHERE h.id > $2 AND ${isOurs('h.id')}
      AND EXISTS (SELECT 1 FROM robots_txt r WHERE r.host_id = h.id) ORDER BY h.id LIMIT $3) c
      JOIN robots_txt t ON t.host_id = c.id`,
    rows: 'ORDER BY c.id, t.origin',
    cursor: 'c.id',
  },
  host_queue: {
    from: 'host_queue t',
    rows: `WHERE t.project_id = $1 AND t.host_id > $2 AND (t.requests > 0 OR t.closed_state IS NOT NULL)
      ORDER BY t.host_id LIMIT $3`,
    cursor: 't.host_id',
  },
  url: {
    from: 'url t',
    rows: 'WHERE t.id BETWEEN $2 AND $3 AND t.project_id = $1 ORDER BY t.id',
    cursor: null,
  },
  fetched: ofPages('fetched', 'page_id'),
  page_text: ofPages('page_text', 'page_id'),
  link_set: ofPages('link_set', 'page_id'),
  link_change: ofPages('link_change', 'page_id'),
  redirect_wait: ofPages('redirect_wait', 'target_id', 'target_host'),
  lowering: ofPages('lowering', 'page_id'),
  origin: {
    from: 'origin t',
    // Cursors begin at 0, numbers too.
    rows: 'WHERE t.project_id = $1 AND t.number + 1 > $2 ORDER BY t.number LIMIT $3',
    cursor: 't.number + 1',
  },
  page_depth: ofPages('page_depth', 'page_id', 'host_id', 't.origin'),
  visit: ofVisits('visit'),
  page_change: ofVisits('page_change'),
  sitemap_entry: ofPages('sitemap_entry', 'page_id'),
  discovery: {
    from: 'discovery t',
    rows: 'WHERE t.project_id = $1 AND t.host_id > $2 ORDER BY t.host_id LIMIT $3',
    cursor: 't.host_id',
  },
  revisit: ofPages('revisit', 'page_id'),
  orphan: ofPages('orphan', 'page_id'),
  request: {
    from: 'request t',
    rows: `WHERE t.id > $2 AND t.run_id IN ${RUNS} ORDER BY t.id LIMIT $3`,
    cursor: 't.id',
  },
};

export function isReadInWindows(table: CopyTable): boolean {
  return SOURCES[table].cursor === null;
}

/** The SELECT of a batch; each row has the cursor behind its columns where there is one. */
export function readStatement(table: CopyTable): string {
  const { from, rows, cursor, columns = {} } = SOURCES[table];
  const values = columnsOf(table).map(([name, kind]) => asRaw(columns[name] ?? `t.${name}`, kind));
  if (cursor !== null) values.push(cursor);
  return `SELECT ${values.join(', ')} FROM ${from} ${rows}`;
}

/** The stored rows of a shared table by their keys, with what tells whether crawls of this store have used them behind. */
export function findStatement(table: SharedTable): string {
  const columns = columnsOf(table).map(([name, kind]) => asRaw(`t.${name}`, kind));
  const isInUse = table === 'host' ? 't.fence > 0' : 'false';
  return `SELECT ${columns.join(', ')}, ${isInUse} FROM ${table} t WHERE t.${columnsOf(table)[0][0]} = ANY($1::text[])`;
}

function asRaw(value: string, kind: ColumnKind): string {
  if (kind === 'host') return `(SELECT name FROM host WHERE id = ${value})`;
  if (kind === 'bytes') return `encode(${value}, 'hex')`;
  if (kind === 'pages' || kind === 'flags' || kind === 'texts') return `array_to_json(${value})::text`;
  return kind === 'wide' ? `${value}::text` : value;
}

/** Columns whose value the numbers of the rows decide, or this store alone has. */
interface OwnColumn {
  name: string;
  value: (row: CopyRow) => string | number;
}

const WITH_PROJECT: ReadonlySet<CopyTable> = new Set([
  'run',
  'host_queue',
  'url',
  'lowering',
  'origin',
  'discovery',
]);

export interface RowWriting {
  projectId: number;
  numbering: Numbering;
  identityOf: (url: string) => string;
  /** Ids of all hosts that the rows name. */
  hostIds: ReadonlyMap<string, number>;
}

function ownColumns(table: CopyTable, { projectId, identityOf }: RowWriting): OwnColumn[] {
  const own: OwnColumn[] = [];
  if (WITH_PROJECT.has(table)) own.push({ name: 'project_id', value: () => projectId });
  if (table === 'url') {
    const at = (name: string) => columnsOf(table).findIndex(([each]) => each === name);
    const [url, priority, hops] = [at('url'), at('priority'), at('hops')];
    own.push({ name: 'identity', value: (row) => identityOf(row[url] as string) });
    // A page that ends a redirect is its host's next.
    const rankOf = (row: CopyRow) =>
      (row[hops] as number) > 0 ? REDIRECT_PRIORITY : (row[priority] as number);
    own.push({ name: 'rank', value: rankOf });
  }
  return own;
}

/** Host names in the rows of a batch. */
export function hostsIn(table: CopyTable, rows: readonly CopyRow[]): Set<string> {
  const names = new Set<string>();
  for (const [at, [, kind]] of columnsOf(table).entries()) {
    if (kind !== 'host') continue;
    for (const row of rows) if (row[at] !== null) names.add(row[at] as string);
  }
  return names;
}

const COPY_CHUNK = 512 * 1024;

/** Ids of runs and requests are the database's to give, in the order of the rows. */
export async function copyRows(
  tx: TransactionSql,
  table: CopyTable,
  rows: readonly CopyRow[],
  writing: RowWriting,
): Promise<void> {
  const { numbering, hostIds } = writing;
  const { pages, runs } = numbering;
  const toText: Record<ColumnKind, (value: never) => string> = {
    page: (number: number) => String(pages.idOf(number)),
    run: (number: number) => String(runs[number - 1]),
    host: (name: string) => String(hostIds.get(name)),
    integer: String,
    real: String,
    text: escaped,
    bytes: (hex: string) => `\\\\x${hex}`,
    wide: String,
    state: String,
    status: String,
    pages: (numbers: number[]) => `{${numbers.map((number) => pages.idOf(number)).join(',')}}`,
    flags: (flags: number[]) => `{${flags.join(',')}}`,
    texts: (texts: (string | null)[]) => escaped(`{${texts.map(quoted).join(',')}}`),
  };
  const kept = columnsOf(table)
    .map(([name, kind], at) => ({ name, at, convert: toText[kind] }))
    .filter(({ name }) => !(table === 'run' && name === 'id'));
  const own = ownColumns(table, writing);
  const names = [...kept, ...own].map(({ name }) => name);
  const stream = await tx.unsafe(`COPY ${table} (${names.join(', ')}) FROM STDIN`).writable();
  function* chunks(): Generator<string> {
    let chunk = '';
    for (const row of rows) {
      let line = '';
      for (const { at, convert } of kept) line += `${row[at] === null ? '\\N' : convert(row[at] as never)}\t`;
      for (const { value } of own) line += `${value(row)}\t`;
      chunk += `${line.slice(0, -1)}\n`;
      if (chunk.length < COPY_CHUNK) continue;
      yield chunk;
      chunk = '';
    }
    if (chunk !== '') yield chunk;
  }
  await pipeline(chunks, stream);
}

/** The signs that COPY's text format gives a meaning. */
function escaped(text: string): string {
  return /[\\\t\n\r]/.test(text) ? text.replace(/[\\\t\n\r]/g, (sign) => ESCAPES[sign]) : text;
}

const ESCAPES: Record<string, string> = { '\\': '\\\\', '\t': '\\t', '\n': '\\n', '\r': '\\r' };

function quoted(text: string | null): string {
  return text === null ? 'NULL' : `"${text.replace(/["\\]/g, '\\$&')}"`;
}

/** Hosts and robots.txt: the politer of both, the later of both. In the order of their keys, so that nobody waits in a ring. */
export async function mergeRows(
  tx: TransactionSql,
  table: SharedTable,
  rows: readonly CopyRow[],
  hostIds: ReadonlyMap<string, number>,
): Promise<void> {
  const columns = columnsOf(table);
  const records = rows.map((row) =>
    Object.fromEntries(
      columns.map(([name, kind], i) => [name, kind === 'host' ? hostIds.get(row[i] as string) : row[i]]),
    ),
  );
  await ask(tx, MERGES[table], [rowsJson(records)]);
}

const MERGES: Record<SharedTable, string> = {
  host: `INSERT INTO host (name, not_before, blocked_until, consecutive_429, adaptive_ms, average_ms, samples, failures, probes,
      taken_over, distrusted_until, announced, unannounced, head_checks)
    SELECT * FROM ${recordset(
      1,
      `name text, not_before bigint, blocked_until bigint, consecutive_429 int, adaptive_ms float8, average_ms float8,
       samples int, failures int, probes int, taken_over smallint, distrusted_until bigint, announced int,
       unannounced int, head_checks int`,
      'r',
    )} ORDER BY name
    ON CONFLICT (name) DO UPDATE SET not_before = greatest(host.not_before, excluded.not_before),
      blocked_until = greatest(host.blocked_until, excluded.blocked_until),
      consecutive_429 = greatest(host.consecutive_429, excluded.consecutive_429),
      adaptive_ms = greatest(host.adaptive_ms, excluded.adaptive_ms),
      taken_over = greatest(host.taken_over, excluded.taken_over),
      distrusted_until = greatest(host.distrusted_until, excluded.distrusted_until),
      announced = CASE WHEN host.announced + host.unannounced = 0 THEN excluded.announced ELSE host.announced END,
      unannounced = CASE WHEN host.announced + host.unannounced = 0 THEN excluded.unannounced ELSE host.unannounced END,
      head_checks = CASE WHEN host.head_checks = 0 THEN excluded.head_checks ELSE host.head_checks END,
      average_ms = CASE WHEN host.samples = 0 THEN excluded.average_ms ELSE host.average_ms END,
      samples = CASE WHEN host.samples = 0 THEN excluded.samples ELSE host.samples END`,
  robots_txt: `INSERT INTO robots_txt (origin, host_id, status, body, fetched_at, expires_at, delay_seconds)
    SELECT origin, host_id, status, decode(body, 'hex'), fetched_at, expires_at, delay_seconds FROM ${recordset(
      1,
      `origin text, host_id int, status int, body text, fetched_at bigint, expires_at bigint, delay_seconds float8`,
      'r',
    )} ORDER BY origin
    ON CONFLICT (origin) DO UPDATE SET host_id = excluded.host_id, status = excluded.status, body = excluded.body,
      fetched_at = excluded.fetched_at, expires_at = excluded.expires_at, delay_seconds = excluded.delay_seconds
    WHERE excluded.fetched_at > robots_txt.fetched_at`,
};
