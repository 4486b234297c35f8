// A store attached to DuckDB: who is linked to most, asked of `site.links` and of the same SQLite file's own view. Both
// unpack the same links; DuckDB is handed them packed.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import { systemClock } from '../src/primitives/clock.ts';
import { attachSite, closeSites, registerSiteFunctions } from '../src/sql/attached/attach-site.ts';
import Sqlite from '../src/store/sqlite/driver.ts';
import { openSqliteStore } from '../src/store/sqlite/sqlite-store.ts';
import { atMost, median, type Row, type Scenario, shown } from './scenario.ts';

const LINKS = 20;
const MOST_OF_SQLITE = 0.6;

const QUESTIONS = {
  'links by target': (site: string) =>
    `SELECT to_page_id, count(*) FROM ${site}links GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 20`,
  'links by target, with URLs': (site: string) =>
    `SELECT p.url, count(*) FROM ${site}links l JOIN ${site}pages p ON p.id = l.to_page_id
     GROUP BY p.id, p.url ORDER BY 2 DESC, p.id LIMIT 20`,
};

/** Half of the links go to the first hundredth of the pages, as menus do. */
async function makeFile(path: string, pages: number): Promise<void> {
  const onFailure = (error: unknown) => {
    throw error;
  };
  await (await openSqliteStore({ path, clock: systemClock, onFailure })).close();
  const db = new Sqlite(path);
  db.exec(`BEGIN; INSERT INTO project (id, name, created_at) VALUES (1, 'p', 0);
    INSERT INTO host (id, name) VALUES (1, 'a.test');
    INSERT INTO run (project_id, started_at, finished_at, status, config_hash, config) VALUES (1, 0, 1, 'completed', '', '{}')`);
  const putPage = db.prepare(
    `INSERT INTO url (id, project_id, host_id, state, priority, depth, attempts, discovered_run, discovered_at, url)
     VALUES (?, 1, 1, 3, 1, 1, 0, 1, 0, ?)`,
  );
  const putLinks = db.prepare('INSERT INTO link_set VALUES (?, 1, ?, NULL, NULL)');
  let seed = 1;
  const below = (limit: number) => {
    seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
    return Math.floor((seed / 0x1_0000_0000) * limit);
  };
  for (let page = 1; page <= pages; page++) {
    putPage.run(page, `https://a.test/section/page-${page}`);
    const targets = new Set<number>();
    for (let i = 0; i < LINKS; i++) targets.add(1 + below(i % 2 === 0 ? Math.ceil(pages / 100) : pages));
    putLinks.run(page, `[${[...targets].join(',')}]`);
  }
  db.exec('COMMIT; ANALYZE');
  db.close();
}

async function timed(work: () => unknown): Promise<number> {
  const began = performance.now();
  await work();
  return performance.now() - began;
}

const hasProgram = () => {
  try {
    return execFileSync('sqlite3', ['--version']).length > 0;
  } catch {
    return false;
  }
};

async function compare(path: string, rounds: number): Promise<Row[]> {
  const db = new Sqlite(path, { readonly: true });
  const instance = await DuckDBInstance.create(':memory:');
  const connection = await instance.connect();
  const main = {
    open() {
      throw new Error('a file is read without the main thread');
    },
  };
  registerSiteFunctions(connection, main);
  const attaching = await timed(() =>
    attachSite(connection, { main, name: 'site', address: path, project: null }),
  );
  const rows: Row[] = [shown('ATTACH', Math.round(attaching), 'ms')];
  const withProgram = hasProgram();
  for (const [name, sqlOf] of Object.entries(QUESTIONS)) {
    const expected = db.prepare(sqlOf('')).raw().all();
    const found = (await connection.runAndReadAll(sqlOf('site.'))).getRowsJS();
    if (
      JSON.stringify(
        found.map((row) => row.map((value) => (typeof value === 'bigint' ? Number(value) : value))),
      ) !== JSON.stringify(expected)
    )
      throw new Error(`${name}: the answers differ`);
    const driver: number[] = [];
    const program: number[] = [];
    const attached: number[] = [];
    for (let round = 0; round < rounds; round++) {
      driver.push(await timed(() => db.prepare(sqlOf('')).all()));
      if (withProgram) program.push(await timed(() => execFileSync('sqlite3', [path, sqlOf('')])));
      attached.push(await timed(() => connection.runAndReadAll(sqlOf('site.'))));
    }
    const ms = (times: number[]) => Math.round(median(times));
    rows.push(shown(`${name}: better-sqlite3`, ms(driver), 'ms'));
    if (withProgram) rows.push(shown(`${name}: the program sqlite3`, ms(program), 'ms'));
    rows.push(shown(`${name}: DuckDB`, ms(attached), 'ms'));
    const fastest = Math.min(median(driver), withProgram ? median(program) : Number.POSITIVE_INFINITY);
    rows.push(atMost(`${name}: of SQLite’s time`, median(attached) / fastest, MOST_OF_SQLITE, '×'));
  }
  await connection.run('DETACH site');
  closeSites(main);
  connection.closeSync();
  instance.closeSync();
  db.close();
  return rows;
}

export const scenario: Scenario = {
  name: 'sql-attached',
  about: 'a store attached to DuckDB, against its own SQLite',
  async run({ quick }) {
    const folder = mkdtempSync(join(tmpdir(), 'sumi-bench-'));
    const path = join(folder, 'links.db');
    const pages = quick ? 5_000 : 100_000;
    try {
      await makeFile(path, pages);
      const rows = await compare(path, quick ? 3 : 7);
      return [shown('pages × links', `${pages.toLocaleString('en')} × ${LINKS}`), ...rows];
    } finally {
      rmSync(folder, { recursive: true });
    }
  },
};
