// The product as a stranger gets it: packed, installed into an empty project, and run there by each Node that is served.
// Every command has to do its work and to print nothing on standard error, neither of ours nor of Node's.
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Site, serveGraph } from '../../src/demo/serve-site.ts';
import { createSiteGraph } from '../../src/demo/site-graph.ts';
import { startTerrainWeb, writeTerrain } from '../cli/terrain-web.ts';
import { sharedPostgres } from '../servers/shared-postgres.ts';
import type { FakeWeb } from '../web/fake-web.ts';
import {
  CLONE,
  getNodes,
  keepDriverOfNode20,
  NODE_MAJORS,
  type NodeMajor,
  type ServedNode,
} from './nodes.ts';

const PAGES = 150;
const FAST = ['--delay', '0', '--discover', 'links', '-q'];
const served = await getNodes();
const reason = typeof served === 'string' ? served : undefined;
if (reason !== undefined) process.stderr.write(`The served versions of Node are not tried: ${reason}.\n`);

const folder = mkdtempSync(join(tmpdir(), 'sumi-smoke-'));
const nodes = new Map(typeof served === 'string' ? [] : served.map((node) => [node.major, node]));
let tarball: string;
let site: Site;

/** A project of its own for each Node, with the package and nothing else. */
const projectOf = (major: NodeMajor) => join(folder, `project-${major}`);

async function install(
  node: ServedNode,
  what: string,
  project = projectOf(node.major),
  more: string[] = [],
): Promise<void> {
  mkdirSync(project, { recursive: true });
  writeFileSync(join(project, 'package.json'), '{"name":"empty","private":true,"type":"module"}');
  const ended = await node.npm(['install', '--no-audit', '--no-fund', ...more, what], project);
  expect(ended, `npm install on Node ${node.version}`).toMatchObject({ code: 0 });
}

/** The answer of a command that did what it should and had nothing to complain of. */
async function sumi(
  node: ServedNode,
  args: readonly string[],
  project = projectOf(node.major),
): Promise<string> {
  const command = join(project, 'node_modules', '.bin', 'sumi');
  const { stdout, ...rest } = await node.run([command, ...args], project);
  expect({ command: args.join(' '), ...rest }).toEqual({
    command: args.join(' '),
    code: 0,
    signal: null,
    stderr: '',
  });
  return stdout;
}

const driverOf = (project: string) => {
  const file = join(project, 'node_modules', 'better-sqlite3', 'package.json');
  return (JSON.parse(readFileSync(file, 'utf8')) as { version: string }).version;
};

/** The repository as it lies here, without what was installed and built. */
function copyClone(to: string): void {
  const left = /^(node_modules|dist.*|\.git|\.bootstrap-lock|coverage)$/;
  cpSync(CLONE, to, { recursive: true, filter: (path) => !left.test(relative(CLONE, path)) });
}

