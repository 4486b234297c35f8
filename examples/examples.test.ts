// Runs every example as a user would, against a small site on loopback, and looks at what it prints.
// Examples import the built package, so `npm test` builds before it comes here.
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { respondFromGraph, type Site, serveGraph, serveSite } from '../src/demo/serve-site.ts';
import { createSiteGraph } from '../src/demo/site-graph.ts';
import { sharedPostgres } from '../test/servers/shared-postgres.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const TSX = join(root, 'node_modules', 'tsx', 'dist', 'cli.mjs');
const graph = createSiteGraph({ seed: 3, pages: 24 });
const ran = new Set<string>();
let folder: string;
let site: Site;

const feed = JSON.stringify({
  title: 'Feed of a test',
  items: [{ url: '/', title: 'Home' }, { url: '/guide/', title: 'Guide' }, { url: '/nowhere' }],
});

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'sumi-examples-'));
  site = await serveSite({
    respond: (given) => {
      const answer = respondFromGraph(graph)(given);
      return (request, response, entry) => {
        if (entry.path !== '/feed.json') answer(request, response, entry);
        else response.writeHead(200, { 'content-type': 'application/feed+json' }).end(feed);
      };
    },
  });
});

afterAll(async () => {
  await site.close();
  rmSync(folder, { recursive: true });
});

/** A loopback site needs no pause; an example's own options would win over this. */
// Sitemaps are looked for only where an example is about them: the requests are counted.
const env = { PATH: process.env.PATH, HOME: process.env.HOME, SUMI_DELAY: '0', SUMI_DISCOVER: 'links' };

function run(command: string, args: string[]): Promise<string[]> {
  return new Promise((resolve, reject) => {
    execFile(command, args, { cwd: folder, env, timeout: 60_000 }, (error, stdout, stderr) => {
      if (error === null) resolve(stdout.trimEnd().split('\n'));
      else reject(new Error(`${command} ${args.join(' ')}: ${error.message}\n${stdout}\n${stderr}`));
    });
  });
}

function runExample(name: string, argument: string): Promise<string[]> {
  ran.add(name);
  return run(process.execPath, [TSX, join(root, 'examples', name), argument]);
}

