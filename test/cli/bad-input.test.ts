import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import Sqlite from 'better-sqlite3';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type FakeWeb, startFakeWeb } from '../web/fake-web.ts';
import { type Finished, makeFolder, startSumi, sumi } from './run-sumi.ts';

let folder: ReturnType<typeof makeFolder>;

beforeEach(() => {
  folder = makeFolder();
});

afterEach(() => folder.remove());

/** Nothing listens there: a command that gets so far as to crawl fails differently from what is tested here. */
const NOWHERE = 'http://127.0.0.1:9/';

const run = (...args: string[]): Promise<Finished> => sumi(args, { cwd: folder.path });

function expectRefusal(finished: Finished, code: string, ...words: string[]): void {
  expect(finished.stderr).toContain(`code: ${code}`);
  for (const word of words) expect(finished.stderr).toContain(word);
  // Message, hint and code: three lines, and nothing on standard output.
  expect(finished.stderr.trim().split('\n')).toHaveLength(3);
  expect(finished.stdout).toBe('');
  expect(finished.code).toBe(2);
}

describe('a crawl that was asked for wrongly says why and writes nothing', () => {
  const wrong: [string, string[], string, string[]][] = [
    ['no URL', ['crawl'], 'no-url', ['sumi crawl https://example.com/']],
    ['a URL without host', ['crawl', 'https://'], 'url-no-host', ['https://']],
    ['a scheme that is not the web', ['crawl', 'ftp://example.com/x'], 'url-scheme', ['ftp']],
    ['a word that is no URL', ['crawl', 'exam ple'], 'url-invalid', ['exam ple']],
    ['a misspelt flag', ['crawl', NOWHERE, '--max-page', '3'], 'unknown-option', ['--max-pages']],
    ['a format as a flag', ['changes', '--json'], 'unknown-option', ['--format json;']],
    [
      'a flag of other commands',
      ['sitemap', NOWHERE, '--allow-http'],
      'other-option',
      ['sumi sitemap --help'],
    ],
    ['a misspelt command', ['crwal', NOWHERE], 'unknown-command', ['crawl']],
    ['a value out of its limits', ['crawl', NOWHERE, '--max-pages', '-1'], 'bad-value', ['-1']],
    [
      'a list that needs an item',
      ['crawl', NOWHERE, '--discover', ''],
      'bad-value',
      ['sitemap, links, or both'],
    ],
    ['a broken pattern', ['crawl', NOWHERE, '--include', '('], 'invalid-pattern', ['include']],
    ['a configuration that is not there', ['crawl', NOWHERE, '--config', 'no.toml'], 'config-missing', []],
    ['a list of URLs that is not there', ['crawl', '--urls', 'no.txt'], 'urls-unreadable', ['no.txt']],
    ['a folder that is not there', ['crawl', NOWHERE, '--db', 'no/sumi.db'], 'db-not-writable', ['no']],
    [
      'a folder that takes no files',
      ['crawl', NOWHERE, '--db', '/proc/sumi.db'],
      'db-not-writable',
      ['/proc'],
    ],
  ];
  for (const [what, args, code, words] of wrong) {
    it(what, async () => {
      expectRefusal(await run(...args), code, ...words);
      expect(readdirSync(folder.path)).toEqual([]);
    });
  }

  const SECRET = 'postgres://sumi:s3cret@db.example.com/crawl';
  const stores: [string, string[], string, string[]][] = [
    [
      'a store of another kind',
      ['--store', 'mysql://sumi:s3cret@host/crawl'],
      'bad-value',
      ['postgres://USER'],
    ],
    ['a store without host', ['--store', 'postgres://'], 'bad-value', ['postgres://USER']],
    [
      'a store without host but with password',
      ['--store', 'postgres://sumi:s3cret@/x'],
      'bad-value',
      ['***'],
    ],
    ['a store and a file', ['--store', SECRET, '--db', 'sumi.db'], 'two-stores', ['--store and --db']],
    ['a store as the file', ['--db', SECRET], 'bad-value', ['--store']],
    ['a misspelt --store', ['--stor', SECRET], 'unknown-option', ['--store']],
    ['a misspelt --store with =', [`--stor=${SECRET}`], 'unknown-option', ['--store']],
  ];
  for (const [what, args, code, words] of stores) {
    it(`${what}, and no password is shown`, async () => {
      for (const command of [['crawl', NOWHERE], ['workers']]) {
        const finished = await run(...command, ...args);
        expectRefusal(finished, code, ...words);
        expect(finished.stderr).not.toContain('s3cret');
      }
      expect(readdirSync(folder.path)).toEqual([]);
    });
  }

  it('a store where a URL belongs, and no password is shown', async () => {
    const finished = await run('crawl', SECRET);
    expectRefusal(finished, 'url-scheme', 'postgres://sumi:***@');
    expect(finished.stderr).not.toContain('s3cret');
  });

  it('a directory as the database', async () => {
    mkdirSync(folder.file('data'));
    expectRefusal(await run('crawl', NOWHERE, '--db', 'data'), 'db-is-directory', 'data');
    expect(readdirSync(folder.path, { recursive: true })).toEqual(['data']);
  });

  it('a path that leads through a file', async () => {
    writeFileSync(folder.file('file'), 'text');
    expectRefusal(await run('crawl', NOWHERE, '--db', 'file/sumi.db'), 'db-not-writable', 'file');
    expect(readdirSync(folder.path)).toEqual(['file']);
  });

  it('a file that is not SQLite', async () => {
    writeFileSync(folder.file('notes.txt'), 'these are my notes, not a database');
    expectRefusal(await run('crawl', NOWHERE, '--db', 'notes.txt'), 'db-not-sqlite', 'notes.txt');
    expect(readFileSync(folder.file('notes.txt'), 'utf8')).toBe('these are my notes, not a database');
    expect(readdirSync(folder.path)).toEqual(['notes.txt']);
  });

  it('the database of another program', async () => {
    const db = new Sqlite(folder.file('other.db'));
    db.exec('CREATE TABLE mine (x); INSERT INTO mine VALUES (1)');
    db.close();
    const before = readFileSync(folder.file('other.db'));
    expectRefusal(await run('crawl', NOWHERE, '--db', 'other.db'), 'db-foreign', 'other.db');
    expect(readFileSync(folder.file('other.db')).equals(before)).toBe(true);
    expect(readdirSync(folder.path)).toEqual(['other.db']);
  });

  it('unreadable TOML, with the line', async () => {
    writeFileSync(folder.file('crawl.toml'), 'delay = 1\nmax-pages = = 3\n');
    const finished = await run('crawl', NOWHERE, '--config', 'crawl.toml');
    expectRefusal(finished, 'config-syntax', 'crawl.toml', 'line 2');
    expect(readdirSync(folder.path)).toEqual(['crawl.toml']);
  });

  it('TOML with an unknown key, with the nearest one', async () => {
    writeFileSync(folder.file('crawl.toml'), 'max-page = 3\n');
    const finished = await run('crawl', NOWHERE, '--config', 'crawl.toml');
    expectRefusal(finished, 'unknown-option', 'max-page', 'max-pages');
  });
});

