import { spawn, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type FakeWeb, startFakeWeb } from '../web/fake-web.ts';
import { COMMAND, makeFolder, sumi } from './run-sumi.ts';

const folder = makeFolder();
let web: FakeWeb;

const run = (...args: string[]) => sumi(args, { cwd: folder.path });
type Row = Record<string, string | number | null>;

async function rows(...args: string[]): Promise<Row[]> {
  const { stdout, stderr, code } = await run(...args, '--format', 'json');
  expect([stderr, code]).toEqual(['', 0]);
  return JSON.parse(stdout) as Row[];
}

const urls = (list: Row[]) => list.map(({ url }) => String(url).slice(web.origin.length)).sort();

beforeAll(async () => {
  const home = `<title>Home, "sweet"</title><h1>Hello</h1><p>one two three</p>
    <a href="/a">A</a> <a href="/old">Old</a> <a href="/gone">Gone</a> <a href="/dead">Dead</a>
    <a href="/private/x">P</a> <a href="/login" rel="nofollow sponsored">L</a> <a href="/evil">E</a>`;
  web = await startFakeWeb({
    robots: 'User-agent: *\nDisallow: /private/\n',
    pages: {
      '/': { body: home, headers: { etag: '"v1"', 'last-modified': 'Mon, 01 Jan 2024 00:00:00 GMT' } },
      '/a': '<title>A</title><a href="/">home</a><a href="/a/b">b</a>',
      '/a/b': '<title>B</title>',
      '/old': { status: 301, headers: { location: '/a' } },
      '/gone': { status: 410 },
      '/evil': '<title>red \u001b[31malert\u0007</title>',
    },
  });
  await run('crawl', web.origin, '--delay', '0', '--project', 'first', '-q', '--bodies', 'files:bodies');
});

afterAll(async () => {
  await web.close();
  folder.remove();
});

