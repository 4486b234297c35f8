// What help promises of formats is there: every command is run with each value that its help gives for --format, and with
// one that it does not give; then what a spreadsheet and a data tool make of the files.
import { spawnSync } from 'node:child_process';
import { chmodSync, copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parquetReadObjects } from 'hyparquet';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type FakeWeb, startFakeWeb } from '../web/fake-web.ts';
import { COMMAND, makeFolder, sumi } from './run-sumi.ts';

const folder = makeFolder();
let web: FakeWeb;
const run = (...args: string[]) => sumi(args, { cwd: folder.path });

beforeAll(async () => {
  web = await startFakeWeb({
    pages: {
      '/': `<title>=HYPERLINK("http://evil","x")</title><h1>-5</h1><a href="/a">@SUM(1)</a><a href="/dead">d</a>`,
      '/a': `<title>+1+2 Größe, "a"</title><h1>- list</h1><a href="/">h</a>`,
      '/sitemap.xml': {
        headers: { 'content-type': 'text/xml' },
        body: '<urlset><url><loc>/a</loc></url></urlset>',
      },
    },
  });
  const finished = await run(
    'crawl',
    web.origin,
    '--delay',
    '0',
    '--anchor-text',
    '--bodies',
    'files:bodies',
  );
  expect(finished.code).toBe(0);
  expect((await run('crawl', web.origin, '--delay', '0', '--mode', 'full', '--anchor-text', '-q')).code).toBe(
    0,
  );
});

afterAll(async () => {
  await web.close();
  folder.remove();
});

/** What the command needs beside the format. */
const ARGUMENTS: Record<string, () => string[]> = {
  cat: () => [web.url('/')],
  why: () => [web.url('/')],
  compare: () => ['1', '2'],
  sitemap: () => [web.url('/sitemap.xml'), '--delay', '0'],
  forget: () => ['--older-than', '1d', '--yes'],
  copy: () => ['--from', 'sumi.db', '--to', `copied-${readdirSync(folder.path).length}.db`],
  token: () => ['list'],
  sql: () => ['-c', 'SELECT 1 AS a, 2 AS b'],
};
const WITH_FILE: Record<string, string> = { pages: 'parquet', export: 'parquet' };
/** Those that crawl or work print events and summaries; reclassify and map need a map, and have tests of their own. */
const NOT_TRIED = ['map', 'reclassify'];
const ALL = [
  'text',
  'table',
  'json',
  'jsonl',
  'csv',
  'markdown',
  'html',
  'parquet',
  'gexf',
  'graphml',
  'dot',
];

/** The values that the help of a command gives; null where it has no such flag. */
async function promisedBy(command: string): Promise<string[] | null> {
  const { stdout } = await run(command, '--help');
  const choices = /--format <([a-z|]+)>/.exec(stdout)?.[1].split('|');
  if (choices !== undefined) return choices;
  const described = /--format <FORMAT>.*?\(choices: ([^)]*)\)/.exec(stdout.replaceAll(/\s+/g, ' '))?.[1];
  return described?.match(/[a-z]+/g) ?? null;
}

function isWhole(text: string, format: string): boolean {
  if (format === 'json') return JSON.parse(text) !== null;
  // A list without rows is no line.
  if (format === 'jsonl') return text.split('\n').every((line) => line === '' || JSON.parse(line) !== null);
  if (format === 'csv') return /^[a-z_0-9]+(,[a-z_0-9]+)+\n/.test(text);
  if (format === 'html') return text.startsWith('<!doctype html>') && text.trimEnd().endsWith('</html>');
  if (format === 'gexf' || format === 'graphml')
    return text.startsWith('<?xml') && text.includes(`</${format}>`);
  return text.trim() !== '';
}