describe('a database that somebody else has', () => {
  let web: FakeWeb;

  beforeEach(async () => {
    web = await startFakeWeb({ graph: { seed: 1, pages: 40 } });
    await run('crawl', web.origin, '--db', 'sumi.db', '--max-pages', '1', '--delay', '0', '-q');
  });

  afterEach(() => web.close());

  it('is refused when it is of a newer version', async () => {
    const db = new Sqlite(folder.file('sumi.db'));
    db.pragma('user_version = 99');
    db.close();
    expectRefusal(await run('crawl', web.origin), 'db-newer', '99');
    expectRefusal(await run('pages'), 'db-newer', '99');
  });

  it('is refused while another program holds its lock', async () => {
    const db = new Sqlite(folder.file('sumi.db'));
    db.exec('BEGIN EXCLUSIVE');
    expectRefusal(await run('crawl', web.origin), 'db-locked', 'sumi.db');
    db.exec('ROLLBACK');
    db.close();
  });

  it('is refused to a second crawler, which is told the process of the first', async () => {
    const first = startSumi(['crawl', web.origin, '--delay', '5'], { cwd: folder.path });
    await web.asked('/', 2);
    expectRefusal(await run('crawl', web.origin), 'db-in-use', `process ${first.child.pid}`);
    const reading = await run('pages', '--format', 'jsonl');
    expect(reading.code).toBe(0);
    expect(reading.stdout).toContain(web.origin);
    first.child.kill('SIGINT');
    expect((await first.finished).code).toBe(3);
  });
});

describe('a question that cannot be answered', () => {
  it('names the database that is missing, and makes none', async () => {
    for (const command of [
      'pages',
      'links',
      'hosts',
      'runs',
      'stats',
      'audit',
      'resume',
      'report',
      'workers',
    ])
      expectRefusal(await run(command, '--db', 'none.db'), 'db-missing', 'none.db');
    expect(readdirSync(folder.path)).toEqual([]);
  });

  it('does not take an empty file for a database', async () => {
    writeFileSync(folder.file('empty.db'), '');
    expectRefusal(await run('pages', '--db', 'empty.db'), 'db-missing', 'empty.db');
    expect(readdirSync(folder.path)).toEqual(['empty.db']);
  });
});
