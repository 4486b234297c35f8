import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { disconnect, type Sql } from '../../src/store/postgres/connection.ts';
import { openForWriting as openPostgres } from '../../src/store/postgres/open-database.ts';
import { readReport as readFromPostgres } from '../../src/store/postgres/read-report.ts';
import { openForWriting as openSqlite } from '../../src/store/sqlite/open-database.ts';
import { readReport as readFromSqlite } from '../../src/store/sqlite/read-report.ts';
import { sharedPostgres } from '../servers/shared-postgres.ts';

/** Rows that both schemas take, told once; `$hosts(…)` columns stand where PostgreSQL keeps the host besides. */
const ROWS = [
  `INSERT INTO project (id, name, created_at) VALUES (1, 'shop', 0), (2, 'other', 0)`,
  `INSERT INTO run (id, project_id, started_at, finished_at, status, config_hash, config) VALUES
     (1, 1, 1000, 3500, 'completed', 'h', '{}'), (2, 1, 10000, NULL, 'running', 'h', '{}'),
     (3, 2, 0, 1, 'completed', 'h', '{}')`,
  `INSERT INTO host (id, name) VALUES (1, 'b.example'), (2, 'B.example'), (3, 'a.example')`,
  `INSERT INTO robots_txt (origin, host_id, status, fetched_at, expires_at, delay_seconds) VALUES
     ('https://b.example', 1, 200, 5, 9, 2.5), ('http://b.example', 1, 404, 4, 9, NULL), ('https://a.example', 3, 0, 5, 9, NULL)`,
];

/** id, project, host, state, priority, depth, found in run, URL, reason. */
const URLS: [number, number, number, number, number, number, number, string, string | null][] = [
  [1, 1, 1, 3, 0, 0, 1, 'https://b.example/', null],
  [2, 1, 1, 6, 1, 1, 1, 'https://b.example/dead', 'http: 404'],
  [3, 1, 1, 6, 1, 1, 1, 'https://b.example/Dead', 'http: 404'],
  [4, 1, 1, 13, 2, 1, 1, 'https://b.example/private', 'robots: Disallow /private'],
  [5, 1, 3, 7, 1, 2, 1, 'https://a.example/', 'robots: unreachable 0'],
  [6, 1, 2, 1, 1, 3, 1, 'https://b.example/waits', null],
  [7, 1, 2, 2, 2, 4, 2, 'https://b.example/asked', null],
  [8, 1, 2, 9, 1, 2, 2, 'https://b.example/off', 'robots: Disallow /'],
  [9, 1, 2, 3, 1, 65_535, 2, 'https://b.example/lost', null],
  [10, 2, 2, 3, 1, 7, 3, 'https://b.example/theirs', null],
];

/** Page, host, run, type, body. */
const FETCHED: [number, number, number, string | null, string | null][] = [
  [1, 1, 2, 'Text/HTML; charset=utf-8', 'k1'],
  [2, 1, 1, 'text/html', 'k2'],
  [3, 1, 2, 'text/html ;x', 'k1'],
  [9, 2, 2, null, null],
  [10, 2, 3, 'text/html', 'k9'],
];

/** Run, host, page, kind, status, bytes, delay. */
const REQUESTS: [number, number, number | null, number, number, number, number][] = [
  [1, 1, null, 2, 200, 10, 1000],
  [1, 1, 1, 0, 503, 20, 1000],
  [1, 1, 1, 0, 200, 300, 1500],
  [1, 1, 2, 0, 404, 40, 1000],
  [2, 1, null, 3, 0, 0, 0],
  [2, 1, 1, 0, 200, 310, 1000],
  [2, 2, 9, 1, 200, 0, 500],
  [2, 2, 9, 0, 200, 9, 500],
  [2, 3, 5, 0, 0, 0, 1000],
  [3, 2, 10, 0, 200, 999, 500],
];

const sqlText = (value: string | number | null) =>
  typeof value === 'string' ? `'${value.replaceAll("'", "''")}'` : String(value);
const valuesOf = (rows: readonly (readonly (string | number | null)[])[]) =>
  rows.map((row) => `(${row.map(sqlText).join(', ')})`).join(', ');

function statements(isPostgres: boolean): string[] {
  const fetched = FETCHED.map(([page, host, run, type, body]) =>
    isPostgres ? [page, host, run, 0, type, body, 0, 0] : [page, run, 0, type, body, 0, 0],
  );
  const uuid = (id: number) => `00000000-0000-0000-0000-${String(id).padStart(12, '0')}`;
  const urls = URLS.map((row) => (isPostgres ? [...row, 0, 0, uuid(row[0]), row[0]] : [...row, 0, 0]));
  const requests = REQUESTS.map((row, n) => [n + 1, ...row, 0, n * 100, 12_000 + n * 100, 1]);
  return [
    ...ROWS,
    `INSERT INTO url (id, project_id, host_id, state, priority, depth, discovered_run, url, reason, discovered_at,
       attempts${isPostgres ? ', identity, rank' : ''}) VALUES ${valuesOf(urls)}`,
    `INSERT INTO fetched (page_id, ${isPostgres ? 'host_id, ' : ''}run_id, visited_at, content_type, body_key, noindex,
       nofollow) VALUES ${valuesOf(fetched)}`,
    `INSERT INTO request (id, run_id, host_id, page_id, kind, status_code, wire_bytes, delay_ms, slot_at, sent_at, ended_at,
       per_host) VALUES ${valuesOf(requests)}`,
  ];
}