async function commands(): Promise<string[]> {
  const { stdout } = await run('--help');
  return [...stdout.matchAll(/^ {2}([a-z]+) (?: *\[|.* {2,}\S)/gm)]
    .map(([, name]) => name)
    .filter((name) => name !== 'help' && name !== 'sumi');
}

describe('--format', () => {
  it('takes at every command what its help says, and nothing else', async () => {
    const names = await commands();
    expect(names).toEqual(
      expect.arrayContaining(['crawl', 'pages', 'stats', 'why', 'report', 'export', 'changes', 'config']),
    );
    const promised: Record<string, string[]> = {};
    for (const name of names) {
      if (NOT_TRIED.includes(name)) continue;
      const formats = await promisedBy(name);
      if (formats !== null) promised[name] = formats;
      for (const format of ALL) {
        const file = WITH_FILE[name] === format ? [`--out`, `out-${name}.${format}`] : [];
        const args = [name, ...(ARGUMENTS[name]?.() ?? []), '--format', format, ...file];
        const { code, stdout, stderr } = await run(...args);
        if (formats?.includes(format)) {
          expect([args, code, stderr]).toEqual([args, 0, expect.any(String)]);
          expect([args, isWhole(stdout, format)]).toEqual([args, true]);
        } else expect([args, code, stdout]).toEqual([args, 2, '']);
      }
    }
    const answer = ['table', 'json'];
    const list = ['table', 'json', 'jsonl', 'csv'];
    expect(promised).toMatchObject({
      ...{ stats: answer, why: answer, report: answer, audit: answer, config: answer, project: answer },
      ...{ links: list, hosts: list, runs: list, pages: [...list, 'parquet'], sql: [...list, 'markdown'] },
    });
    for (const name of ['crawl', 'watch', 'worker', 'cat', 'resume', 'demo'])
      expect(promised[name]).toBeUndefined();
  }, 300_000);

  it('of a crawl is refused before anything is asked or written', async () => {
    const asked = web.log.length;
    const { code, stderr } = await run('crawl', web.origin, '--format', 'csv', '--db', 'none.db');
    expect([code, stderr]).toEqual([2, expect.stringContaining('sumi crawl does not accept it')]);
    expect([web.log.length, existsSync(folder.file('none.db'))]).toEqual([asked, false]);
  });
});

/** RFC 4180, read by a program of its own. */
function cells(csv: string): string[] {
  const found: string[] = [];
  for (const [, quoted, plain] of csv.matchAll(/(?:^|,|\n)(?:"((?:[^"]|"")*)"|([^",\n]*))/g))
    found.push(quoted === undefined ? (plain ?? '') : quoted.replaceAll('""', '"'));
  return found;
}

describe('CSV', () => {
  it.each([
    ['pages'],
    ['links'],
    ['hosts'],
    ['runs'],
    ['changes', '--all', '--all-runs'],
    ['export', '--of', 'pages', '--out', 'graph.csv'],
  ])('of %s holds no formula', async (...args) => {
    const given = args[0] === 'changes' ? ['changes', '--all'] : args;
    const { code, stdout } = await run(...given, '--format', 'csv');
    expect(code).toBe(0);
    const text = args[0] === 'export' ? readFileSync(folder.file('graph-nodes.csv'), 'utf8') : stdout;
    const live = cells(text).filter((cell) => /^[=+\-@\t\r]/.test(cell) && !/^-?\d+(\.\d+)?$/.test(cell));
    expect(live).toEqual([]);
  });

  it('keeps what begins like a formula, behind an apostrophe, and negative numbers as they are', async () => {
    const { stdout } = await run('pages', '--format', 'csv');
    expect(cells(stdout)).toEqual(
      expect.arrayContaining([`'=HYPERLINK("http://evil","x")`, `'+1+2 Größe, "a"`, `'- list`, '-5']),
    );
  });

  it('begins with a byte order mark where one is wanted, in files too, and nothing else does', async () => {
    for (const args of [
      ['pages'],
      ['links'],
      ['runs'],
      ['changes'],
      ['sitemap', web.url('/sitemap.xml'), '--delay', '0'],
    ]) {
      expect((await run(...args, '--format', 'csv', '--bom')).stdout.charCodeAt(0)).toBe(0xfeff);
      expect((await run(...args, '--format', 'csv')).stdout.charCodeAt(0)).not.toBe(0xfeff);
    }
    await run('export', '--of', 'pages', '--out', 'bom.csv', '--bom');
    for (const name of ['bom.csv', 'bom-nodes.csv'])
      expect(readFileSync(folder.file(name)).subarray(0, 3).toString('hex')).toBe('efbbbf');
    const { code, stderr } = await run('pages', '--format', 'json', '--bom');
    expect([code, stderr]).toEqual([2, expect.stringContaining('--bom is for CSV')]);
  });
});