describe('sumi pages', () => {
  it('gives every column that programs rely on', async () => {
    const [home] = await rows('pages', '--limit', '1');
    expect(home).toMatchObject({
      url: `${web.origin}/`,
      state: 'Processed',
      reason: null,
      status_code: 200,
      title: 'Home, "sweet"',
      h1: 'Hello',
      depth: 0,
      content_type: 'text/html; charset=utf-8',
      final_url: null,
      redirect_count: 0,
      etag: '"v1"',
      last_modified: 'Mon, 01 Jan 2024 00:00:00 GMT',
      error: null,
    });
    expect(home.word_count).toBeGreaterThan(3);
    expect(home.content_hash).toMatch(/^[0-9a-f]{64}$/);
    expect(home.visited_at).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  });

  it('knows every URL with the rule that decided', async () => {
    const reasons = Object.fromEntries(
      (await rows('pages')).map((row) => [String(row.url).slice(web.origin.length), [row.state, row.reason]]),
    );
    expect(reasons).toMatchObject({
      '/a/b': ['Processed', null],
      '/private/x': ['Skipped', 'robots: Disallow /private/'],
      '/gone': ['Gone', expect.stringMatching(/410/)],
      '/dead': ['DeadLink', expect.stringMatching(/404/)],
      '/login': ['Skipped', expect.stringMatching(/^nofollow/)],
    });
  });

  it('filters by state, status and host, and combines them', async () => {
    expect(urls(await rows('pages', '--state', 'deadlink,Gone'))).toEqual(['/dead', '/gone']);
    expect(urls(await rows('pages', '--status', '4xx', '--state', 'Gone'))).toEqual(['/gone']);
    expect(urls(await rows('pages', '--status', '301'))).toEqual(['/old']);
    expect(await rows('pages', '--host', 'other.example')).toEqual([]);
    for (const host of ['127.0.0.1', `127.0.0.1:${web.port}`, `${web.origin}/any/path`])
      expect((await rows('pages', '--host', host)).length).toBe((await rows('pages')).length);
    expect(await rows('pages', '--host', '127.0.0.1:1')).toEqual([]);
    expect((await run('pages', '--host', '127.0.0.1/path')).stderr).toContain('expected a host');
    expect(await rows('pages', '--limit', '2')).toHaveLength(2);
  });

  it('refuses a state, a status and a project that do not exist', async () => {
    const state = await run('pages', '--state', 'Dead');
    expect([state.code, state.stderr]).toEqual([2, expect.stringContaining('DeadLink')]);
    expect((await run('pages', '--status', 'ok')).code).toBe(2);
    const project = await run('pages', '--project', 'none');
    expect([project.code, project.stderr]).toEqual([2, expect.stringContaining('"first"')]);
  });

  it('says the same in every format', async () => {
    const known = await rows('pages');
    const jsonl = (await run('pages', '--format', 'jsonl')).stdout.trim().split('\n');
    expect(jsonl.map((line) => JSON.parse(line))).toEqual(known);
    const csv = (await run('pages', '--format', 'csv')).stdout.trim().split('\n');
    expect(csv).toHaveLength(known.length + 1);
    expect(csv[0].split(',').slice(0, 5)).toEqual(['url', 'state', 'reason', 'status_code', 'title']);
    expect(csv[0].split(',').sort()).toEqual(Object.keys(known[0]).sort());
    expect(csv[1]).toContain('"Home, ""sweet"""');
    expect((await run('pages', '--format', 'csv', '--state', 'Stubbed')).stdout.split('\n')).toHaveLength(2);
  });

  it('prints whole values, no colours and nothing that steers a terminal into a pipe', async () => {
    const { stdout } = await run('pages');
    expect(stdout).toContain(`${web.origin}/private/x`);
    expect(stdout).toContain('red');
    // biome-ignore lint/suspicious/noControlCharactersInRegex: that is what must not be there
    expect(stdout).not.toMatch(/[\u0000-\u0009\u000b-\u001f]/);
  });

  it('tells that what it prints cannot be written; a crawl ends in good order for it', () => {
    const full = '/dev/full';
    if (!existsSync(full)) return console.warn(`not run: there is no ${full} here`);
    const run = (...args: string[]) =>
      spawnSync('bash', ['-c', `"$@" > ${full}`, 'bash', process.execPath, COMMAND, ...args], {
        cwd: folder.path,
        encoding: 'utf8',
      });
    const list = run('pages');
    expect(list.stderr).toContain('standard output cannot be written: ENOSPC');
    expect(list.status).toBe(2);
    const crawl = run('crawl', 'http://127.0.0.1:9/', '--json', '--db', 'other.db', '--discover', 'links');
    expect(crawl.stderr).toContain('what is told cannot be written: ENOSPC');
    expect(crawl.stderr).toContain('interrupted; the same command continues it');
    expect(crawl.status).toBe(3);
  });

  it('ends quietly with 0 when the reader has seen enough', async () => {
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the shell fills it in
    const script = '"$0" "$1" pages --format jsonl | head -1; echo "${PIPESTATUS[0]}"';
    const shell = spawn('bash', ['-c', script, process.execPath, COMMAND], { cwd: folder.path });
    let out = '';
    let err = '';
    shell.stdout.on('data', (chunk) => {
      out += chunk;
    });
    shell.stderr.on('data', (chunk) => {
      err += chunk;
    });
    await new Promise((resolve) => shell.once('close', resolve));
    expect(out.trim().split('\n').at(-1)).toBe('0');
    expect(err).toBe('');
  });
});

describe('sumi links', () => {
  it('gives every link once, with its rel', async () => {
    const links = await rows('links');
    expect(links.filter(({ from_url }) => from_url === `${web.origin}/a`)).toEqual([
      expect.objectContaining({ to_url: `${web.origin}/`, direction: 'out', nofollow: 0, rel: '' }),
      expect.objectContaining({ to_url: `${web.origin}/a/b`, discovered_run: 1 }),
    ]);
    expect(links.find(({ to_url }) => to_url === `${web.origin}/login`)).toMatchObject({
      nofollow: 1,
      rel: 'nofollow sponsored',
    });
  });

  it('gives the links from a page and to it', async () => {
    const ends = (await rows('links', `${web.origin}/a`)).map(({ from_url, to_url, direction }) => [
      direction,
      String(from_url).slice(web.origin.length),
      String(to_url).slice(web.origin.length),
    ]);
    expect(ends).toEqual([
      ['out', '/a', '/'],
      ['out', '/a', '/a/b'],
      ['in', '/', '/a'],
    ]);
  });

  it('exits with 1 for a page that is not known', async () => {
    expect((await run('links', `${web.origin}/never-seen`)).code).toBe(1);
  });
});

