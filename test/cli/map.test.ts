import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import Sqlite from 'better-sqlite3';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { TerrainFigures } from '../../src/graph/terrain-figures.ts';
import { sharedPostgres } from '../servers/shared-postgres.ts';
import type { FakeWeb } from '../web/fake-web.ts';
import { type Finished, makeFolder, type RunOptions, startSumi, sumi } from './run-sumi.ts';
import { HOSTS, startTerrainWeb, writeTerrain } from './terrain-web.ts';

let folder: ReturnType<typeof makeFolder>;
let web: FakeWeb;

const run = (args: string[], options: RunOptions = {}): Promise<Finished> =>
  sumi(args, { cwd: folder.path, ...options });
const summary = () => readFileSync(folder.file('map.md'), 'utf8');

/** The number that stands in a row of the summary's tables. */
function inTable(text: string, name: string): number {
  const row = text.split('\n').find((line) => line.startsWith(`| ${name} |`));
  if (row === undefined) throw new Error(`no row ${name}`);
  return Number(row.split('|')[2].trim().replaceAll(',', ''));
}

function sectionOf(text: string, title: string): string[] {
  const from = text.indexOf(`${title}\n`);
  expect(from).not.toBe(-1);
  return text.slice(from).split('\n\n---')[0].split('\n');
}

