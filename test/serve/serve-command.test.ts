// `sumi serve` and `sumi token` as real processes: what they print, how they end, and that a second start goes on with what
// the first one left.
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createServer } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { makeFolder } from '../cli/run-sumi.ts';
import { asked, page, useBench } from '../crawls/crawl-site.ts';
import { answer, type Exchange } from '../web/fake-web.ts';
import { type Loose, SUMI } from './agent-clients.ts';

const bench = useBench();
const folder = makeFolder();
const children: ChildProcess[] = [];
afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
});

interface Process {
  child: ChildProcess;
  /** Resolves with the first line of standard output. */
  line: Promise<string>;
  finished: Promise<{ code: number | null; stdout: string; stderr: string }>;
}

function start(...args: string[]): Process {
  const { PATH = '', HOME = '' } = process.env;
  const child = spawn(process.execPath, [...SUMI, ...args], { env: { PATH, HOME }, stdio: 'pipe' });
  children.push(child);
  let stdout = '';
  let stderr = '';
  const line = new Promise<string>((resolve) => {
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      stdout += text;
      if (stdout.includes('\n')) resolve(stdout.split('\n', 1)[0]);
    });
    child.once('close', () => resolve(''));
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  const finished = new Promise<Awaited<Process['finished']>>((resolve) => {
    child.once('close', (code) => resolve({ code, stdout, stderr }));
  });
  return { child, line, finished };
}

const serve = (db: string, ...more: string[]) =>
  start('serve', '--db', db, '--port', '0', '--json', '--egress-allow', '127.0.0.0/8', ...more);

async function urlOf({ line, finished }: Process): Promise<string> {
  const text = await line;
  if (text === '') throw new Error((await finished).stderr);
  return JSON.parse(text).url;
}

async function call(
  url: string,
  method: string,
  path: string,
  body?: unknown,
  token?: string,
): Promise<{ status: number; body: Loose }> {
  const response = await fetch(`${url}/api/v1/${path}`, {
    method,
    headers: {
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    },
    body: body === undefined ? undefined : JSON.stringify(body),
  });
  return { status: response.status, body: response.status === 204 ? null : await response.json() };
}

const PAGES = 15;

/** A site that says when its fifth page was asked for. */
async function site() {
  let reached = () => {};
  const mark = new Promise<void>((resolve) => {
    reached = resolve;
  });
  let seen = 0;
  const respond = (exchange: Exchange) => {
    if (++seen === 5) reached();
    answer(exchange, { body: page(exchange.path) });
  };
  const links = Array.from({ length: PAGES }, (_, i) => `/p${i}`);
  return { web: await bench.web({ pages: { '/': page('home', ...links), '/p*': respond } }), mark };
}