describe('sumi why', () => {
  it('tells the rule, the way and the visits of a URL, in any spelling', async () => {
    const { stdout, code } = await run('why', `HTTP://127.0.0.1:${web.port}/a/../private/x#part`);
    expect(code).toBe(0);
    expect(stdout).toContain('Skipped');
    expect(stdout).toContain('robots: Disallow /private/');
    expect(stdout).toMatch(/robots\.txt\s+denied, Disallow \/private\//);
    const page = JSON.parse((await run('why', `127.0.0.1:${web.port}/a/b`, '--format', 'json')).stdout);
    expect(page).toMatchObject({ state: 'Processed', depth: 2, robots: { decision: 'allowed' } });
    expect(page.referrers).toEqual([`${web.origin}/`, `${web.origin}/a`]);
    expect(page.requests).toEqual([expect.objectContaining({ kind: 'GET', status_code: 200, run: 1 })]);
  });

  it('follows a redirect to its end', async () => {
    const page = JSON.parse((await run('why', `${web.origin}/old`, '--format', 'json')).stdout);
    expect(page).toMatchObject({
      status_code: 301,
      redirects: [`${web.origin}/a`],
      final_url: `${web.origin}/a`,
    });
  });

  it('exits with 1 for a URL that was never seen', async () => {
    const { code, stderr } = await run('why', 'https://example.com/');
    expect([code, stderr]).toEqual([1, expect.stringContaining('unknown-url')]);
  });
});

describe('sumi cat', () => {
  it('gives the very bytes back', async () => {
    expect((await run('cat', `${web.origin}/a`)).stdout).toBe(
      '<title>A</title><a href="/">home</a><a href="/a/b">b</a>',
    );
  });

  it('gives the stored text, or says why there is none', async () => {
    expect((await run('cat', `${web.origin}/a`, '--text')).stdout).toBe('home\nb\n'.replace('\n', ''));
    const redirect = await run('cat', `${web.origin}/old`, '--text');
    expect([redirect.code, redirect.stderr]).toEqual([
      1,
      expect.stringMatching(/There is no stored text .*redirects to/),
    ]);
    expect(redirect.stderr).toContain('no-text');
  });

  it('says why there is none', async () => {
    const redirect = await run('cat', `${web.origin}/old`);
    expect([redirect.code, redirect.stderr]).toEqual([
      1,
      expect.stringContaining(`redirects to ${web.origin}/a`),
    ]);
    expect((await run('cat', `${web.origin}/private/x`)).stderr).toContain('not fetched');
    expect((await run('cat', `${web.origin}/a`, '--bodies', 'files:elsewhere')).stderr).toContain(
      'elsewhere',
    );
  });
});

describe('sumi hosts, runs, stats and audit', () => {
  it('agree with each other', async () => {
    const [host] = await rows('hosts');
    const known = await rows('pages');
    expect(host).toMatchObject({
      host: `127.0.0.1:${web.port}`,
      known_urls: known.length,
      waiting: 0,
      robots_status: 200,
    });
    const [one] = await rows('runs');
    expect(one).toMatchObject({ run: 1, project: 'first', status: 'completed', error: null });
    const stats = JSON.parse((await run('stats', '--format', 'json')).stdout);
    expect(stats).toMatchObject({ known_urls: known.length, hosts: 1, runs: 1, requests: one.requests });
    expect(stats.by_state.Processed).toBe(known.filter(({ state }) => state === 'Processed').length);
    expect(stats.links).toBe((await rows('links')).length);
    const audit = await run('audit', '--json');
    expect(JSON.parse(audit.stdout)).toMatchObject({ requests: one.requests, hosts: 1, violations: 0 });
    expect(audit.code).toBe(0);
    expect((await run('audit', '7')).code).toBe(2);
    expect((await run('stats')).stdout).toContain('robots: Disallow /private/');
  });
});
