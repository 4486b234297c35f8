/** `sumi export` from outside: every format from a real crawl, and what goes wrong. */
import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import Sqlite from 'better-sqlite3';
import { parquetReadObjects } from 'hyparquet';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type FakeWeb, startFakeWeb } from '../web/fake-web.ts';
import { COMMAND, makeFolder, sumi } from './run-sumi.ts';

const folder = makeFolder();
let web: FakeWeb;

const run = (...args: string[]) => sumi(args, { cwd: folder.path });
const file = (name: string) => readFileSync(folder.file(name));
const text = (name: string) => file(name).toString();

type Row = Record<string, string | number | null>;

async function exported(...args: string[]): Promise<Row[]> {
  const { stdout, stderr, code } = await run('export', '--format', 'jsonl', ...args);
  expect([stderr, code]).toEqual(['', 0]);
  return stdout
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Row);
}

/** What the database says by plain SQL. */
function ask(sql: string): Row[] {
  const db = new Sqlite(folder.file('sumi.db'), { readonly: true });
  try {
    return db.prepare(sql).all() as Row[];
  } finally {
    db.close();
  }
}

beforeAll(async () => {
  web = await startFakeWeb({
    pages: {
      '/': `<title>Fish & "Chips" <1></title><a href="/a">A</a><a href="/b" rel="nofollow">B</a>
        <a href="/old">Old</a><a href="/dead">D</a><a href="http://127.0.0.9:1/x">other</a>`,
      '/a': '<title>A</title><a href="/">home</a><a href="/b">b</a>',
      '/b': '<title>B</title>',
      '/old': { status: 301, headers: { location: '/a' } },
    },
  });
  await run('crawl', web.origin, '--delay', '0', '--project', 'first', '-q');
});

afterAll(async () => {
  await web.close();
  folder.remove();
});

describe('sumi export', () => {
  it('writes every page and link of the database, with the facts that SQL shows', async () => {
    const rows = await exported();
    const nodes = rows.filter(({ type }) => type === 'node');
    const edges = rows.filter(({ type }) => type === 'edge');
    const facts = nodes.map(({ id, label, state, title, status, depth, discovered_run }) => ({
      id,
      url: label,
      state,
      title,
      status_code: status,
      depth,
      discovered_run,
    }));
    expect(facts).toEqual(
      ask('SELECT id, url, state, title, status_code, depth, discovered_run FROM pages ORDER BY id'),
    );
    expect(edges.map(({ source, target, nofollow }) => ({ source, target, nofollow }))).toEqual(
      ask('SELECT from_page_id AS source, to_page_id AS target, nofollow FROM links ORDER BY id'),
    );
    expect(edges.length).toBeGreaterThan(5);
    const [home] = nodes;
    expect(home).toMatchObject({ class: 'discovered', indegree: 1, outdegree: 5, component: 0 });
    const sum = nodes.reduce((total, { pagerank }) => total + Number(pagerank), 0);
    expect(sum).toBeCloseTo(1, 9);
  });

  it('draws domains together', async () => {
    const [one, other, edge, ...rest] = await exported('--of', 'domains');
    expect(rest).toEqual([]);
    const pages = ask("SELECT count(*) AS n FROM pages WHERE host = '127.0.0.1'")[0].n;
    expect(one).toMatchObject({
      type: 'node',
      label: '127.0.0.1',
      pages,
      processed: 4,
      status: 200,
      depth: 0,
    });
    expect(one.title).toBe('Fish & "Chips" <1>');
    expect(other).toMatchObject({ label: '127.0.0.9', processed: 0, class: 'discovered' });
    expect(edge).toEqual({ type: 'edge', source: one.id, target: other.id, weight: 1, nofollow: 0 });
  });

  it('writes each format to a file, says so, and takes the format from its ending', async () => {
    const { stdout, code } = await run('export', '--out', 'graph.gexf');
    expect([code, stdout]).toEqual([0, '6 nodes and 7 edges written to graph.gexf\n']);
    expect(text('graph.gexf')).toMatch(/^<\?xml .*\n<gexf xmlns="http:\/\/gexf.net\/1.3" version="1.3">/);
    expect(text('graph.gexf')).toContain('Fish &amp; &quot;Chips&quot; &lt;1&gt;');
    for (const format of ['graphml', 'dot']) {
      expect(
        (await run('export', '--format', format, '--of', 'domains', '--out', `domains.${format}`)).code,
      ).toBe(0);
      expect(text(`domains.${format}`)).toContain('127.0.0.9');
    }
    expect(readdirSync(folder.path).filter((name) => name.endsWith('.tmp'))).toEqual([]);
  });

  it('writes tables as two files, nodes beside edges', async () => {
    const { stdout } = await run('export', '--out', 'graph.csv');
    expect(stdout).toBe('6 nodes and 7 edges written to graph.csv and graph-nodes.csv\n');
    expect(text('graph.csv').split('\n')).toHaveLength(7 + 2);
    expect(text('graph-nodes.csv').split('\n', 1)[0]).toMatch(
      /^id,label,host,state,class,title,status,pagerank,/,
    );
    expect((await run('export', '--format', 'csv')).stdout).toBe(text('graph.csv'));
    expect((await run('export', '--out', 'graph.parquet')).code).toBe(0);
    const rowsOf = (name: string) => parquetReadObjects({ file: new Uint8Array(file(name)).buffer });
    const nodes = (await exported()).filter(({ type }) => type === 'node');
    expect(await rowsOf('graph-nodes.parquet')).toEqual(nodes.map(({ type: _, ...node }) => node));
    expect(await rowsOf('graph.parquet')).toHaveLength(7);
  });

  it('has classes and a depth from each origin where the last run was a map', async () => {
    const db = new Sqlite(folder.file('sumi.db'));
    const config = db.prepare('SELECT config FROM run').pluck().get() as string;
    const quality = [{ domain: '127.0.0.1', seeds: [web.origin] }];
    db.prepare('UPDATE run SET config = ?').run(
      JSON.stringify({ ...JSON.parse(config), terrain: { quality } }),
    );
    try {
      const nodes = (await exported()).filter(({ type }) => type === 'node');
      expect(nodes.filter((node) => node.class === 'quality')).toHaveLength(5);
      expect(nodes.map((node) => node['depth_127.0.0.1'])).toEqual([0, 0, 0, 0, 0, 1]);
    } finally {
      db.prepare('UPDATE run SET config = ?').run(config);
      db.close();
    }
  });

  it('takes the only project, and of several the one that is named', async () => {
    expect(await exported('--project', 'first')).toEqual(await exported());
    const { code, stderr } = await run('export', '--format', 'dot', '--project', 'second');
    expect([code, stderr]).toEqual([2, expect.stringContaining('unknown-project')]);
    const only = (await run('export', '--format', 'dot')).stdout;
    await run('crawl', `${web.origin}/b`, '--delay', '0', '--project', 'other', '--db', 'two.db', '-q');
    await run('crawl', web.origin, '--delay', '0', '--project', 'first', '--db', 'two.db', '-q');
    for (const format of ['dot', 'html']) {
      const refused = await run('export', '--format', format, '--db', 'two.db');
      expect(refused).toMatchObject({ code: 2, stdout: '' });
      expect(refused.stderr).toContain('two.db has several projects: "other", "first"');
      expect(refused.stderr).toContain('--project.\n      code: several-projects');
    }
    const named = await run('export', '--format', 'dot', '--db', 'two.db', '--project', 'first');
    expect(named.code).toBe(0);
    expect(named.stdout.split('\n')).toHaveLength(only.split('\n').length);
  });
});

