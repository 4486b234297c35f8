// Each mistake that the SQL door promises to answer, through the real command: the code by which it ends, the place, what to
// do; no request was made, and rows stay.
import { spawn } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { page } from '../crawls/crawl-site.ts';
import type { FakeWeb } from '../web/fake-web.ts';
import { useSqlBench } from './sql-bench.ts';
import { startSqlProcess } from './sql-process.ts';

const bench = useSqlBench();

interface Told {
  code: string;
  message: string;
  hint: string;
  line: number | null;
  column: number | null;
}

/** What the command says, as a program hears it. */
async function refusal(
  args: readonly string[],
): Promise<{ exit: number | null; told: Told; stdout: string }> {
  const { code, stderr, stdout } = await startSqlProcess(['--json', ...args]).ended;
  expect(stderr).toMatch(/^\{.*\}\n$/);
  const told = JSON.parse(stderr) as Told;
  expect(told.message).not.toBe('');
  expect(told.hint).not.toBe('');
  return { exit: code, told, stdout };
}

/** A file with a table t of one row, and a view. */
async function prepare(): Promise<{ web: FakeWeb; file: string }> {
  const web = await bench.web({ pages: { '/a': page('A') } });
  const file = join(bench.folder(), 'web.duckdb');
  const sql = await bench.open(file);
  await sql.rows(
    "CREATE TABLE t (url VARCHAR); INSERT INTO t VALUES ('kept'); CREATE VIEW v AS SELECT 'x' AS url",
  );
  await sql.close();
  return { web, file };
}

async function expectUntouched(web: FakeWeb, file: string): Promise<void> {
  expect(web.log).toEqual([]);
  const sql = await bench.open(file);
  expect(await sql.rows('FROM t')).toEqual([{ url: 'kept' }]);
  expect(await sql.rows('SELECT table_name FROM duckdb_tables()')).toEqual([{ table_name: 't' }]);
  await sql.close();
}

const Q = "CRAWL (SELECT 'ORIGIN/a')";

