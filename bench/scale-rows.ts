// What a page costs PostgreSQL: fills the real schema with made-up pages, a group of settlements a transaction, and reads
// back bytes by table, write-ahead log, block reads, and how long groups and claims take while the tables grow.
// Every URL lives as in a crawl (queued, in flight, processed), because dead versions are part of the bytes. Promises:
// lengths and links a page follow from the seed. Never: the store's own statements; those are counted by other benches.
import type postgres from 'postgres';
import { MIGRATIONS } from '../src/store/postgres/schema.ts';
import { createScaleData, type PageRow, type ScaleData } from './scale-data.ts';

export interface RowOptions {
  pages: number;
  hosts: number;
  /** Links of a page. */
  links: number;
  withText: boolean;
  /** Settlements a transaction. */
  group: number;
  /** URLs that wait in the queue, ahead of the pages being settled. */
  waiting: number;
}

export interface TableSize {
  table: string;
  rows: number;
  heapBytes: number;
  toastBytes: number;
  indexBytes: number;
}

export interface GrowthStep {
  pages: number;
  pagesPerSecond: number;
  groupMedianMs: number;
  groupWorstMs: number;
  claimMedianMs: number;
  claimP99Ms: number;
  walBytesPerPage: number;
  blocksReadPerPage: number;
}

type Sql = ReturnType<typeof postgres>;

const PROJECT = 1;
const RUN = 1;
const CLAIM = 32;
const TABLES = ['url', 'fetched', 'page_text', 'link_set', 'request', 'host', 'host_queue'];

export async function createSchema(sql: Sql): Promise<void> {
  for (const migration of MIGRATIONS) await sql.unsafe(migration);
}

async function prepare(sql: Sql, options: RowOptions, data: ScaleData): Promise<void> {
  await sql`INSERT INTO project (id, name, created_at) VALUES (${PROJECT}, 'scale', 0)`;
  await sql`INSERT INTO run (id, project_id, started_at, status, config_hash, config)
    VALUES (${RUN}, ${PROJECT}, 0, 'running', '', '{}')`;
  const hosts = Array.from({ length: options.hosts }, (_, host) => host);
  await sql`INSERT INTO host (id, name)
    SELECT * FROM unnest(${hosts.map((host) => host + 1)}::int[], ${hosts.map(data.hostName)}::text[])`;
  await sql`INSERT INTO host_queue (project_id, host_id) SELECT ${PROJECT}, id FROM host`;
}

/** New URLs come in with the pages that link to them: one statement a group. */
async function queueUrls(sql: Sql, rows: readonly PageRow[]): Promise<void> {
  await sql`INSERT INTO url (id, host_id, project_id, identity, state, priority, rank, depth, discovered_run, discovered_at,
      referrer_id, url)
    SELECT id, host_id, ${PROJECT}, identity, 1, 1, 1, 3, ${RUN}, 1700000000000, referrer, url
    FROM unnest(${rows.map(({ id }) => id)}::int[], ${rows.map(({ hostId }) => hostId)}::int[],
      ${rows.map(({ identity }) => identity)}::uuid[], ${rows.map(({ referrerId }) => referrerId)}::int[],
      ${rows.map(({ url }) => url)}::text[]) AS n (id, host_id, identity, referrer, url)
    ORDER BY host_id
    ON CONFLICT (host_id, project_id, identity) DO NOTHING`;
}

