// `sumi sql` from outside, as programs and people use it: what is on which stream, how it ends, what stays.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { COMMAND, startSumi, sumi } from './run-sumi.ts';

let cwd: string;
beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), 'sumi-sql-'));
});
/** Of a test that failed. */
const children = new Set<ChildProcess>();
afterEach(() => {
  for (const child of children) child.kill('SIGKILL');
  children.clear();
  rmSync(cwd, { recursive: true });
});

describe('sumi sql for programs', () => {
  it('prints one JSON array a result, each on one line, and nothing for statements without rows', async () => {
    const script = `CREATE TABLE t AS SELECT 9223372036854775807 AS big, 1.50::DECIMAL(4,2) AS price,
        'a\n' || 'b' AS text;
      INSERT INTO t VALUES (1, 2, NULL); SET threads = 2; FROM t ORDER BY big; SELECT 1 AS one WHERE false`;
    const { code, stdout, stderr } = await sumi(['sql', '-c', script, '--json'], { cwd });
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout).toBe(
      '[{"big":1,"price":2.00,"text":null},{"big":9223372036854775807,"price":1.50,"text":"a\\nb"}]\n[]\n',
    );
  });

  it('runs -c and -f in their order, or what comes by standard input', async () => {
    writeFileSync(join(cwd, 'two.sql'), 'SELECT 2 AS x;');
    const asked = await sumi(
      ['sql', '-c', 'SELECT 1 AS x', '-f', 'two.sql', '-c', 'SELECT 3 AS x', '--jsonl'],
      { cwd },
    );
    expect(asked.stdout).toBe('{"x":1}\n{"x":2}\n{"x":3}\n');
    const piped = await sumi(['sql', '--csv'], {
      cwd,
      input: "SELECT ';' AS x; -- a comment; too\nSELECT 2 AS x",
    });
    expect(piped).toEqual({ code: 0, stdout: 'x\n;\nx\n2\n', stderr: '' });
    const dash = await sumi(['sql', '--markdown', '-f', '-'], { cwd, input: 'SELECT 1 AS x' });
    expect(dash.stdout).toBe('| x |\n| ---: |\n| 1 |\n');
  });

  it('tells an error as an object with its place; what ran before stays, what follows is not run', async () => {
    const script =
      'CREATE TABLE kept (x INTEGER);\nSELECT 1 AS x;\n  SELEC 2;\nCREATE TABLE never (x INTEGER)';
    const { code, stdout, stderr } = await sumi(['sql', 'db.duckdb', '--json', '-c', script], { cwd });
    expect(stdout).toBe('[{"x":1}]\n');
    expect(JSON.parse(stderr)).toMatchObject({ line: 3, column: 3 });
    expect(Object.keys(JSON.parse(stderr))).toEqual(['code', 'message', 'hint', 'line', 'column']);
    expect([1, 2]).toContain(code);
    const tables = await sumi(
      ['sql', 'db.duckdb', '--jsonl', '-c', 'SELECT table_name FROM duckdb_tables()'],
      { cwd },
    );
    expect(tables.stdout).toBe('{"table_name":"kept"}\n');
  });

  it('shows people the line with a mark', async () => {
    const { stderr } = await sumi(['sql', '-c', 'SELECT 1;\nSELECT nowhere FROM range(3)'], { cwd });
    expect(stderr).toMatch(/line 2: SELECT nowhere FROM range\(3\)\n {21}\^\n/);
  });

  it('changes nothing with --readonly, and makes no file', async () => {
    await sumi(['sql', 'db.duckdb', '-c', 'CREATE TABLE t (x INTEGER)'], { cwd });
    const before = readFileSync(join(cwd, 'db.duckdb'));
    const { code, stderr } = await sumi(['sql', 'db.duckdb', '--readonly', '--json', '-c', 'DROP TABLE t'], {
      cwd,
    });
    expect(code).not.toBe(0);
    expect(JSON.parse(stderr).message).toMatch(/read-only/);
    expect(readFileSync(join(cwd, 'db.duckdb')).equals(before)).toBe(true);
  });

  it('ends without a word when the reader goes away', async () => {
    const { child, finished } = startSumi(['sql', '--csv', '-c', 'SELECT i FROM range(50000000) r(i)'], {
      cwd,
    });
    children.add(child);
    child.stdout!.once('data', () => child.stdout!.destroy());
    const { code, stdout, stderr } = await finished;
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout.slice(0, 6)).toBe('i\n0\n1\n');
  });

  it('is ended by Ctrl-C with exit code 3', async () => {
    const script = "SELECT 'begun' AS x; SELECT count(*) FROM range(1000000000000) r(i) WHERE hash(i) = 7";
    const { child, finished } = startSumi(['sql', '--json', '-c', script], { cwd });
    children.add(child);
    child.stdout!.on('data', (text: string) => {
      if (text.endsWith('\n')) child.kill('SIGINT');
    });
    const { code, stdout, stderr } = await finished;
    expect(code).toBe(3);
    expect(stdout).toBe('[{"x":"begun"}]\n');
    expect(JSON.parse(stderr).code).toBe('sql-interrupted');
  });
});

/** util-linux's `script` gives a program a terminal; what it reads is typed there. */
const HAS_TERMINAL = spawnSync('script', ['--version'], { encoding: 'utf8' }).stdout?.includes('util-linux');

/** Types each text when the one before it has been seen. */
function type(
  steps: readonly (readonly [seen: string, typed: string])[],
  home: string,
): Promise<{ code: number | null; shown: string }> {
  const command = `"${process.execPath}" "${COMMAND}" sql`;
  const env = { PATH: process.env.PATH, HOME: home, TERM: 'xterm', COLUMNS: '80' };
  const child = spawn('script', ['-qefc', command, '/dev/null'], { cwd: home, env });
  children.add(child);
  let [shown, from, step] = ['', 0, 0];
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    shown += text;
    for (; step < steps.length && shown.indexOf(steps[step][0], from) >= 0; step++) {
      from = shown.length;
      child.stdin.write(steps[step][1]);
    }
  });
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => resolve({ code, shown }));
  });
}

describe('sumi sql on a terminal', () => {
  it('is a shell: many lines, errors, Ctrl-C, completion, history, the end by Ctrl-D', async () => {
    if (!HAS_TERMINAL) return console.log('there is no util-linux `script` here: the terminal is not tried');
    const { code, shown } = await type(
      [
        ['sumi> ', "SELECT '日本' AS land,\r"],
        ['   -> ', '2 AS n;\r'],
        [
          '1 row',
          "SELECT 'be' || 'gun' AS x; SELECT count(*) FROM range(1000000000000) r(i) WHERE hash(i) = 7;\r",
        ],
        ['begun', '\u0003'],
        ['interrupted', 'SELEC 1;\r'],
        ['code: ', 'sel\t'],
        ['select ', '42;\r'],
        ['1 row', 'CREATE TABLE pages (url VARCHAR);\r'],
        ['sumi> ', '.tables\r'],
        ['1 row', '.nothing\r'],
        ['.help lists', '\u0004'],
      ],
      cwd,
    );
    expect(code).toBe(0);
    expect(shown).toContain('│ 日本    │     2 │');
    expect(shown).toContain('│    42 │');
    expect(shown).toMatch(/│ pages +│ table +│ +1 │ +0 │/);
    const history = readFileSync(join(cwd, '.local/state/sumi/sql_history'), 'utf8').split('\n');
    expect(history[0]).toBe(JSON.stringify("SELECT '日本' AS land,\n2 AS n;"));
  });
});