describe.skipIf(reason !== undefined)('the served versions of Node', () => {
  beforeAll(async () => {
    site = await serveGraph(createSiteGraph({ seed: 20, pages: PAGES }));
    await keepDriverOfNode20(nodes.get(20)!);
    const packed = await nodes
      .get(24)!
      .npm(['pack', '--ignore-scripts', '--pack-destination', folder], CLONE);
    expect(packed).toMatchObject({ code: 0 });
    tarball = join(folder, packed.stdout.trim());
    for (const node of nodes.values()) await install(node, tarball);
  }, 400_000);

  afterAll(async () => {
    await site.close();
    rmSync(folder, { recursive: true, force: true });
  });

  it('get a package with all that runs, and nothing that tests', () => {
    const names = readdirSync(join(projectOf(24), 'node_modules', 'sumi-ripple'), { recursive: true }).map(
      String,
    );
    const { version } = JSON.parse(readFileSync(join(CLONE, 'package.json'), 'utf8')) as { version: string };
    expect(tarball).toContain(version);
    expect(names).toEqual(
      expect.arrayContaining([
        ...['dist/sumi.cjs', 'dist/command.cjs', 'dist/command.cache', 'dist/kernel.wasm', 'dist/index.js'],
        ...['dist/types/index.d.ts', 'README.md', 'LICENSE', 'docs/options.md'],
      ]),
    );
    expect(names.filter((name) => /\.test\.|^(test|src|bench|scripts)\/|\.built$/.test(name))).toEqual([]);
  });

  describe.each(NODE_MAJORS)('Node %i', (major) => {
    const project = projectOf(major);
    let node: ServedNode;
    beforeAll(() => {
      node = nodes.get(major)!;
    });
    const run = (...args: string[]) => sumi(node, args);
    const inFile = (name: string) => ['--db', name];
    const states = async (...args: string[]) => {
      const stats = await run('stats', '--format', 'json', ...args);
      return (JSON.parse(stats) as { by_state: Record<string, number> }).by_state;
    };

    it('has the driver that it can run', () => {
      expect(driverOf(project)).toMatch(major === 20 ? /^12\./ : /^13\./);
    });

    it('crawls the demo', async () => {
      await run('demo', '-q', ...inFile('demo.db'));
      expect((await states(...inFile('demo.db'))).Processed).toBeGreaterThan(150);
    });

    it('crawls a site, once more incrementally, and looks at it as a watch does', async () => {
      const start = site.url('/');
      await run('crawl', start, ...FAST, ...inFile('site.db'));
      const first = await states(...inFile('site.db'));
      expect(first.Processed).toBeGreaterThan(PAGES / 2);
      const before = site.log.length;
      await run('crawl', start, ...FAST, '--mode', 'incremental', ...inFile('site.db'));
      const asked = site.log.slice(before).filter(({ path }) => path !== '/robots.txt');
      expect(asked.length).toBeGreaterThan(PAGES / 2);
      // Now and then a page is asked without its validators, to see whether the server tells the truth.
      expect(asked.filter(({ status }) => status === 304).length).toBeGreaterThan(asked.length / 2);
      expect(await states(...inFile('site.db'))).toEqual(first);
      await run('watch', start, '--once', ...FAST, ...inFile('site.db'));
      expect(JSON.parse(await run('audit', '--json', ...inFile('site.db')))).toMatchObject({ violations: 0 });
    });

    it('answers, reports and exports', async () => {
      const list = await run('pages', '--format', 'csv', ...inFile('site.db'));
      expect(list.trim().split('\n').length).toBeGreaterThan(PAGES / 2);
      expect(await run('why', site.url('/'), ...inFile('site.db'))).toContain('200');
      await run('export', '--format', 'graphml', '--out', 'pages.graphml', ...inFile('site.db'));
      await run('export', '--format', 'parquet', '--out', 'pages.parquet', ...inFile('site.db'));
      expect(await run('report', '--html', '-', ...inFile('site.db'))).toContain('</html>');
      expect(readFileSync(join(project, 'pages.graphml'), 'utf8')).toContain('</graphml>');
      expect(readFileSync(join(project, 'pages.parquet')).subarray(0, 4).toString()).toBe('PAR1');
    });

    it('maps a terrain', async () => {
      const web: FakeWeb = await startTerrainWeb();
      try {
        writeTerrain(join(project, 'terrain.toml'), web);
        await run('map', 'terrain.toml', '-q');
        await run('export', '--out', 'map.html', ...inFile('map.db'));
      } finally {
        await web.close();
      }
      expect(readFileSync(join(project, 'map.md'), 'utf8')).toContain('127.0.0.3');
      expect(readFileSync(join(project, 'map.html'), 'utf8')).toContain('</html>');
    });

    it('crawls into PostgreSQL', async () => {
      const postgres = await sharedPostgres();
      const store = await postgres.newDatabase();
      try {
        await run('crawl', site.url('/'), ...FAST, '--store', store);
        await run('crawl', site.url('/'), ...FAST, '--mode', 'incremental', '--store', store);
        expect((await states('--store', store)).states).toEqual((await states(...inFile('site.db'))).states);
      } finally {
        await postgres.dropDatabase(store);
      }
    });

    it('crawls in SQL, goes on, and asks the table', async () => {
      const sql = (script: string) => run('sql', 'web.duckdb', '--json', '-c', script);
      const options = 'WITH (follow_links true, sitemaps never, default_crawl_delay 0, adaptive_delay false)';
      const crawl = `CRAWL (SELECT '${site.url('/')}') INTO pages EXTRACT (css 'h1') ${options}`;
      const [first] = JSON.parse(await sql(`${crawl} LIMIT 10`)) as { Count: number }[];
      expect(first.Count).toBe(10);
      const [rest] = JSON.parse(await sql(crawl)) as { Count: number }[];
      expect(rest.Count).toBeGreaterThan(PAGES / 2);
      const count =
        'SELECT count(*) AS n, count(DISTINCT url) AS urls, count(body) AS bodies, count(h1) AS heads FROM pages';
      const n = 10 + rest.Count;
      expect(JSON.parse(await sql(count))).toEqual([{ n, urls: n, bodies: n, heads: n }]);
      const asked = `SELECT count(*) AS n FROM crawl('${site.url('/')}', options := {sitemaps: 'never', default_crawl_delay: 0})`;
      expect(JSON.parse(await sql(asked))).toEqual([{ n: 1 }]);
      const attached =
        "ATTACH 'web.duckdb.sumi' AS site (TYPE sumi); SELECT count(*) > 10 AS more FROM site.pages";
      expect(JSON.parse(await sql(attached))).toEqual([{ more: true }]);
      expect(JSON.parse(await run('audit', '--json', '--db', 'web.duckdb.sumi'))).toMatchObject({
        violations: 0,
      });
    });

    it('imports the library', async () => {
      writeFileSync(
        join(project, 'program.js'),
        `import { crawl, openResults } from 'sumi-ripple';
        const run = await crawl({ startUrls: [process.argv[2]], db: 'own.db', maxPages: 5, delay: 0 });
        const { status, pages } = await run.finished;
        const results = await openResults('own.db');
        let read = 0;
        for await (const page of results.pages({ states: ['Processed'] })) read += page.title ? 1 : 0;
        await results.close();
        const threaded = await openResults('own.db', { thread: true });
        const { rows } = await threaded.list('pages', { filter: { states: ['Processed'] } });
        await threaded.close();
        console.log(JSON.stringify({ status, pages, read, listed: rows.length }));`,
      );
      const { stdout, ...rest } = await node.run(['program.js', site.url('/')], project);
      expect(rest).toEqual({ code: 0, signal: null, stderr: '' });
      expect(JSON.parse(stdout)).toEqual({ status: 'completed', pages: 5, read: 5, listed: 5 });
    });

    it('outlives the garbage of a crawl', async () => {
      // A small heap is collected every few pages; statements that became garbage are what version 12 aborts at.
      const command = join(project, 'node_modules', 'sumi-ripple', 'dist', 'sumi.cjs');
      const flags = ['--max-semi-space-size=1', '--max-old-space-size=128'];
      const args = ['crawl', site.url('/'), ...FAST, '--fresh', ...inFile('garbage.db')];
      for (let turn = 0; turn < 2; turn++) {
        const ended = await node.run([...flags, command, ...args], project);
        expect(ended).toEqual({ code: 0, signal: null, stderr: '', stdout: '' });
      }
    });
  });

  it('refuse the driver of another Node, in words', async () => {
    const project = join(folder, 'moved');
    cpSync(projectOf(24), project, { recursive: true, verbatimSymlinks: true });
    const command = join(project, 'node_modules', '.bin', 'sumi');
    const args = [command, 'crawl', site.url('/'), ...FAST];
    const unfit = await nodes.get(20)!.run(args, project);
    expect(unfit).toMatchObject({ code: 4, stdout: '' });
    expect(unfit.stderr).toMatch(
      /Node 20\.\d+\.\d+ cannot load the installed SQLite driver, better-sqlite3 13/,
    );
    rmSync(join(project, 'node_modules', 'better-sqlite3'), { recursive: true });
    const missing = await nodes.get(24)!.run(args, project);
    expect(missing).toMatchObject({ code: 4, stdout: '' });
    expect(missing.stderr).toContain('is not installed for Node 24');
  });

  it('share one clone, which each makes ready for itself', async () => {
    const clone = join(folder, 'clone');
    copyClone(clone);
    for (const major of [24, 20] as const) {
      const ready = [join('scripts', 'bootstrap.mjs'), '--run', 'demo', '-q', '--db', `demo-${major}.db`];
      // What builds is installed wherever it runs.
      const ended = await nodes.get(major)!.run(ready, clone, { NODE_ENV: 'production' });
      expect(ended).toMatchObject({ code: 0 });
      expect(ended.stderr).toMatch(/^Installing packages .* done in \d+ s\nBuilding … done in \d+ s\n$/);
      expect(driverOf(clone)).toMatch(major === 20 ? /^12\./ : /^13\./);
    }
  });

  it('get a package that works from a git checkout', async () => {
    const node = nodes.get(24)!;
    const [checkout, project] = [join(folder, 'checkout'), join(folder, 'of-git')];
    copyClone(checkout);
    const git = (...args: string[]) => node.run(['-e', GIT, ...args], checkout);
    for (const args of [
      ['init', '-q'],
      ['add', '-A'],
      ['commit', '-q', '-m', 'as it is'],
    ])
      expect(await git(...args)).toMatchObject({ code: 0 });
    // As images for production are made: what builds the package is needed all the same.
    await install(node, `git+file://${checkout}`, project, ['--omit=dev']);
    expect(existsSync(join(project, 'node_modules', 'sumi-ripple', 'dist', 'kernel.wasm'))).toBe(true);
    await sumi(node, ['crawl', site.url('/'), ...FAST, '--max-pages', '10'], project);
  });
});

const GIT = `const { execFileSync } = require('node:child_process');
execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@example.com', ...process.argv.slice(1)]);`;