describe('sumi pages --format parquet', () => {
  it('writes every column of JSON, each in its type', async () => {
    const { code, stdout } = await run('pages', '--format', 'parquet', '--out', 'pages.parquet');
    expect([code, stdout]).toEqual([0, 'written to pages.parquet\n']);
    const bytes = readFileSync(folder.file('pages.parquet'));
    const file = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length) as ArrayBuffer;
    const rows = await parquetReadObjects({ file });
    const pages = JSON.parse((await run('pages', '--format', 'json')).stdout) as Record<string, unknown>[];
    const told = pages.map(({ noindex, nofollow, ...row }) => ({
      ...row,
      noindex: noindex === null ? null : Boolean(noindex),
      nofollow: nofollow === null ? null : Boolean(nofollow),
    }));
    const read = rows.map((row) =>
      Object.fromEntries(
        Object.entries(row).map(([name, value]) => [
          name,
          typeof value === 'bigint' ? Number(value) : (value ?? null),
        ]),
      ),
    );
    expect(read).toEqual(told);
    expect(Object.keys(rows[0])).toEqual(Object.keys(pages[0]));
  });

  it.each(['pages.xlsx', 'pages.CSV', 'pages.xml'])(
    'is chosen by the ending, or %s is refused',
    async (name) => {
      const { code, stderr } = await run('pages', '--out', name);
      const isKnown = name.endsWith('CSV');
      expect([code, stderr]).toEqual(
        isKnown ? [0, ''] : [2, expect.stringContaining('ends in .txt, .json, .jsonl, .csv, .parquet')],
      );
      expect(existsSync(folder.file(name))).toBe(isKnown);
      if (isKnown) expect(readFileSync(folder.file(name), 'utf8')).toMatch(/^url,state,/);
    },
  );

  it('has a file of its own: the database is no output', async () => {
    for (const args of [
      ['pages', '--format', 'csv'],
      ['export', '--format', 'csv'],
    ]) {
      const { code, stderr } = await run(...args, '--out', 'sumi.db');
      expect([code, stderr]).toEqual([2, expect.stringContaining('it is a database in use')]);
    }
    expect((await run('stats')).code).toBe(0);
  });

  it('needs a file', async () => {
    const { code, stderr } = await run('pages', '--format', 'parquet');
    expect([code, stderr]).toEqual([2, expect.stringContaining('--out FILE')]);
  });
});

describe('commands that only read', () => {
  it('leave no file beside the database, and can read it in a folder where they may write nothing', async () => {
    // `sumi token` keeps tokens beside the database, in a file of their own.
    const beside = () =>
      readdirSync(folder.path).filter((name) => name.startsWith('sumi.db') && name !== 'sumi.db.service');
    for (const args of [
      ['pages'],
      ['stats'],
      ['why', web.url('/')],
      ['report', '--html', 'r.html'],
      ['audit'],
      ['changes'],
    ]) {
      expect((await run(...args)).code).toBe(0);
      expect(beside()).toEqual(['sumi.db']);
    }
    const shut = folder.file('shut');
    mkdirSync(shut);
    copyFileSync(folder.file('sumi.db'), join(shut, 'theirs.db'));
    chmodSync(folder.path, 0o755);
    chmodSync(shut, 0o555);
    // The administrator may write everywhere, whatever the folder says: then somebody else is asked to read.
    const other = process.getuid?.() === 0 ? { uid: 65534, gid: 65534 } : {};
    const args = [COMMAND, 'stats', '--db', join(shut, 'theirs.db')];
    const { status, stdout, stderr } = spawnSync(process.execPath, args, {
      ...other,
      encoding: 'utf8',
      env: { PATH: process.env.PATH },
    });
    chmodSync(shut, 0o755);
    expect([status, stderr]).toEqual([0, '']);
    expect(stdout).toMatch(/URLs on 1 host/);
    expect(readdirSync(shut)).toEqual(['theirs.db']);
  });
});
