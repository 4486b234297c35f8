/**
 * A PostgreSQL database as a side of a copy (copy-port.ts). A project is read in one transaction that sees the database
 * as it was when it began, whoever writes meanwhile. Of two commands that write the same copy only one goes on: each
 * batch is committed with the progress it started from as a condition, which needs no lock that a pooler could lose.
 */
import { createHash } from 'node:crypto';
import type { ReservedSql } from 'postgres';
import { sumiError } from '../../errors.ts';
import { PAGE_STATES } from '../../frontier/page-state.ts';
import {
  BATCH_ROWS,
  COPIED_COLUMNS,
  type CopiedProject,
  type CopyBatch,
  type CopyOrigin,
  type CopyProgress,
  type CopyReader,
  type CopyRequest,
  type CopyRole,
  type CopySide,
  type CopyTable,
  type CopyWriter,
  copiedKey,
  copyKey,
  createRowReader,
  isSameOrigin,
  isShared,
  MARKED,
  nameWhileCopied,
  originOf,
  progressToResume,
} from '../copy-port.ts';
import { PageNumbers } from '../page-numbers.ts';
import { disconnect, postgresError, type Sql, storeLabel, type TransactionSql } from './connection.ts';
import {
  copyRows,
  findStatement,
  hostsIn,
  isReadInWindows,
  mergeRows,
  readStatement,
} from './copy-tables.ts';
import { openForReading, openForWriting } from './open-database.ts';
import { ask, createHostIds, type Runner } from './session.ts';
import { createUrlIdentity } from './url-identity.ts';

/** A worker that has not been heard of for so long, and holds no lease, is dead. */
const ALIVE_MS = 30_000;
const NOW = '(extract(epoch FROM clock_timestamp()) * 1000)::bigint';

export async function openPostgresCopySide(
  address: string,
  role: CopyRole,
  mostRows = Number.POSITIVE_INFINITY,
): Promise<CopySide> {
  const options = { max: 3, applicationName: 'sumi copy' };
  const sql =
    role === 'from' ? await openForReading(address, options) : (await openForWriting(address, options)).sql;
  const hashKey = (await readMeta(sql, 'hash_key'))!;
  const label = storeLabel(address);
  const told: Told = async (work) => {
    try {
      return await work();
    } catch (error) {
      throw postgresError(error, address);
    }
  };
  return {
    label,
    identity: async () => createHash('sha256').update(hashKey).digest('hex').slice(0, 32),
    projects: () => told(() => ask(sql, 'SELECT id, name FROM project WHERE purged_at IS NULL ORDER BY id')),
    refuseBusy: (projectId) => told(() => refuseBusy(sql, label, projectId)),
    read: (projectId) => told(() => createReader(sql, label, projectId, { told, mostRows })),
    async write(request) {
      const writer = await told(() => createWriter(sql, label, createUrlIdentity(hashKey), request));
      return writer === null ? null : toldWriter(writer, told);
    },
    close: () => disconnect(sql),
  };
}

/** Runs something and answers what PostgreSQL throws in the words of errors.ts. */
type Told = <T>(work: () => Promise<T>) => Promise<T>;

function toldWriter(writer: CopyWriter, told: Told): CopyWriter {
  return {
    ...writer,
    write: (table, batch) => told(() => writer.write(table, batch)),
    find: (table, keys) => told(() => writer.find(table, keys)),
    finish: () => told(() => writer.finish()),
  };
}

async function refuseBusy(sql: Sql, label: string, projectId: number): Promise<void> {
  const [{ project, workers }] = await ask<{ project: string; workers: number }>(
    sql,
    `SELECT p.name AS project, (SELECT count(*)::int FROM worker w JOIN run r ON r.id = w.run_id
       WHERE r.project_id = p.id AND w.ended_at IS NULL AND (w.seen_at > ${NOW} - ${ALIVE_MS}
         OR EXISTS (SELECT 1 FROM host h WHERE h.lease_owner = w.id AND h.lease_until > ${NOW}))) AS workers
     FROM project p WHERE p.id = $1`,
    [projectId],
  );
  if (workers === 0) return;
  throw sumiError('copy-busy', {
    project,
    store: label,
    workers: workers === 1 ? 'one worker' : `${workers} workers`,
  });
}