describe('the examples', () => {
  it('01: a first crawl prints its pages, its end and the first titles', async () => {
    const lines = await runExample('01-first-crawl.ts', site.url('/'));
    expect(lines.filter((line) => line.startsWith('200 http'))).toHaveLength(20);
    expect(lines).toContain('completed: 20 pages');
    expect(lines.slice(-3)[0]).toBe(`depth 0: ${graph.page(0).title}`);
  });

  it('02: a scope rule keeps the letters out, a priority puts the top of the site first', async () => {
    const lines = await runExample('02-scope-and-priority.ts', site.url('/'));
    const paths = lines.slice(0, -1);
    expect(paths.some((path) => path.startsWith('/letters'))).toBe(false);
    const depths = paths.map((path) => path.split('/').filter(Boolean).length);
    expect(depths).toEqual([...depths].sort());
    const letters = Array.from({ length: graph.pages }, (_, n) => graph.pathOf(n)).filter((path) =>
      path.startsWith('/letters/'),
    );
    expect(lines.at(-1)).toMatch(new RegExp(`^skipped: [${letters.length}-9]`));
  });

  it('03: a parser reads a feed and its links are followed', async () => {
    const lines = await runExample('03-content-parser.ts', site.url('/feed.json'));
    expect(lines[0]).toBe('application/feed+json: Feed of a test (3 links)');
    // Asked together: whichever is answered first.
    const titles = lines.slice(1).map((line) => /: (.+) \(\d+ links\)$/.exec(line)?.[1]);
    // The third link leads nowhere.
    expect(titles.sort()).toEqual([graph.page(0).title, graph.page(1).title, 'null'].sort());
  });

  it('04: an output sink writes the map as JSON lines', async () => {
    expect(await runExample('04-output-sink.ts', site.url('/'))).toEqual(['20 pages written to map.jsonl']);
    const lines = readFileSync(join(folder, 'map.jsonl'), 'utf8').trimEnd().split('\n');
    const kinds = lines.map((line) => (JSON.parse(line) as { kind: string }).kind);
    expect(kinds.filter((kind) => kind === 'page')).toHaveLength(20);
    expect(kinds.filter((kind) => kind === 'link').length).toBeGreaterThan(20);
    expect(kinds.at(-1)).toBe('end');
  });

  it('05: a pacing strategy is asked after each answer', async () => {
    const [line] = await runExample('05-pacing.ts', site.url('/'));
    expect(line).toBe('the pause was set 6 times, never above 30000 ms: true');
  });

  it('06: a body store keeps every body in a file of its own', async () => {
    expect(await runExample('06-body-store.ts', site.url('/'))).toEqual(['5 pages, bodies in ./bodies']);
    const kept = readdirSync(join(folder, 'bodies')).map((name) =>
      readFileSync(join(folder, 'bodies', name), 'latin1'),
    );
    expect(kept).toHaveLength(5);
    expect(kept).toContain(graph.render(0).toString('latin1'));
  });

  it('07: the database answers SQL, from a program and from sqlite3', async () => {
    const sumi = join(root, 'dist', 'sumi.js');
    await run(process.execPath, [
      sumi,
      'crawl',
      site.url('/'),
      site.url('/nowhere'),
      '--db',
      'sumi.db',
      '-q',
    ]);
    const lines = await runExample('07-ask-with-sql.ts', 'sumi.db');
    expect(lines.slice(0, 2)).toEqual([`Processed: ${graph.pages}`, 'DeadLink: 1']);
    expect(lines.slice(2)).toHaveLength(3);
    ran.add('07-questions.sql');
    const answers = await run('sqlite3', ['sumi.db', `.read ${join(root, 'examples', '07-questions.sql')}`]);
    expect(answers[0]).toMatch(
      new RegExp(`^127\\.0\\.0\\.1:${site.port}\\|completed\\|${graph.pages + 1}\\|`),
    );
  });

  it('08: a config file says how to crawl, and flags win over it', async () => {
    ran.add('08-config.toml');
    const sumi = join(root, 'dist', 'sumi.js');
    const file = join(root, 'examples', '08-config.toml');
    const flags = ['--config', file, '--resolve', `example.com=127.0.0.1:${site.port}`];
    const printed = (await run(process.execPath, [sumi, 'config', ...flags])).join('\n');
    expect(printed).toMatch(/max-pages\s.*500/);
    expect(printed).toMatch(/contact-email\s.*crawler@example\.com/);
    const before = site.log.length;
    const start = ['--start-urls', 'http://example.com/', '--max-pages', '3'];
    const events = await run(process.execPath, [sumi, 'crawl', ...flags, ...start, '--json']);
    expect(JSON.parse(events.at(-1)!)).toMatchObject({ type: 'summary', status: 'completed', pages: 3 });
    const agents = site.log.slice(before).map(({ userAgent }) => userAgent);
    expect(new Set(agents).size).toBe(1);
    expect(agents[0]).toContain('https://example.com/about-our-crawler; crawler@example.com');
  });

  it('09: a store adapter stands before the built-in store', async () => {
    const lines = await runExample('09-store-adapter.ts', site.url('/'));
    expect(lines.some((line) => line.startsWith('settle: 20 calls, '))).toBe(true);
    expect(lines.at(-1)).toBe('20 pages');
  });

  it('10: three workers and a crawl share one database, and every page is fetched once', async () => {
    ran.add('10-many-workers.sh');
    const databases = await sharedPostgres();
    const store = await databases.newDatabase();
    const many = createSiteGraph({ seed: 5, pages: 120, hosts: 12 });
    const web = await serveGraph(many);
    try {
      const starts = web.origins.map((origin) => `${origin}/`);
      const script = join(root, 'examples', '10-many-workers.sh');
      const lines = await run('bash', [script, store, ...starts]);
      expect(lines.filter((line) => line === 'a worker ended with 0')).toHaveLength(3);
      expect(lines.filter((line) => /\bended\b.*\bmany-workers\b/.test(line))).toHaveLength(4);
      expect(lines).toContainEqual(expect.stringMatching(/^Run 1 of many-workers: completed/));
      expect(lines).toContainEqual(expect.stringMatching(/^ +Processed +120$/));
      expect(lines.at(-1)).toBe('132 requests to 12 hosts: 0 violations');
      const asked = web.log
        .filter(({ path }) => path !== '/robots.txt')
        .map(({ host, path }) => `${host} ${path}`);
      expect(asked).toHaveLength(120);
      expect(new Set(asked).size).toBe(120);
    } finally {
      await web.close();
      await databases.dropDatabase(store);
    }
  });

  it('11: pages are read, explained and written to a stream', async () => {
    const [polite, explained, page, ...more] = await runExample('11-read-and-explain.ts', site.url('/'));
    expect(polite).toBe('11 requests, 0 violations');
    expect(explained).toMatch(/^Skipped: limit: max-pages 10, found on http:\/\/127\.0\.0\.1:\d+\//);
    expect(JSON.parse(page)).toMatchObject({ url: site.url('/'), state: 'Processed', status_code: 200 });
    expect(more).toEqual([]);
  });

  it('12: a project keeps its options, and its changes are told', async () => {
    const [kept, ...lines] = await runExample('12-changes-and-settings.ts', site.url('/'));
    expect(kept).toBe('kept: {"max-pages":12,"mode":"full"}; the second crawl visited 12 pages');
    expect(lines).toHaveLength(5);
    expect(lines.slice(0, 3).every((line) => line.startsWith('new /'))).toBe(true);
    expect(lines[3]).toMatch(/^url,outcome,known_by,/);
    expect(lines[4]).toMatch(/^http:.*,new,content,/);
  });

  it('13: a program crawls into a DuckDB table and asks it', async () => {
    const [written, ...titles] = await runExample('13-sql.ts', site.url('/'));
    expect(written).toBe('4 rows written, 0 of them with an error');
    expect(titles).toHaveLength(4);
    expect(titles[0]).toBe(`depth 0: ${graph.page(0).title}`);
    expect(titles.slice(1).every((line) => line.startsWith('depth 1: '))).toBe(true);
  });

  it('14: a script crawls a list of sites and writes a copy for other programs', async () => {
    ran.add('14-pages.sql');
    const sumi = join(root, 'dist', 'sumi.js');
    const list = `CREATE TABLE sites AS SELECT '${site.url('/')}' AS url`;
    const script = join(root, 'examples', '14-pages.sql');
    const lines = await run(process.execPath, [
      ...[sumi, 'sql', 'list.duckdb', '--jsonl'],
      ...['-c', list, '-f', script, '-c', "SELECT count(*) AS copied FROM 'pages.parquet'"],
    ]);
    expect(lines.map((line) => JSON.parse(line) as unknown)).toEqual([
      expect.objectContaining({ Count: 4, new: 4, failed: 0 }),
      { url: site.url('/'), state: 'Processed', heading: graph.page(0).title },
      { copied: 4 },
    ]);
  });

  it('15: a program has a site crawled by the service, and hears of each page', async () => {
    ran.add('15-follow-a-crawl.ts');
    const sumi = process.env.CLI_UNDER_TEST ?? join(root, 'dist', 'sumi.js');
    const flags = ['--db', 'service.db', '--port', '0', '--json', '--egress-allow', '127.0.0.1'];
    const service = spawn(process.execPath, [sumi, 'serve', ...flags], { cwd: folder, env });
    const ended = once(service, 'close');
    try {
      const [line] = (await once(service.stdout, 'data')) as [Buffer];
      const { url } = JSON.parse(line.toString()) as { url: string };
      const example = [TSX, join(root, 'examples', '15-follow-a-crawl.ts'), url, site.url('/')];
      const first = await run(process.execPath, example);
      expect(first).toContain(`200 ${site.url('/')}`);
      expect(first.at(-4)).toBe('100 %: Completed: 8 pages were crawled.');
      expect(first.slice(-3).every((text) => text.startsWith('new: '))).toBe(true);
      const again = await run(process.execPath, example);
      expect(again.at(-1)).toBe('100 %: Completed: 8 pages were crawled.');
    } finally {
      service.kill('SIGTERM');
    }
    expect(await ended).toEqual([0, null]);
  });

  it('are all run here', () => {
    const files = readdirSync(join(root, 'examples')).filter((name) => /^\d\d-/.test(name));
    expect([...ran].sort()).toEqual(files.sort());
  });
});
