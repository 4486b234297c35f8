// The driver ends a stream that fails in the middle as if it were whole: nobody may take a part of a result for all of it.
import { describe, expect, it } from 'vitest';
import { page } from '../crawls/crawl-site.ts';
import { useSqlBench } from './sql-bench.ts';
import { startSqlProcess } from './sql-process.ts';

const bench = useSqlBench();

/** More rows than DuckDB gathers before it shows the first. */
const FAILING =
  "SELECT 'x' || CASE WHEN i < 900000 THEN i::VARCHAR ELSE error('too far') END AS x FROM range(1000000) r(i)";

describe('a query that fails after its first rows', () => {
  it.each([
    ['alone', FAILING],
    ['as a CTE', `WITH q AS (${FAILING}) FROM q`],
    ['in brackets', `(${FAILING})`],
    ['with a comment behind it', `${FAILING} -- all`],
    ['prepared', `PREPARE p AS ${FAILING}; EXECUTE p`],
    ['with parameters', FAILING.replace('900000', '$1'), [900000]],
  ])('%s says so', async (_, script, parameters: number[] | undefined = undefined) => {
    const sql = await bench.open();
    let text = '';
    const output = {
      write(piece: string) {
        text += piece;
      },
    };
    const failed = sql.run(script, { format: 'csv', output, parameters });
    await expect(failed).rejects.toMatchObject({ code: 'sql-failed' });
    if (!script.includes('PREPARE')) await expect(failed).rejects.toThrow('too far');
    expect(text.split('\n').length).toBeGreaterThan(1000);
    // The session is as it was: no transaction is left open.
    expect(
      await sql.rows('CREATE TABLE t (x INTEGER); BEGIN; INSERT INTO t VALUES (1); COMMIT; FROM t'),
    ).toEqual([{ x: 1 }]);
  });

  it('in a transaction says so, and the transaction stays the user’s', async () => {
    const sql = await bench.open();
    await sql.rows('CREATE TABLE t (x INTEGER); BEGIN; INSERT INTO t VALUES (1)');
    expect(await sql.rows('FROM t')).toEqual([{ x: 1 }]);
    const error = await sql.error(FAILING);
    expect([error.code, error.message]).toEqual([
      'sql-failed',
      expect.stringMatching(/failed after \d+ rows/),
    ]);
    await sql.rows('ROLLBACK');
    expect(await sql.rows('FROM t')).toEqual([]);
  });

  it('because of a page that a function was to bring says so, and asks nobody again', async () => {
    const web = await bench.web({ pages: { '/a*': page('A') } });
    const sql = await bench.open();
    const urls = Array.from({ length: 30 }, (_, i) => `'${web.url(`/a${i}`)}'`).join(', ');
    const error = await sql.error(
      `SELECT CASE WHEN url LIKE '%a29' THEN error('not this one') ELSE title END FROM crawl([${urls}], options := {default_crawl_delay: 0})`,
    );
    expect(error.code).toBe('sql-failed');
    expect(web.log.filter(({ path }) => path === '/a5').length).toBe(1);
  });

  it('ends the command with exit code 1, and no bracket closes the array', async () => {
    const { code, stdout, stderr } = await startSqlProcess(['--json', '-c', `${FAILING}; SELECT 'never'`])
      .ended;
    expect(code).toBe(1);
    expect(JSON.parse(stderr)).toMatchObject({
      code: 'sql-failed',
      message: expect.stringContaining('too far'),
    });
    expect(stdout.trimEnd().endsWith(']')).toBe(false);
    expect(stdout).not.toContain('never');
  });
});

it('sequences and rows that a query writes stay, as without a transaction of ours', async () => {
  const sql = await bench.open();
  await sql.rows('CREATE SEQUENCE s; CREATE TABLE t (x INTEGER)');
  expect(await sql.rows("SELECT nextval('s') AS n")).toEqual([{ n: 1 }]);
  expect(await sql.rows('WITH q AS (SELECT 5 AS x) INSERT INTO t FROM q RETURNING x')).toEqual([{ x: 5 }]);
  expect(await sql.rows("SELECT nextval('s') AS n, (SELECT count(*) FROM t) AS rows")).toEqual([
    { n: 2, rows: 1 },
  ]);
});