async function createReader(
  sql: Sql,
  label: string,
  projectId: number,
  { told, mostRows }: Pick<ReadScope, 'told' | 'mostRows'>,
): Promise<CopyReader> {
  const reserved = await sql.reserve();
  try {
    await reserved.unsafe('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
    const runs = await runIds(reserved, projectId);
    const pages = PageNumbers.of(await readRanges(reserved, projectId));
    return {
      project: await readProject(reserved, projectId, runs),
      pages: pages.size,
      mark: await markOf(reserved, projectId, pages),
      batches: (table, after) =>
        readBatches(reserved, label, { projectId, pages, runs, told, mostRows }, table, after),
      end: () => endReading(reserved),
    };
  } catch (error) {
    reserved.release();
    throw error;
  }
}

async function endReading(reserved: ReservedSql): Promise<void> {
  try {
    await reserved.unsafe('ROLLBACK');
  } finally {
    reserved.release();
  }
}

interface ReadScope {
  projectId: number;
  pages: PageNumbers;
  runs: number[];
  told: Told;
  mostRows: number;
}

async function* readBatches(
  reserved: ReservedSql,
  label: string,
  { projectId, pages, runs, told, mostRows }: ReadScope,
  table: CopyTable,
  after: number,
): AsyncGenerator<CopyBatch> {
  const statement = readStatement(table);
  const toRow = createRowReader(table, { pages, runs }, label);
  const limit = Math.min(BATCH_ROWS[table], mostRows);
  const read = (from: number, to: number): Promise<unknown[][]> =>
    told(async () => await reserved.unsafe(statement, [projectId, from, to], { prepare: true }).values());
  if (isReadInWindows(table)) {
    for (let at = after; at < pages.size; at += limit) {
      const last = Math.min(at + limit, pages.size);
      const found = await read(pages.idOf(at + 1), pages.idOf(last));
      yield { rows: found.map(toRow), after: last };
    }
    return;
  }
  for (let at = after; ; ) {
    const found = await read(at, limit);
    if (found.length === 0) return;
    at = Number(found.at(-1)!.at(-1));
    yield { rows: found.map(toRow), after: at };
  }
}

async function runIds(runner: Runner, projectId: number): Promise<number[]> {
  const rows = await ask<{ id: number }>(runner, 'SELECT id FROM run WHERE project_id = $1 ORDER BY id', [
    projectId,
  ]);
  return rows.map(({ id }) => id);
}

/** Consecutive ids as [first, count], counted by PostgreSQL. */
const RANGES_OF = (ids: string) =>
  `SELECT min(id)::int AS first, count(*)::int AS count
   FROM (SELECT id, id - row_number() OVER (ORDER BY id) AS range FROM ${ids}) s GROUP BY range ORDER BY 1`;

async function readRanges(runner: Runner, projectId: number): Promise<[number, number][]> {
  const rows = await ask<{ first: number; count: number }>(
    runner,
    RANGES_OF('(SELECT id FROM url WHERE project_id = $1) u'),
    [projectId],
  );
  return rows.map(({ first, count }) => [first, count]);
}

function unpreparedKey(projectId: number): string {
  return `unprepared:${projectId}`;
}

async function readMeta(runner: Runner, key: string): Promise<string | null> {
  const [row] = await ask<{ value: string }>(runner, 'SELECT value FROM meta WHERE key = $1', [key]);
  return row?.value ?? null;
}

async function writeMeta(runner: Runner, key: string, value: string): Promise<void> {
  await ask(
    runner,
    'INSERT INTO meta VALUES ($1, $2) ON CONFLICT (key) DO UPDATE SET value = excluded.value',
    [key, value],
  );
}

async function readProject(
  runner: Runner,
  projectId: number,
  runs: readonly number[],
): Promise<CopiedProject> {
  const [{ created_at, ...kept }] = await ask<
    { created_at: number } & Omit<CopiedProject, 'createdAt' | 'unprepared'>
  >(runner, `SELECT created_at, ${COPIED_COLUMNS} FROM project WHERE id = $1`, [projectId]);
  const json = await readMeta(runner, unpreparedKey(projectId));
  const unprepared = json === null ? null : (JSON.parse(json) as NonNullable<CopiedProject['unprepared']>);
  const run = runs.indexOf(unprepared?.run ?? 0) + 1;
  return {
    ...kept,
    createdAt: Number(created_at),
    unprepared: unprepared === null || run === 0 ? null : { ...unprepared, run },
  };
}

async function markOf(runner: Runner, projectId: number, pages: PageNumbers): Promise<string> {
  const runs = await ask(
    runner,
    'SELECT id, status, config_hash, pages, requests, bytes, finished_at FROM run WHERE project_id = $1 ORDER BY id',
    [projectId],
  );
  const last = pages.size === 0 ? 0 : pages.idOf(pages.size);
  // Kept without a crawl.
  const kept = await ask(
    runner,
    'SELECT settings, learned_run FROM project WHERE id = $1 AND (settings IS NOT NULL OR learned_run > 0)',
    [projectId],
  );
  const marked = await ask(runner, `${MARKED} = $1`, [projectId]);
  return createHash('sha256')
    .update(JSON.stringify([pages.size, last, runs, ...kept, ...marked]))
    .digest('hex')
    .slice(0, 32);
}

const BEGIN_COPY = `
INSERT INTO project (name, created_at, uid) SELECT $1, $2, CASE WHEN $3::text IS NULL OR EXISTS
  (SELECT 1 FROM project WHERE uid = $3::text) THEN gen_random_uuid()::text ELSE $3::text END RETURNING id`;
const NAME_COPY = `
UPDATE project SET name = $2, settings = $3, website_url = $4, updated_at = $5, deleted_at = $6 WHERE id = $1`;

async function createWriter(
  sql: Sql,
  label: string,
  identityOf: (url: string) => string,
  request: CopyRequest,
): Promise<CopyWriter | null> {
  const { name, reader } = request;
  if (await isCopied(sql, request)) return null;
  const key = copyKey(name);
  const hosts = createHostIds();
  const inUse = () => sumiError('copy-in-use', { project: name, store: label });
  const opened = await sql.begin((tx) => openProgress(tx, label, key, request));
  let { progress } = opened;
  const { projectId } = progress;
  const pages = PageNumbers.of(progress.ids);
  let runs: number[] = [];
  let runsFor: CopyTable | null = null;

  return {
    projectId,
    resumed: opened.isResumed ? { table: progress.table, after: progress.after } : null,
    async write(table, { rows, after }) {
      const next: CopyProgress = { ...progress, table, after };
      const found = await sql.begin(async (tx) => {
        const moved = await ask(
          tx,
          'UPDATE meta SET value = $3 WHERE key = $1 AND value = $2 RETURNING key',
          [key, JSON.stringify(progress), JSON.stringify(next)],
        );
        if (moved.length === 0) throw inUse();
        if (runsFor !== table) runs = await runIds(tx, projectId);
        runsFor = table;
        const hostIds = await hosts.ensure(tx, hostsIn(table, rows));
        if (isShared(table)) await mergeRows(tx, table, rows, hostIds);
        else await copyRows(tx, table, rows, { projectId, numbering: { pages, runs }, identityOf, hostIds });
        return hostIds;
      });
      hosts.remember(found);
      progress = next;
    },
    async find(table, keys) {
      const toRow = createRowReader(table, { pages, runs: [] }, label);
      const found = (await sql.unsafe(findStatement(table), [keys]).values()) as unknown as unknown[][];
      return found.map((raw) => ({ row: toRow(raw), isInUse: raw.at(-1) === true }));
    },
    async finish() {
      await sql.begin(async (tx) => {
        const ended = await ask(tx, 'DELETE FROM meta WHERE key = $1 AND value = $2 RETURNING key', [
          key,
          JSON.stringify(progress),
        ]);
        if (ended.length === 0) throw inUse();
        await refuseExisting(tx, name, label);
        await queueWaiting(tx, projectId);
        const { unprepared, settings, websiteUrl, updatedAt, deletedAt } = reader.project;
        if (unprepared !== null) {
          const run = (await runIds(tx, projectId))[unprepared.run - 1];
          const value = JSON.stringify({ ...unprepared, run });
          await writeMeta(tx, unpreparedKey(projectId), value);
        }
        await writeMeta(tx, copiedKey(name), JSON.stringify(originOf(request)));
        await ask(tx, NAME_COPY, [projectId, name, settings, websiteUrl, updatedAt, deletedAt]);
      });
    },
  };
}

async function hasProject(runner: Runner, name: string): Promise<boolean> {
  return (await ask(runner, 'SELECT 1 FROM project WHERE name = $1', [name])).length > 0;
}

async function isCopied(runner: Runner, request: CopyRequest): Promise<boolean> {
  if (!(await hasProject(runner, request.name))) return false;
  const json = await readMeta(runner, copiedKey(request.name));
  return json !== null && isSameOrigin(JSON.parse(json) as CopyOrigin, originOf(request));
}

async function refuseExisting(tx: TransactionSql, name: string, label: string): Promise<void> {
  if (await hasProject(tx, name)) throw sumiError('copy-exists', { project: name, store: label });
}

async function openProgress(
  tx: TransactionSql,
  label: string,
  key: string,
  request: CopyRequest,
): Promise<{ progress: CopyProgress; isResumed: boolean }> {
  await refuseExisting(tx, request.name, label);
  const json = await readMeta(tx, key);
  const found = json === null ? null : (JSON.parse(json) as CopyProgress);
  const resumed = progressToResume(found, request, label);
  if (resumed !== null) return { progress: resumed, isResumed: true };
  if (found !== null) await discard(tx, found.projectId, key);
  const progress = await begin(tx, request);
  const made = await ask(tx, 'INSERT INTO meta VALUES ($1, $2) ON CONFLICT DO NOTHING RETURNING key', [
    key,
    JSON.stringify(progress),
  ]);
  if (made.length === 0) throw sumiError('copy-in-use', { project: request.name, store: label });
  return { progress, isResumed: false };
}

/** The sequence gives the ids, so that crawls beside never get one of them; theirs may lie between ours. */
async function begin(tx: TransactionSql, request: CopyRequest): Promise<CopyProgress> {
  const { name, reader } = request;
  const [{ id: projectId }] = await ask<{ id: number }>(tx, BEGIN_COPY, [
    nameWhileCopied(name),
    reader.project.createdAt,
    reader.project.uid,
  ]);
  const ranges = await ask<{ first: number; count: number }>(
    tx,
    `WITH given AS MATERIALIZED (SELECT nextval('url_id') AS id FROM generate_series(1, $1::int)) ${RANGES_OF('given')}`,
    [reader.pages],
  );
  return {
    ...originOf(request),
    projectId,
    ids: ranges.map(({ first, count }) => [first, count]),
    table: 'run',
    after: 0,
  };
}

const OF_PAGES = [
  'fetched',
  'page_text',
  'link_set',
  'link_change',
  'page_depth',
  'sitemap_entry',
  'revisit',
  'orphan',
];

/** Removes what an interrupted copy wrote, but for hosts and robots.txt, which are everybody's. */
async function discard(tx: TransactionSql, projectId: number, key: string): Promise<void> {
  for (const table of OF_PAGES) {
    await ask(
      tx,
      `DELETE FROM ${table} t USING url u WHERE u.project_id = $1 AND t.page_id = u.id AND t.host_id = u.host_id`,
      [projectId],
    );
  }
  await ask(
    tx,
    'DELETE FROM redirect_wait t USING url u WHERE u.project_id = $1 AND t.target_id = u.id AND t.target_host = u.host_id',
    [projectId],
  );
  for (const table of ['visit', 'page_change', 'request'])
    await ask(tx, `DELETE FROM ${table} WHERE run_id IN (SELECT id FROM run WHERE project_id = $1)`, [
      projectId,
    ]);
  for (const table of ['url', 'host_queue', 'lowering', 'origin', 'discovery', 'reader_look', 'run'])
    await ask(tx, `DELETE FROM ${table} WHERE project_id = $1`, [projectId]);
  await ask(tx, 'DELETE FROM project WHERE id = $1', [projectId]);
  await ask(tx, 'DELETE FROM meta WHERE key = $1', [key]);
}

/** Counts are made from the pages that wait; the rest repeats what the hosts' own rows say. */
async function queueWaiting(tx: TransactionSql, projectId: number): Promise<void> {
  await ask(
    tx,
    `INSERT INTO host_queue (project_id, host_id, waiting)
       SELECT project_id, host_id, count(*)::int FROM url WHERE project_id = $1 AND state = ${PAGE_STATES.Queued}
       GROUP BY project_id, host_id
     ON CONFLICT (host_id, project_id) DO UPDATE SET waiting = excluded.waiting`,
    [projectId],
  );
  await ask(
    tx,
    `UPDATE host_queue q SET ready_at = greatest(h.not_before, h.blocked_until), leased_until = coalesce(h.lease_until, 0)
     FROM host h WHERE h.id = q.host_id AND q.project_id = $1`,
    [projectId],
  );
}
