/**
 * Deletes all that is kept of a project, batch by batch, each a transaction of its own: a page goes with all that is kept of it,
 * and requests go when a mark on their host says so, because an audit must know what it cannot judge any more. Whoever goes on
 * after a crash begins at the front and finds less. Hosts, their clocks and robots.txt are everybody's and stay.
 */
import { REQUEST_KINDS } from '../host-port.ts';
import { PAGE_TABLES } from '../page-tables.ts';
import type { TransactionSql } from './connection.ts';
import { hasPageWords } from './full-text.ts';
import { unpreparedKey } from './runs.ts';
import { type Attempting, ask, transaction } from './session.ts';

const CLEARED = REQUEST_KINDS.indexOf('cleared');
/** Hosts whose rows are looked up together. */
const HOSTS_AT_ONCE = 200;

/** One pass over the rows, in the server: partitions know rows by their host. */
const HOSTS_OF_REQUESTS = `
SELECT DISTINCT host_id AS id FROM request WHERE run_id = ANY($1::int[]) ORDER BY 1`;
const HOSTS_OF_PAGES = 'SELECT DISTINCT host_id AS id FROM url WHERE project_id = $1 ORDER BY 1';

const NEXT_TIME = `
SELECT max(sent_at) AS last FROM
  (SELECT sent_at FROM request WHERE host_id = $1 AND sent_at > $2 ORDER BY sent_at LIMIT $3) q`;
/** A host has one mark of all purges, under a number that no request gets. */
const DROP_REQUESTS = `
WITH dropped AS (
  DELETE FROM request WHERE host_id = $1 AND sent_at > $2 AND sent_at <= $3 AND run_id = ANY($4::int[])
  RETURNING host_id, ended_at
)
INSERT INTO request (id, run_id, host_id, kind, slot_at, sent_at, ended_at, delay_ms, per_host, status_code, wire_bytes)
SELECT -host_id, 0, host_id, ${CLEARED}, 0, 0, max(ended_at), 0, 0, 0, 0 FROM dropped GROUP BY host_id
ON CONFLICT (id, host_id) DO UPDATE SET ended_at = greatest(request.ended_at, excluded.ended_at)`;

const nextPage = (table: string) => `
SELECT max(page_id) AS last FROM
  (SELECT page_id FROM ${table} WHERE run_id = $1 AND page_id > $2 ORDER BY page_id LIMIT $3) v`;
const dropHistory = (table: string) =>
  `DELETE FROM ${table} WHERE run_id = $1 AND page_id > $2 AND page_id <= $3`;

const NEXT_PAGES = `
SELECT id, host_id AS host FROM url WHERE host_id = ANY($1::int[]) AND project_id = $2 LIMIT $3 FOR UPDATE`;
const ofPages = (table: string, page = 'page_id', host = 'host_id') => `
DELETE FROM ${table} t USING unnest($1::int[], $2::int[]) AS p (id, host) WHERE t.${page} = p.id AND t.${host} = p.host`;
const DROP_PAGES = [
  ...PAGE_TABLES.map((table) => ofPages(table)),
  ofPages('redirect_wait', 'target_id', 'target_host'),
  ofPages('url', 'id'),
];

/** Tables with a row or some for each host of the project. */
const HOST_TABLES = ['host_queue', 'discovery'];
const dropHosts = (table: string) => `
DELETE FROM ${table} WHERE project_id = $1 AND host_id IN
  (SELECT host_id FROM ${table} WHERE project_id = $1 LIMIT $2) RETURNING 1`;
const PROJECT_TABLES = [
  'lowering',
  'origin',
  'index_state',
  'facet_count',
  'section_count',
  'reader_look',
  'run',
];

export async function purgeProject(
  database: Attempting,
  projectId: number,
  { batch, signal }: { batch: number; signal?: AbortSignal },
): Promise<void> {
  const isCut = () => signal?.aborted === true;
  const rows = <Row>(text: string, values: unknown[]) =>
    database.attempt((sql) => ask<Row>(sql, text, values));
  const idsOf = async (text: string, values: unknown[]) =>
    (await rows<{ id: number }>(text, values)).map(({ id }) => id);
  /** Calls with one stretch of keys after the other; `next` answers where it ends. */
  async function inStretches(
    next: (after: number) => Promise<{ last: number | null }[]>,
    drop: (after: number, upTo: number) => Promise<unknown>,
  ): Promise<void> {
    for (let after = -1; !isCut(); ) {
      const [{ last }] = await next(after);
      if (last === null) return;
      await drop(after, last);
      after = last;
    }
  }

  const runs = await idsOf('SELECT id FROM run WHERE project_id = $1 ORDER BY id', [projectId]);
  for (const host of await idsOf(HOSTS_OF_REQUESTS, [runs]))
    await inStretches(
      (after) => rows(NEXT_TIME, [host, after, batch]),
      (after, upTo) => rows(DROP_REQUESTS, [host, after, upTo, runs]),
    );
  for (const table of ['visit', 'page_change'])
    for (const run of runs)
      await inStretches(
        (after) => rows(nextPage(table), [run, after, batch]),
        (after, upTo) => rows(dropHistory(table), [run, after, upTo]),
      );
  const hosts = await idsOf(HOSTS_OF_PAGES, [projectId]);
  const hasWords = await database.attempt((sql) => hasPageWords(sql));
  for (let at = 0; at < hosts.length; at += HOSTS_AT_ONCE) {
    const some = hosts.slice(at, at + HOSTS_AT_ONCE);
    const drop = (tx: TransactionSql) => dropPages(tx, [some, projectId, batch], hasWords);
    while (!isCut() && (await transaction(database, drop)) === batch);
  }
  for (const table of HOST_TABLES)
    while (!isCut() && (await rows(dropHosts(table), [projectId, batch])).length > 0);
  if (isCut()) return;
  await transaction(database, (tx) => dropProject(tx, projectId, runs));
}

/** Answers how many pages there were. */
async function dropPages(tx: TransactionSql, asked: unknown[], hasWords: boolean): Promise<number> {
  const pages = await ask<{ id: number; host: number }>(tx, NEXT_PAGES, asked);
  const keys = [pages.map(({ id }) => id), pages.map(({ host }) => host)];
  if (hasWords) await ask(tx, ofPages('page_words'), keys);
  for (const text of DROP_PAGES) await ask(tx, text, keys);
  return pages.length;
}

async function dropProject(tx: TransactionSql, projectId: number, runs: readonly number[]): Promise<void> {
  await ask(tx, 'DELETE FROM worker WHERE run_id = ANY($1::int[])', [runs]);
  await ask(
    tx,
    "DELETE FROM meta WHERE key = $1 OR split_part(key, ':', 1) = 'open' AND split_part(key, ':', 2) = ANY($2::text[])",
    [unpreparedKey(projectId), runs.map(String)],
  );
  for (const table of PROJECT_TABLES)
    await ask(tx, `DELETE FROM ${table} WHERE project_id = $1`, [projectId]);
  await ask(tx, 'DELETE FROM project WHERE id = $1', [projectId]);
}