const folder = mkdtempSync(join(tmpdir(), 'sumi-report-'));
const file = openSqlite(join(folder, 'sumi.db'));
let address: string;
let sql: Sql;

beforeAll(async () => {
  for (const statement of statements(false)) file.exec(statement);
  const server = await sharedPostgres();
  address = await server.newDatabase();
  sql = (await openPostgres(address, { max: 1, applicationName: 'test' })).sql;
  for (const statement of statements(true)) await sql.unsafe(statement);
});

afterAll(async () => {
  file.close();
  rmSync(folder, { recursive: true });
  if (sql !== undefined) await disconnect(sql);
  await (await sharedPostgres()).dropDatabase(address);
});

describe('the report of a run', () => {
  it('counts the latest run of a project over all its pages', async () => {
    expect(await readFromSqlite(file, 2)).toEqual({
      is_latest: true,
      duration_seconds: 2.8,
      pages_by_state: {
        Processed: 2,
        DeadLink: 2,
        Queued: 1,
        Fetching: 1,
        Unreachable: 1,
        Failed: 1,
        Skipped: 1,
      },
      status_codes: { 0: 1, 200: 2 },
      content_types: { 'text/html': 2 },
      requests_by_kind: { GET: 3, HEAD: 1 },
      hosts_visited: 3,
      retries: 0,
      known_urls: 9,
      read: 2,
      broken: 4,
      rate_limited: 0,
      skipped: 1,
      waiting: 2,
      errors: 4,
      errors_by_reason: { 'http: 404': 2, 'robots: Disallow /': 1, 'robots: unreachable 0': 1 },
      robots_denials: 2,
      queued_by_priority: { 1: 1, 2: 1 },
      bodies_stored: 2,
      distinct_bodies: 1,
      domains: [
        domain('B.example', { requests: 2, page_requests: 1, failed_requests: 0, bytes: 9, delay: 0.5 }),
        domain('a.example', {
          ...{ requests: 1, page_requests: 1, failed_requests: 1, bytes: 0, delay: 1, robots_status: 0 },
        }),
        domain('b.example', { bytes: 310, delay: 1, robots_status: 200, robots_delay: 2.5 }),
      ],
      top_errors: [
        { reason: 'http: 404', pages: 2, example: 'https://b.example/Dead' },
        { reason: 'robots: Disallow /', pages: 1, example: 'https://b.example/off' },
        { reason: 'robots: unreachable 0', pages: 1, example: 'https://a.example/' },
      ],
      deepest_pages: [
        { url: 'https://b.example/asked', depth: 4, state: 'Fetching' },
        { url: 'https://b.example/waits', depth: 3, state: 'Queued' },
        { url: 'https://a.example/', depth: 2, state: 'Unreachable' },
        { url: 'https://b.example/off', depth: 2, state: 'Failed' },
        { url: 'https://b.example/Dead', depth: 1, state: 'DeadLink' },
        { url: 'https://b.example/dead', depth: 1, state: 'DeadLink' },
        { url: 'https://b.example/private', depth: 1, state: 'Skipped' },
        { url: 'https://b.example/', depth: 0, state: 'Processed' },
      ],
    });
  });

  it('leaves an earlier run what no later one visited or queued again', async () => {
    expect(await readFromSqlite(file, 1)).toMatchObject({
      is_latest: false,
      duration_seconds: 2.5,
      pages_by_state: { DeadLink: 1, Unreachable: 1, Skipped: 1 },
      status_codes: { 200: 1, 404: 1, 503: 1 },
      requests_by_kind: { GET: 3, robots: 1 },
      retries: 1,
      waiting: 0,
      bodies_stored: 1,
      robots_denials: 1,
      domains: [
        domain('b.example', {
          requests: 4,
          page_requests: 3,
          failed_requests: 2,
          bytes: 370,
          delay: 1.5,
          robots_status: 200,
          robots_delay: 2.5,
        }),
      ],
    });
  });

  it('is null for a run that does not exist', async () => {
    expect([await readFromSqlite(file, 9), await readFromPostgres(sql, 9)]).toEqual([null, null]);
  });

  it.each([1, 2, 3])('of run %i is the same on both stores', async (run) => {
    expect(await readFromPostgres(sql, run)).toEqual(await readFromSqlite(file, run));
  });
});

function domain(host: string, figures: object): object {
  return {
    host,
    requests: 1,
    page_requests: 1,
    failed_requests: 0,
    robots_delay: null,
    robots_status: null,
    ...figures,
  };
}
