/** The judge is DuckDB: it runs what comes out. */
import { type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api';
import { beforeEach, describe, expect, it } from 'vitest';
import { SumiError } from '../../errors.ts';
import { resolveOptions } from './crawl-options.ts';
import { rewriteSettings, SETTINGS_QUERY } from './rewrite-settings.ts';

let connection: DuckDBConnection;
beforeEach(async () => {
  connection = await (await DuckDBInstance.create(':memory:')).connect();
});

const run = async (text: string) =>
  (await connection.runAndReadAll(rewriteSettings(text).text)).getRowsJson();
const value = async (expression: string) => (await run(`SELECT ${expression}`))[0][0];
const settings = async () => (await connection.runAndReadAll(SETTINGS_QUERY)).getRowObjects()[0];

const TIMEOUT = `current_setting('http_timeout')`;
const KEEP_ALIVE = `current_setting('http_keep_alive')`;

describe('SET and RESET', () => {
  it.each([
    ['SET http_timeout = 60', 60],
    ['set Http_Timeout TO 60', 60],
    ['SET SESSION http_timeout=60;', 60],
    ['SET GLOBAL "http_timeout" = 60', 60],
    ['SET LOCAL http_timeout to 60', 60],
    ['/* a */ SET -- b\n http_timeout /* c */ = /* d */ 60 -- e', 60],
    [`SET http_timeout = '60'`, 60],
    [`SET http_timeout = E'6\\060'`, 60],
    [`SET http_timeout = '2m'`, 120],
    ['SET http_timeout = 1_000', 1000],
    ['SET http_timeout = 30 + 30', 60],
    [`SET http_timeout = ${TIMEOUT} * 2`, 60],
    ['SET http_timeout = (SELECT 60)', 60],
    ['PRAGMA http_timeout = 60', 60],
  ])('%s', async (text, expected) => {
    expect(await value(TIMEOUT)).toBe(30);
    await run(text);
    expect(await value(TIMEOUT)).toBe(expected);
    const { config } = resolveOptions([], await settings());
    expect(config.timeout).toBe(expected);
    await run('RESET http_timeout');
    expect(await value(TIMEOUT)).toBe(30);
  });

  it('half a second is one', async () => {
    await run('SET http_timeout = 0.5');
    expect(resolveOptions([], await settings()).config.timeout).toBe(0.5);
  });

  it.each([
    'SET http_keep_alive = false',
    'SET http_keep_alive TO off',
    `SET SESSION http_keep_alive = 'no'`,
    'SET http_keep_alive = 0',
    'SET http_keep_alive = (1 = 2)',
  ])('%s', async (text) => {
    expect(await value(KEEP_ALIVE)).toBe(true);
    await run(text);
    expect(await value(KEEP_ALIVE)).toBe(false);
    expect(resolveOptions([], await settings()).config.keepAlive).toBe(false);
  });

  it.each([
    'RESET http_timeout',
    'reset session HTTP_TIMEOUT;',
    'SET http_timeout TO DEFAULT',
    'RESET GLOBAL http_timeout',
  ])('%s takes the default again', async (text) => {
    await run(text);
    await run('SET http_timeout = 60');
    await run(text);
    expect(await value(TIMEOUT)).toBe(30);
  });
});

describe('current_setting', () => {
  it.each([
    TIMEOUT,
    `CURRENT_SETTING /* a */ ( -- b\n 'HTTP_TIMEOUT' )`,
    `current_setting(E'http\\x5ftimeout')`,
    `current_setting($$http_timeout$$)`,
    `current_setting('http_'\n'timeout')`,
    `current_setting(('http_timeout'))`,
    `main.current_setting('http_timeout')`,
    `system.main."current_setting"('http_timeout')`,
    `(SELECT max(x) FROM (SELECT ${TIMEOUT} AS x) WHERE ${TIMEOUT} = x)`,
  ])('%s', async (expression) => {
    expect(await value(expression)).toBe(30);
    await run('SET http_timeout = 7');
    expect(await value(expression)).toBe(7);
  });

  it('stands anywhere in a statement', async () => {
    await run('SET http_timeout = 7');
    await run(`CREATE TABLE t AS SELECT '🦆' AS a, ${TIMEOUT} AS b, ${KEEP_ALIVE} AS c`);
    expect(await run('FROM t')).toEqual([['🦆', 7, true]]);
  });

  it('of a variable of the same name is another thing', async () => {
    await run('SET VARIABLE http_timeout = 5');
    expect(await value(`getvariable('http_timeout')`)).toBe(5);
    expect(await value(TIMEOUT)).toBe(30);
    await run('RESET VARIABLE http_timeout');
  });
});

describe('all else is left as it is', () => {
  it.each([
    `SELECT 'current_setting(''http_timeout'')'`,
    `SELECT 1 -- current_setting('http_timeout')`,
    `SELECT /* SET http_timeout = 'abc' */ 1`,
    `SELECT $$current_setting('http_timeout')$$`,
    `SELECT "current_setting('http_timeout')" FROM t`,
    `SELECT mine.current_setting('http_timeout')`,
    `SELECT mine.main.current_setting('http_timeout')`,
    `SELECT current_setting(http_timeout) FROM t`,
    `SELECT current_setting('http_timeout' || x) FROM t`,
    `SELECT current_setting('threads'), http_timeout FROM t`,
    `SET threads = 4`,
    `SET http_proxy = 'http_timeout'`,
    `SET VARIABLE http_timeout = 4`,
    'SET http_timeout_ms = 4',
    'RESET http_proxy',
    'UPDATE t SET http_timeout = 5',
    '',
    `SET`,
    'RESET',
    'SET http_timeout',
  ])('%s', (text) => {
    expect(rewriteSettings(text).text).toBe(text);
  });

  it('the settings of proxies are those of the core', async () => {
    await run(`SET http_proxy = 'proxy:8080'`);
    await run(`SET http_proxy_username = 'u'`);
    await run(`SET http_proxy_password = 'p'`);
    expect(await value(`current_setting('http_proxy')`)).toBe('proxy:8080');
    expect(resolveOptions([], await settings()).config.proxy).toBe('http://u:p@proxy:8080');
  });

  it('a new session has none of them', async () => {
    expect(resolveOptions([], await settings()).config).toMatchObject({
      timeout: 30,
      keepAlive: true,
      proxy: null,
    });
  });
});

describe('bad values are an error at their place', () => {
  it.each([
    [`SET http_timeout = 'abc'`, 1, 20, `http_timeout is 'abc'; expected seconds from 0.001 to 86400`],
    ['/* 🦆 */ SET http_timeout = -1', 1, 28, 'http_timeout is -1; expected seconds'],
    ['SET http_timeout\n  TO 0', 2, 6, 'http_timeout is 0; expected seconds'],
    ['SET http_timeout = soon', 1, 20, 'http_timeout is soon; expected seconds'],
    ['SET http_keep_alive = 2', 1, 23, 'http_keep_alive is 2; expected true or false'],
    ['SET http_timeout =', 1, 19, 'http_timeout has no value'],
    ['SET http_timeout = ;', 1, 19, 'http_timeout has no value'],
    [`SET http_timeout = 'abc`, 1, 20, `a string begins with 'abc and never ends`],
  ])('%s', (text, line, column, message) => {
    try {
      rewriteSettings(text);
      expect.unreachable();
    } catch (error) {
      expect(error).toBeInstanceOf(SumiError);
      expect((error as SumiError).details).toMatchObject({ line, column });
      expect((error as SumiError).message).toContain(message);
    }
  });
});

it('places in the new text lead back to the old one', () => {
  const text = `SELECT a, ${TIMEOUT}, bb, ${KEEP_ALIVE}, ccc`;
  const rewritten = rewriteSettings(text);
  for (const name of ['SELECT', 'a,', 'bb', 'ccc'])
    expect(rewritten.toOriginal(rewritten.text.indexOf(name))).toBe(text.indexOf(name));
  expect(rewritten.toOriginal(rewritten.text.indexOf('sumi_http_timeout'))).toBe(text.indexOf(TIMEOUT));
  expect(rewriteSettings('SELECT 1').toOriginal(5)).toBe(5);
});
