import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import Sqlite from '../../src/store/sqlite/driver.ts';
import { type FakeWeb, startFakeWeb } from '../web/fake-web.ts';
import { makeFolder, sumi } from './run-sumi.ts';

const folder = makeFolder();
let web: FakeWeb;
const run = (...args: string[]) => sumi(args, { cwd: folder.path });
const crawl = (db: string, ...more: string[]) =>
  run('crawl', web.origin, '--db', db, '--delay', '0', '--project', 'p', '-q', ...more);

beforeAll(async () => {
  web = await startFakeWeb({
    pages: { '/': '<a href="/a">A</a> <a href="/b">B</a>', '/a': '<a href="/">home</a>', '/b': '' },
  });
});
afterAll(async () => {
  await web.close();
  folder.remove();
});

function count(file: string, table: string): number {
  const db = new Sqlite(folder.file(file), { readonly: true });
  try {
    return db.prepare(`SELECT count(*) FROM ${table}`).pluck().get() as number;
  } finally {
    db.close();
  }
}

describe('sumi index', () => {
  it('builds at the end of a crawl only where that was asked for', async () => {
    expect(await crawl('plain.db')).toMatchObject({ code: 0, stderr: '' });
    expect([count('plain.db', 'reverse_link_set'), count('plain.db', 'index_state')]).toEqual([0, 0]);
    const tables = (file: string) => count(file, "sqlite_schema WHERE name LIKE 'page_words%'");
    expect(tables('plain.db')).toBe(0);
    expect(await crawl('words.db', '--full-text')).toMatchObject({ code: 0, stderr: '' });
    expect(tables('words.db')).toBeGreaterThan(0);
    expect([count('words.db', 'page_words'), count('words.db', 'reverse_link_set')]).toEqual([2, 0]);
    expect(await crawl('asked.db', '--reverse-links')).toMatchObject({ code: 0, stderr: '' });
    expect([count('asked.db', 'reverse_link_set'), count('asked.db', 'index_state')]).toEqual([3, 1]);
  });

  it('builds what is asked for, and brings it up to date', async () => {
    expect(await crawl('later.db')).toMatchObject({ code: 0 });
    const first = await run('index', 'reverse-links', '--db', 'later.db');
    expect(first).toEqual({ code: 0, stderr: '', stdout: 'reverse-links of p: built, 3 pages\n' });
    const again = await run(
      'index',
      'reverse-links',
      '--db',
      'later.db',
      '--project',
      'p',
      '--format',
      'json',
    );
    expect(JSON.parse(again.stdout)).toEqual([
      {
        project: 'p',
        kind: 'reverse-links',
        pages: 0,
        isWhole: false,
      },
    ]);
    const all = await run('index', '--db', 'later.db');
    expect(all.stdout).toMatch(
      /^reverse-links of p: nothing to do\n(?:.*\n)*sorts: ready, for all projects\n$/,
    );
  });

  it('refuses what it does not know, and makes no store', async () => {
    expect(await run('index', 'words', '--db', 'later.db')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('there is no index words'),
    });
    expect(await run('index', '--db', 'none.db')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('db-missing'),
    });
    expect(await run('index', '--db', 'later.db', '--project', 'q')).toMatchObject({ code: 2 });
  });
});