describe('sumi serve', () => {
  it('makes its store, ends at SIGTERM with 0, and goes on with its crawls at the next start', async () => {
    const { web, mark } = await site();
    const db = folder.file('restart.db');
    const first = serve(db);
    const url = await urlOf(first);
    expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
    expect(existsSync(db)).toBe(true);
    const settings = { delay_seconds: 0.05, max_concurrent: 1, discover: ['links'], adaptive_delay: false };
    const made = await call(url, 'POST', 'projects', { name: 'one', website_url: web.origin, settings });
    const id = made.body.id;
    const begun = await call(url, 'POST', `projects/${id}/phases/crawl/run`, {});
    expect(begun.status).toBe(202);
    await mark;
    first.child.kill('SIGTERM');
    const ended = await first.finished;
    expect([ended.code, ended.stderr]).toEqual([0, expect.stringContaining(`at ${url}`)]);
    expect(ended.stderr).not.toMatch(/defect|failed/);
    expect(asked(web).length).toBeLessThan(PAGES);
    const second = serve(db);
    const next = await urlOf(second);
    const phase = (await call(next, 'GET', `projects/${id}/phases/crawl/status`)).body;
    expect(phase).toMatchObject({ status: expect.stringMatching(/^(in_progress|completed)$/), run: 1 });
    await web.asked(`/p${PAGES - 1}`);
    second.child.kill('SIGINT');
    expect((await second.finished).code).toBe(0);
    expect(new Set(asked(web)).size).toBe(asked(web).length);
  });

  it('waits at its end neither for a site that does not answer nor for a client that keeps its connection', async () => {
    let reached = () => {};
    const held = new Promise<void>((resolve) => {
      reached = resolve;
    });
    const web = await bench.web({ pages: { '/': () => reached() } });
    const { child, finished, ...served } = serve(folder.file('slow.db'));
    const url = await urlOf({ child, finished, ...served });
    const asked = call(url, 'POST', 'preview', { website_url: web.origin }).catch(() => null);
    await held;
    child.kill('SIGTERM');
    expect((await finished).code).toBe(0);
    // A preview that came to its own end, after 20 s, would have been answered.
    expect((await asked)?.status ?? 'no answer').not.toBe(200);
  });

  it('says which address it cannot have, and makes nothing', async () => {
    const other = createServer();
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
    const { port } = other.address() as { port: number };
    const db = folder.file('none.db');
    const taken = await start('serve', '--db', db, '--port', String(port)).finished;
    expect([taken.code, taken.stderr]).toEqual([
      2,
      expect.stringMatching(new RegExp(`127.0.0.1:${port}: another program`)),
    ]);
    other.close();
    const open = await start('serve', '--db', db, '--host', '0.0.0.0', '--port', '0').finished;
    expect([open.code, open.stderr]).toEqual([
      2,
      expect.stringContaining(`sumi token create --name NAME --db ${db}`),
    ]);
    const wrong = await start('serve', '--port', '99999').finished;
    expect([wrong.code, wrong.stderr]).toEqual([2, expect.stringContaining('a port from 0 to 65535')]);
    expect(existsSync(db)).toBe(false);
  });
});

describe('sumi token', () => {
  it('makes tokens while the service runs, lists and revokes them', async () => {
    const db = folder.file('tokens.db');
    const served = serve(db);
    const url = await urlOf(served);
    await call(url, 'POST', 'projects', { name: 'shop', website_url: 'http://127.0.0.1:9/' });
    await call(url, 'POST', 'projects', { name: 'other', website_url: 'http://127.0.0.1:9/' });
    const token = (...args: string[]) => start('token', ...args, '--db', db).finished;
    const made = await token(
      'create',
      '--name',
      'mine',
      '--project',
      'shop',
      '--scope',
      'write',
      '--expires',
      '30d',
    );
    expect([made.code, made.stdout]).toEqual([0, expect.stringMatching(/^sumi_[\w-]{43}\n$/)]);
    const secret = made.stdout.trim();
    const { body } = await call(url, 'GET', 'projects', undefined, secret);
    expect(body.items.map(({ name }: { name: string }) => name)).toEqual(['shop']);
    const listed = await token('list', '--format', 'json');
    const [{ id, expires_at, scopes }] = JSON.parse(listed.stdout);
    expect([scopes, Date.parse(expires_at) > Date.now()]).toEqual([['write'], true]);
    expect((await token('list')).stdout).toContain('mine');
    expect((await token('revoke', id)).code).toBe(0);
    expect((await token('list')).stdout).toContain('There is no token');
    const gone = await token('revoke', id);
    expect([gone.code, gone.stderr]).toEqual([2, expect.stringContaining('token-unknown')]);
    for (const args of [
      ['create'],
      ['create', '--name', 'x', '--scope', 'root'],
      ['create', '--name', 'x', '--project', 'nobodys'],
      ['create', '--name', 'x', '--expires', 'soon'],
      ['revoke'],
      ['lst'],
    ])
      expect([args, (await token(...args)).code]).toEqual([args, 2]);
    served.child.kill('SIGTERM');
    expect((await served.finished).code).toBe(0);
  });
});