describe('a statement that is wrong', () => {
  it.each<[string, string, string, number | null, number | null]>([
    ['no INTO', `${Q} WITH (threads 1)`, 'sql-syntax', 2, null],
    ['no table', `${Q} INTO`, 'sql-syntax', 2, null],
    ['a bracket that is not closed', "CRAWL (SELECT 'ORIGIN/a' INTO t", 'sql-syntax', 2, 7],
    ['a bracket too many', `${Q}) INTO t`, 'sql-syntax', 2, null],
    ['a quote that is not closed', "CRAWL (SELECT 'ORIGIN/a) INTO t", 'sql-syntax', 2, 15],
    ['WITH without a value', `${Q} INTO t WITH (threads)`, 'sql-syntax', 2, null],
    ['WITH an unknown name', `${Q} INTO t\n  WITH (follow_linx true)`, 'sql-syntax', 3, 9],
    ['WITH a name twice', `${Q} INTO t WITH (threads 1, threads 2)`, 'sql-syntax', 2, null],
    ['WITH a value of another kind', `${Q} INTO t WITH (threads many)`, 'sql-syntax', 2, null],
    ['WITH a value out of range', `${Q} INTO t WITH (threads 33)`, 'sql-syntax', 2, null],
    ['LIMIT -1', `${Q} INTO t LIMIT -1`, 'sql-syntax', 2, null],
    ['LIMIT of text', `${Q} INTO t LIMIT ten`, 'sql-syntax', 2, null],
    ['two columns', "CRAWL (SELECT 'ORIGIN/a', 2) INTO t", 'sql-input-columns', null, null],
    [
      'a query that writes',
      "CRAWL (INSERT INTO t VALUES ('ORIGIN/a') RETURNING url) INTO t",
      'sql-input-no-select',
      null,
      null,
    ],
    ['a query with an unknown name', 'CRAWL (SELECT\n  nothing) INTO t', 'sql-failed', 3, 3],
    ['a query with a mistake', 'CRAWL (SELECT FROM WHERE) INTO t', 'sql-syntax', 2, null],
    ['a condition that is not boolean', `${Q} INTO t WHERE 1`, 'sql-condition', 2, null],
    ['a condition of text', `${Q} INTO t WHERE url`, 'sql-condition', 2, null],
    ['a condition with an unknown name', `${Q} INTO t\n  WHERE urll = 'é' `, 'sql-failed', 3, 9],
    [
      'an unknown name behind signs of several bytes',
      `${Q} INTO t WHERE '日本😀' = nope`,
      'sql-failed',
      2,
      null,
    ],
    ['an empty condition', `${Q} INTO t WHERE WITH (threads 1)`, 'sql-syntax', 2, null],
    ['EXTRACT of nothing', `${Q} INTO t EXTRACT ()`, 'sql-syntax', 2, null],
    ['EXTRACT with a wrong selector', `${Q} INTO t EXTRACT (css 'a[')`, 'selector-invalid', 2, null],
    ['a clause twice', `${Q} INTO t LIMIT 1 LIMIT 2`, 'sql-syntax', 2, null],
    ['a parameter in WITH', `${Q} INTO t WITH (threads $1)`, 'sql-syntax', 2, null],
    ['INTO a view', `${Q} INTO v`, 'sql-target', null, null],
    ['INTO a temporary table', `CREATE TEMP TABLE x (url VARCHAR); ${Q} INTO x`, 'sql-target', null, null],
    ['inside of a transaction', `BEGIN; ${Q} INTO t`, 'sql-target', null, null],
    ['INTO a catalog that is not there', `${Q} INTO no.main.t`, 'sql-target', null, null],
    ['STOP CRAWL INTO what is not under way', 'STOP CRAWL INTO t', 'sql-no-crawl', null, null],
  ])('%s', async (_, script, code, line, column) => {
    const { web, file } = await prepare();
    const text = `SELECT 'before' AS x;\n${script.replaceAll('ORIGIN', web.origin)};\nCREATE TABLE never (x INTEGER)`;
    const { exit, told, stdout } = await refusal([file, '-c', text]);
    expect({ code: told.code, exit: exit === 1 || exit === 2, stdout }).toEqual({
      code,
      exit: true,
      stdout: '[{"x":"before"}]\n',
    });
    if (line !== null) expect(told.line).toBe(line);
    if (column !== null) expect(told.column).toBe(column);
    await expectUntouched(web, file);
  });

  it('names the nearest option', async () => {
    const { web, file } = await prepare();
    const { told } = await refusal([
      file,
      '-c',
      `CRAWL (SELECT '${web.url('/a')}') INTO t WITH (follow_link true)`,
    ]);
    expect(told.hint).toContain('follow_links');
    expect(told.message).toContain('follow_link');
  });

  it('INTO a file that is read only', async () => {
    const { web, file } = await prepare();
    const crawl = `CRAWL (SELECT '${web.url('/a')}') INTO t`;
    const { exit, told } = await refusal([file, '--readonly', '-c', crawl]);
    expect([exit, told.code, told.message]).toEqual([2, 'sql-target', expect.stringContaining('read-only')]);
    await expectUntouched(web, file);
  });
});

describe('a file that cannot be used ends with exit code 4', () => {
  it('is open in another process, which is named', async () => {
    const { web, file } = await prepare();
    const holder = spawn(
      process.execPath,
      [
        '-e',
        `require('@duckdb/node-api').DuckDBInstance.create(process.argv[1]).then((db) => { global.db = db; console.log('open'); process.stdin.resume(); })`,
        file,
      ],
      { cwd: join(import.meta.dirname, '../..'), stdio: ['pipe', 'pipe', 'inherit'] },
    );
    try {
      await new Promise((resolve) => holder.stdout.once('data', resolve));
      const { exit, told } = await refusal([file, '-c', 'SELECT 1']);
      expect([exit, told.code]).toEqual([4, 'sql-file-locked']);
      expect(told.message).toContain(String(holder.pid));
    } finally {
      holder.kill('SIGKILL');
      await new Promise((resolve) => holder.once('close', resolve));
    }
    await expectUntouched(web, file);
  });

  it('is in a folder that is not there, is no DuckDB file, or is a folder', async () => {
    const folder = bench.folder();
    const missing = await refusal([join(folder, 'no', 'x.duckdb'), '-c', 'SELECT 1']);
    expect([missing.exit, missing.told.code]).toEqual([4, 'sql-no-folder']);
    const text = join(folder, 'text.duckdb');
    writeFileSync(text, 'this is not a database, but it is long enough to be looked at\n'.repeat(200));
    const other = await refusal([text, '-c', 'SELECT 1']);
    expect([other.exit, other.told.code]).toEqual([4, 'sql-not-duckdb']);
    mkdirSync(join(folder, 'f.duckdb'));
    expect((await refusal([join(folder, 'f.duckdb'), '-c', 'SELECT 1'])).exit).toBe(4);
    const absent = await refusal([join(folder, 'absent.duckdb'), '--readonly', '-c', 'SELECT 1']);
    expect(absent.exit).toBe(4);
  });
});