async function settle(sql: Sql, rows: readonly PageRow[], withText: boolean): Promise<void> {
  const ids = rows.map(({ id }) => id);
  const hosts = rows.map(({ hostId }) => hostId);
  await sql`UPDATE url SET state = 3, attempts = 1 FROM unnest(${ids}::int[], ${hosts}::int[]) AS s (id, host_id)
    WHERE url.id = s.id AND url.host_id = s.host_id`;
  await sql`INSERT INTO fetched (page_id, host_id, run_id, visited_at, status_code, content_type, content_length, title,
      h1, description, lang, charset, canonical, noindex, nofollow, word_count, content_hash, simhash, etag,
      last_modified, response_ms, change)
    SELECT page_id, host_id, ${RUN}, 1700000000000 + page_id, 200, 'text/html; charset=utf-8', 37000, title, h1,
      description, 'en', 'utf-8', canonical, 0, 0, 600, decode(hash, 'hex'), page_id * 7919::bigint, etag,
      last_modified, 12.5, 'new'
    FROM unnest(${ids}::int[], ${hosts}::int[], ${rows.map(({ title }) => title)}::text[],
      ${rows.map(({ h1 }) => h1)}::text[], ${rows.map(({ description }) => description)}::text[],
      ${rows.map(({ canonical }) => canonical)}::text[], ${rows.map(({ contentHash }) => contentHash)}::text[],
      ${rows.map(({ etag }) => etag)}::text[], ${rows.map(({ lastModified }) => lastModified)}::text[])
      AS n (page_id, host_id, title, h1, description, canonical, hash, etag, last_modified)`;
  // Arrays of unequal length cannot be one array of arrays: each is passed as its text.
  await sql`INSERT INTO link_set (page_id, host_id, run_id, targets)
    SELECT page_id, host_id, ${RUN}, targets::int[]
    FROM unnest(${ids}::int[], ${hosts}::int[], ${rows.map(({ targets }) => `{${targets.join(',')}}`)}::text[])
      AS n (page_id, host_id, targets)`;
  if (withText)
    await sql`INSERT INTO page_text (page_id, host_id, text)
      SELECT * FROM unnest(${ids}::int[], ${hosts}::int[], ${rows.map(({ text }) => text)}::text[])`;
  await sql`INSERT INTO request (run_id, host_id, page_id, kind, slot_at, sent_at, ended_at, delay_ms, per_host,
      status_code, wire_bytes, content_hash)
    SELECT ${RUN}, host_id, page_id, 0, 1700000000000 + page_id, 1700000000000.25 + page_id, 1700000000012.75 + page_id,
      500, 5, 200, 9000, decode(hash, 'hex')
    FROM unnest(${ids}::int[], ${hosts}::int[], ${rows.map(({ contentHash }) => contentHash)}::text[])
      AS n (page_id, host_id, hash)`;
  const counted = `(SELECT host_id, count(*)::int AS pages FROM unnest($1::int[]) AS s (host_id) GROUP BY host_id)`;
  await sql.unsafe(
    `UPDATE host SET not_before = not_before + 500, samples = samples + pages FROM ${counted} s WHERE id = s.host_id`,
    [hosts],
  );
  await sql.unsafe(
    `UPDATE host_queue SET waiting = waiting - pages, requests = requests + pages FROM ${counted} s
     WHERE project_id = ${PROJECT} AND host_queue.host_id = s.host_id`,
    [hosts],
  );
}

/** A worker asks for a host's best pages; rolled back, so that the pages settle in the order of the data. */
async function timeClaim(sql: Sql, hostId: number): Promise<number> {
  const startedAt = performance.now();
  let ms = 0;
  await sql
    .begin(async (tx) => {
      await tx`UPDATE url SET state = 2 FROM (
          SELECT id AS best FROM url
          WHERE host_id = ${hostId} AND project_id = ${PROJECT} AND state = 1 AND retry_at IS NULL
          ORDER BY rank, id LIMIT ${CLAIM} FOR UPDATE SKIP LOCKED) b
        WHERE url.id = b.best AND url.host_id = ${hostId} RETURNING url.id, url.url`;
      ms = performance.now() - startedAt;
      throw new RolledBack();
    })
    .catch((error: unknown) => {
      if (!(error instanceof RolledBack)) throw error;
    });
  return ms;
}

class RolledBack extends Error {}

async function counters(sql: Sql): Promise<{ wal: number; blocksRead: number }> {
  const [row] = await sql`SELECT (pg_current_wal_lsn() - '0/0'::pg_lsn)::float8 AS wal,
    (SELECT blks_read::float8 FROM pg_stat_database WHERE datname = current_database()) AS blocks`;
  return { wal: row.wal, blocksRead: row.blocks };
}

const quantile = (sorted: Float64Array, share: number) =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;