describe('what cannot be exported', () => {
  const refused = async (...args: string[]) => {
    const { code, stdout, stderr } = await run('export', ...args);
    expect(stdout).toBe('');
    return [code, stderr] as const;
  };

  it('is a format that is none, or left out, and parquet without a file', async () => {
    for (const [args, words] of [
      [['--format', 'gif'], 'gexf'],
      [[], '--format is missing'],
      [['--out', 'graph.gif'], '--format is missing'],
      [['--format', 'parquet'], '--out FILE'],
      [['--format', 'parquet', '--out', '-'], '--out FILE'],
      [['--format', 'dot', '--of', 'people'], 'pages'],
    ] as const) {
      expect(await refused(...args)).toEqual([2, expect.stringContaining(words)]);
    }
  });

  it('is a database that is not there', async () => {
    expect(await refused('--format', 'dot', '--db', 'none.db')).toEqual([
      2,
      expect.stringContaining('none.db'),
    ]);
  });

  it('is a place that cannot be written to, and what stood there stays', async () => {
    mkdirSync(folder.file('taken.gexf'));
    expect(await refused('--out', 'taken.gexf')).toEqual([2, expect.stringContaining('it is a directory')]);
    expect(await refused('--out', 'no/where.gexf')).toEqual([
      2,
      expect.stringContaining('folder does not exist'),
    ]);
    expect(await refused('--out', 'sumi.db/x.gexf')).toEqual([2, expect.stringContaining('no directory')]);
    // The second of two files cannot be made: the first is left as it was.
    writeFileSync(folder.file('half.csv'), 'before');
    mkdirSync(folder.file('half-nodes.csv'));
    expect(await refused('--out', 'half.csv')).toEqual([2, expect.stringContaining('half-nodes.csv')]);
    expect(text('half.csv')).toBe('before');
    expect(readdirSync(folder.path).filter((name) => name.endsWith('.tmp'))).toEqual([]);
  });

  it('is told when the disk is full, and leaves nothing behind', () => {
    const full = '/dev/full';
    if (!existsSync(full)) return console.warn(`not run: there is no ${full} here`);
    const { status, stderr } = spawnSync(
      process.execPath,
      [COMMAND, 'export', '--format', 'dot', '--out', full],
      {
        cwd: folder.path,
        encoding: 'utf8',
      },
    );
    expect([status, stderr]).toEqual([2, expect.stringContaining('the disk is full')]);
    expect(lstatSync(full).isCharacterDevice()).toBe(true);
  });

  it('never puts a file in the place of a link or a device', async () => {
    writeFileSync(folder.file('real.dot'), '');
    symlinkSync('real.dot', folder.file('link.dot'));
    expect((await run('export', '--out', 'link.dot')).code).toBe(0);
    expect(lstatSync(folder.file('link.dot')).isSymbolicLink()).toBe(true);
    expect(text('real.dot')).toContain('digraph');
    expect((await run('export', '--format', 'dot', '--out', '/dev/null')).code).toBe(0);
    expect(lstatSync('/dev/null').isCharacterDevice()).toBe(true);
  });

  it('is a folder without the right to write', async () => {
    if (process.getuid?.() === 0) return console.warn('not run: the superuser may write everywhere');
    mkdirSync(folder.file('shut'));
    chmodSync(folder.file('shut'), 0o500);
    expect(await refused('--out', 'shut/x.dot')).toEqual([2, expect.stringContaining('may not write')]);
  });
});