describe('a map', () => {
  let finished: Finished;
  let written: string[];
  let db: Sqlite.Database;
  const ask = (sql: string) => db.prepare(sql).raw().all() as (string | number)[][];
  const count = (sql: string) => Number(ask(`SELECT count(*) ${sql}`)[0][0]);

  beforeAll(async () => {
    folder = makeFolder();
    web = await startTerrainWeb();
    writeTerrain(folder.file('terrain.toml'), web);
    finished = await run(['map', 'terrain.toml', '-v', '--html', 'map.html']);
    // Who only reads a file in WAL mode cannot clear away what lies beside it.
    written = readdirSync(folder.path).filter((name) => !/-(wal|shm)$/.test(name));
    db = new Sqlite(folder.file('map.db'), { readonly: true });
  });

  afterAll(async () => {
    db.close();
    await web.close();
    folder.remove();
  });

  it('is made, and tells on the way what it has, does and writes', () => {
    expect(finished.code).toBe(0);
    const told = [
      /^sumi .*: terrain.toml has 2 quality domains, 1 blacklisted, 1 stubbed$/m,
      /^new database map.db$/m,
      /^sumi starts run 1 of terrain$/m,
      /^queued 2 seeds$/m,
      /^200 Processed https:\/\/127.0.0.1:\d+\/ .*\(10 links\)$/m,
      /^summary written to map.md$/m,
      /^map written to map.html$/m,
    ];
    for (const line of told) expect(finished.stderr).toMatch(line);
    expect(finished.stdout).toContain('Completed run 1 of terrain');
    expect(written.sort()).toEqual(['map.db', 'map.html', 'map.md', 'terrain.toml']);
  });

  it('asks nothing of blacklisted and stubbed domains, not even robots.txt', () => {
    const asked = new Set(web.log.map(({ host }) => host));
    expect([...asked].sort()).toEqual([0, 1, 2, 5]);
  });

  it('has a summary that names its run as the view runs does', () => {
    const [[id, started, ended, status]] = ask('SELECT id, started_at, finished_at, status FROM runs');
    const text = summary();
    expect(text).toMatch(/^# Sumi-Ripple Crawl Summary\n/);
    expect(text).toContain(`**Run ID:** ${id}  \n**Started:** ${started}  \n**Finished:** ${ended}  \n`);
    expect([status, /\*\*Status:\*\* (\w+)/.exec(text)?.[1]]).toEqual(['completed', 'Completed']);
    expect(text).toMatch(/\*\*Duration:\*\* (\d+m )?\d+s/);
  });

  it('has overall numbers equal to plain SQL over the views', () => {
    const text = summary();
    const wanted = {
      'Pages Crawled': count("FROM pages WHERE state = 'Processed'"),
      'Unique Domains Discovered': count('FROM (SELECT DISTINCT domain FROM pages)'),
      'Total Links Recorded': count('FROM links'),
      'Blacklisted URLs Found': count('FROM blacklisted_urls'),
      'Stubbed URLs Found': count('FROM stubbed_urls'),
      'Errors Encountered': count(
        "FROM pages WHERE state IN ('DeadLink', 'Unreachable', 'RateLimited', 'Failed', 'Gone')",
      ),
    };
    expect(wanted).toMatchObject({ 'Pages Crawled': 7, 'Unique Domains Discovered': 7 });
    for (const [name, n] of Object.entries(wanted)) expect([name, inTable(text, name)]).toEqual([name, n]);
  });

  it('has depths equal to the least of page_depths, and as many new domains as domains', () => {
    const least = `(SELECT p.domain, p.state, min(d.depth) AS depth FROM pages p JOIN page_depths d ON d.page_id = p.id
      GROUP BY p.id)`;
    const pages = ask(`SELECT depth, count(*) FROM ${least} WHERE state = 'Processed' GROUP BY depth`);
    const domains = new Map(
      ask(
        `SELECT depth, count(*) FROM (SELECT min(depth) AS depth FROM ${least} GROUP BY domain) GROUP BY depth`,
      ).map(([depth, n]) => [depth, n]),
    );
    const rows = pages.map(
      ([depth, n]) => `| ${depth === 0 ? '0 (Quality)' : depth} | ${n} | ${domains.get(depth) ?? 0} |`,
    );
    expect(rows).toHaveLength(3);
    expect(sectionOf(summary(), '## Depth Breakdown').slice(4, 7)).toEqual(rows);
  });

  it('lists quality domains and others with their crawled pages and depths', () => {
    const pagesOf = (domain: string) =>
      count(`FROM pages WHERE state = 'Processed' AND domain = '${domain}'`);
    const lines = sectionOf(summary(), '## Discovered Domains');
    expect(lines).toContain('### Quality Domains (Fully Crawled)');
    expect(lines).toContain(`- ${HOSTS.quality} (${pagesOf(HOSTS.quality)} pages)`);
    expect(lines).toContain(`- ${HOSTS.second} (${pagesOf(HOSTS.second)} page)`);
    expect(lines).toContain(`- ${HOSTS.discovered} (${pagesOf(HOSTS.discovered)} pages, depth 1-2)`);
    expect(lines.join('\n')).not.toContain(HOSTS.blacklist);
  });

  it('lists blacklisted and stubbed URLs by their references, which redirects count among', () => {
    for (const [title, view] of [
      ['Blacklisted', 'blacklisted_urls'],
      ['Stubbed', 'stubbed_urls'],
    ]) {
      const rows = ask(
        `SELECT url, reference_count FROM ${view} ORDER BY reference_count DESC, url LIMIT 20`,
      );
      const shown = sectionOf(summary(), `## Top ${title} URLs`)
        .filter((line) => line.startsWith('| https'))
        .map((line) => {
          const [, url, n] = /^\| (.*) \| (\d+) \|$/.exec(line)!;
          return [url.replace(/\\(.)/g, '$1'), Number(n)];
        });
      expect(shown).toEqual(rows);
      expect(shown).toHaveLength(2);
      expect(summary()).toContain('*(Showing top 2 of 2)*');
    }
    expect(ask("SELECT reference_count FROM blacklisted_urls WHERE url LIKE '%/pixel'")).toEqual([[2]]);
  });

  it('counts errors by kind, and says at which request a domain asked for a rest', () => {
    const text = summary();
    const ofReason = (like: string) =>
      count(`FROM pages WHERE state IN ('Unreachable', 'Failed') AND reason LIKE '${like}'`);
    const wanted = {
      'Dead Links (404)': count("FROM pages WHERE state = 'DeadLink'"),
      'Rate Limited (429)': count("FROM pages WHERE state = 'RateLimited'"),
      'Connection Refused': ofReason('%ECONNREFUSED%'),
      Timeout: 0,
      'Robots Denied': ofReason('robots: Disallow%'),
      Other: ofReason('redirect:%'),
    };
    expect(Object.values(wanted)).toEqual([1, 1, 1, 0, 1, 1]);
    for (const [name, n] of Object.entries(wanted)) expect([name, inTable(text, name)]).toEqual([name, n]);
    const [[domain, requests]] = ask(
      'SELECT domain, request_count FROM domain_states WHERE rate_limited = 1',
    );
    expect(sectionOf(text, '### Rate-Limited Domains')[1]).toBe(`- ${domain} (request #${requests})`);
  });

  it('tells of the graph of domains: its pieces and who is linked to most', () => {
    const text = summary();
    expect([inTable(text, 'Connected Components'), inTable(text, 'Domains in the Largest')]).toEqual([1, 7]);
    const rows = sectionOf(text, '### Top Domains by PageRank').filter((line) => line.startsWith('| 127'));
    expect(rows).toHaveLength(7);
    for (const row of rows) {
      const [domain, , , linkedFrom, linksTo] = row
        .split('|')
        .map((cell) => cell.trim())
        .slice(1);
      const pairs = `FROM (SELECT DISTINCT a.domain AS s, b.domain AS t FROM links l JOIN pages a ON a.id = l.from_page_id
        JOIN pages b ON b.id = l.to_page_id WHERE a.domain <> b.domain)`;
      expect([domain, Number(linkedFrom), Number(linksTo)]).toEqual([
        domain,
        count(`${pairs} WHERE t = '${domain}'`),
        count(`${pairs} WHERE s = '${domain}'`),
      ]);
    }
  });

  it('cannot be forged by what stands in URLs', () => {
    expect(summary()).toContain('/tracker?a=\\|b\\|&c=\\*x\\* | 2 |');
    expect(summary()).toContain('/\\_other_repo | 1 |');
  });

  it('is drawn as one page with every domain in it', () => {
    const html = readFileSync(folder.file('map.html'), 'utf8');
    expect(html).toMatch(/^<!doctype html>/i);
    for (const host of Object.values(HOSTS)) expect(html).toContain(`"${host}"`);
    expect(html).not.toMatch(/\b(src|href)="?https?:/);
  });

  it('is drawn the same by sumi export', async () => {
    const exported = await run(['export', '--db', 'map.db', '--out', 'export.html']);
    expect([exported.code, exported.stdout]).toEqual([0, '7 domains written to export.html\n']);
    const timeless = (file: string) =>
      readFileSync(folder.file(file), 'utf8').replace(/"generatedAt":"[^"]*"/, '');
    expect(timeless('export.html')).toBe(timeless('map.html'));
    expect((await run(['export', '--db', 'map.db', '--format', 'html'])).stdout).toMatch(/^<!doctype html>/i);
  });

  it('can be asked for its numbers, for people and as JSON, without a crawl', async () => {
    const before = web.log.length;
    const { code, stdout, stderr } = await run(['map', 'terrain.toml', '--stats']);
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout).toMatch(/^Run 1 of terrain: completed\n/);
    expect(stdout).toMatch(/Pages Crawled +7\n/);
    const json = await run(['terrain.toml', '--stats', '--json']);
    const figures = JSON.parse(json.stdout) as TerrainFigures;
    expect(figures).toMatchObject({
      pages_crawled: 7,
      errors: 5,
      components: 1,
      errors_by_kind: { dead: 1 },
    });
    expect(web.log).toHaveLength(before);
  });

  it('gives the same summary and page again without a crawl, from any folder', async () => {
    const before = web.log.length;
    const first = summary();
    rmSync(folder.file('map.md'));
    mkdirSync(folder.file('elsewhere'), { recursive: true });
    const again = await run(['map', '../terrain.toml', '--export-summary', '--html', 'page.html'], {
      cwd: folder.file('elsewhere'),
    });
    expect([again.code, again.stdout]).toEqual([0, '']);
    expect(again.stderr).toContain('summary written to ../map.md');
    expect(summary()).toBe(first);
    expect(readdirSync(folder.file('elsewhere'))).toEqual(['page.html']);
    expect(web.log).toHaveLength(before);
  });

  it('is the same, word for word, in PostgreSQL', async () => {
    const server = await sharedPostgres();
    const store = await server.newDatabase();
    try {
      const first = summary();
      const args = ['map', 'terrain.toml', '--store', store];
      const { code, stdout, stderr } = await run([...args, '-q']);
      expect([code, stdout, stderr]).toEqual([0, '', '']);
      const timeless = (text: string) => text.replace(/^\*\*(Started|Finished|Duration):.*$/gm, '');
      expect(timeless(summary())).toBe(timeless(first));
      const stats = await run([...args, '--stats', '--format', 'json']);
      expect(JSON.parse(stats.stdout)).toMatchObject({ project: 'terrain', pages_crawled: 7 });
    } finally {
      await server.dropDatabase(store);
    }
  });
});

describe('the command sumi map', () => {
  beforeEach(async () => {
    folder = makeFolder();
    web = await startTerrainWeb();
    writeTerrain(folder.file('terrain.toml'), web);
  });

  afterEach(async () => {
    await web.close();
    folder.remove();
  });

  it('writes a summary when it is interrupted, and goes on when it is called again', async () => {
    const slow = startSumi(['terrain.toml'], { cwd: folder.path });
    await web.asked('/a');
    slow.child.kill('SIGINT');
    const { code, stderr } = await slow.finished;
    expect(code).toBe(3);
    expect(stderr).toContain('summary written to map.md');
    expect(summary()).toContain('**Status:** Interrupted');
    expect(summary()).toMatch(/\*\*Waiting:\*\* [1-9]\d* URLs?;/);
    expect(summary()).toContain('### Quality Domains\n');
    expect(summary()).toMatch(/^- 127\.0\.0\.1 \(\d+ pages?, \d+ waiting\)$/m);

    const again = await run(['terrain.toml', '--resume', '-v']);
    expect(again.code).toBe(0);
    expect(again.stderr).toMatch(/^run 1 was not finished: [1-9]\d* URLs? of it wait$/m);
    expect(again.stderr).toMatch(/^database map.db$/m);
    expect(summary()).toContain('**Run ID:** 1  ');
    expect(summary()).toContain('**Status:** Completed');
    expect(inTable(summary(), 'Pages Crawled')).toBe(7);
    expect(web.requestsTo('/', 0).filter(({ method }) => method === 'GET')).toHaveLength(1);
  });

  it('starts anew with --fresh', async () => {
    await run(['terrain.toml', '-q']);
    const before = web.requestsTo('/', 0).length;
    const { code } = await run(['terrain.toml', '-q', '--fresh']);
    expect(code).toBe(0);
    expect(web.requestsTo('/', 0).length).toBeGreaterThan(before);
    expect(summary()).toContain('**Run ID:** 2  ');
    expect(inTable(summary(), 'Pages Crawled')).toBe(7);
  });

  it('says with --dry-run what it would do, asks nothing and writes nothing', async () => {
    const { code, stdout, stderr } = await run(['terrain.toml', '--dry-run']);
    expect([code, stderr]).toEqual([0, '']);
    for (const part of [
      'terrain.toml is in order',
      '2 quality domains from 2 seeds',
      `quality  ${web.url('/', 0)}`,
      `Blacklist   ${HOSTS.blacklist}`,
      `Stub list   ${HOSTS.stub}`,
      'depth up to 2, 10 pages open at once, 100 ms between requests to a domain, at most 500 requests',
      'TestMapper/1.0 (+https://example.com/bot)',
      'map.db (new)',
      'map.md',
    ])
      expect(stdout).toContain(part);
    expect(web.log).toEqual([]);
    expect(readdirSync(folder.path)).toEqual(['terrain.toml']);
  });

  it('classifies seeds in a dry run by the order of the lists', async () => {
    const text = readFileSync(folder.file('terrain.toml'), 'utf8');
    writeFileSync(folder.file('two.toml'), `${text}\n[[stub]]\ndomain = "${HOSTS.second}"\n`);
    const { code, stdout, stderr } = await run(['two.toml', '--dry-run']);
    expect(code).toBe(0);
    expect(stderr).toMatch(/^warning: two.toml line \d+: "127.0.0.2" in \[\[quality\]\] counts for nothing/m);
    expect(stdout).toMatch(
      /^ {2}stub +http:\/\/127.0.0.2:\d+\/ .*never asked for: its domain is in \[\[stub\]\]$/m,
    );
  });

  it('says nothing with -q, and nothing but events on standard output with --json', async () => {
    expect(await run(['terrain.toml', '-q'])).toEqual({ code: 0, stdout: '', stderr: '' });
    const { stdout } = await run(['terrain.toml', '--json', '--fresh']);
    const events = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { type: string });
    expect(events.at(-1)).toMatchObject({ type: 'summary', status: 'completed' });
  });

  it('tells of a map that nobody answered: exit 1, and a summary of what went wrong', async () => {
    await web.close();
    web = await startTerrainWeb();
    const { code, stderr } = await run(['terrain.toml']);
    expect(code).toBe(1);
    expect(stderr).toContain('code: no-answer');
    expect(summary()).toContain('**Status:** Failed');
    expect(inTable(summary(), 'Connection Refused')).toBe(2);
    expect(existsSync(folder.file('map.db'))).toBe(true);
  });
});