/** Fills the tables; calls `onStep` each time a further eighth of the pages is in. */
export async function fillTables(sql: Sql, options: RowOptions, onStep: (step: GrowthStep) => void) {
  const data = createScaleData(options);
  await prepare(sql, options, data);
  const { pages, group, waiting } = options;
  for (let at = 0; at < waiting; at += 2000) {
    await queueUrls(sql, data.rows(at, Math.min(2000, waiting - at)));
  }
  await sql`UPDATE host_queue SET waiting = n FROM (SELECT host_id, count(*) AS n FROM url GROUP BY host_id) u
    WHERE host_queue.host_id = u.host_id`;
  await sql`ANALYZE`;
  const stepPages = Math.ceil(pages / 8 / group) * group;
  for (let done = 0; done < pages; ) {
    const before = await counters(sql);
    const groups: number[] = [];
    const claims: number[] = [];
    const [from, end] = [done, Math.min(pages, done + stepPages)];
    let spentMs = 0;
    while (done < end) {
      const count = Math.min(group, end - done);
      // Made before the clock runs: making rows is the loader's work, not the database's.
      const found = data.rows(done + waiting, count);
      const rows = data.rows(done, count);
      const startedAt = performance.now();
      await sql.begin(async (tx) => {
        const inside = tx as unknown as Sql;
        await queueUrls(inside, found);
        await inside`UPDATE url SET state = 2
          FROM unnest(${rows.map(({ id }) => id)}::int[], ${rows.map(({ hostId }) => hostId)}::int[]) AS c (id, host_id)
          WHERE url.id = c.id AND url.host_id = c.host_id`;
      });
      await sql.begin(async (tx) => settle(tx as unknown as Sql, rows, options.withText));
      groups.push(performance.now() - startedAt);
      spentMs += groups.at(-1)!;
      done += count;
      for (let i = 0; i < 2; i++) claims.push(await timeClaim(sql, found[(i * 17) % count].hostId));
    }
    const after = await counters(sql);
    const settled = done - from;
    const sorted = Float64Array.from(groups).sort();
    const claimed = Float64Array.from(claims).sort();
    onStep({
      pages: done,
      pagesPerSecond: (settled / spentMs) * 1000,
      groupMedianMs: quantile(sorted, 0.5),
      groupWorstMs: quantile(sorted, 1),
      claimMedianMs: quantile(claimed, 0.5),
      claimP99Ms: quantile(claimed, 0.99),
      walBytesPerPage: (after.wal - before.wal) / settled,
      blocksReadPerPage: (after.blocksRead - before.blocksRead) / settled,
    });
  }
}

/** Bytes by table, all partitions together; free space inside the files is part of them. */
export async function tableSizes(sql: Sql): Promise<TableSize[]> {
  const sizes: TableSize[] = [];
  for (const table of TABLES) {
    const [size] = await sql`
      WITH part AS (
        SELECT relid FROM pg_partition_tree(${table}::regclass) WHERE isleaf
        UNION SELECT oid FROM pg_class WHERE oid = ${table}::regclass AND relkind = 'r')
      SELECT sum(pg_relation_size(relid))::float8 AS heap, sum(pg_indexes_size(relid))::float8 AS indexes,
        sum(pg_total_relation_size(relid) - pg_relation_size(relid) - pg_indexes_size(relid))::float8 AS toast
      FROM part`;
    const [{ rows }] = await sql`SELECT count(*)::float8 AS rows FROM ${sql(table)}`;
    sizes.push({ table, rows, heapBytes: size.heap, toastBytes: size.toast, indexBytes: size.indexes });
  }
  return sizes;
}

/** Small transactions that wait for the disk: what a design without groups would live on. */
export async function timeCommits(sql: Sql, seconds: number): Promise<number> {
  await sql`CREATE TABLE commit_probe (id int PRIMARY KEY, n int NOT NULL)`;
  await sql`INSERT INTO commit_probe VALUES (1, 0)`;
  const startedAt = performance.now();
  let commits = 0;
  while (performance.now() - startedAt < seconds * 1000) {
    await sql`UPDATE commit_probe SET n = n + 1 WHERE id = 1`;
    commits++;
  }
  const spent = (performance.now() - startedAt) / 1000;
  await sql`DROP TABLE commit_probe`;
  return commits / spent;
}
