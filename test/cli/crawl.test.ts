import { readdirSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { answer, type FakeWeb, startFakeWeb } from '../web/fake-web.ts';
import { makeFolder, startSumi, sumi } from './run-sumi.ts';

let folder: ReturnType<typeof makeFolder>;
let web: FakeWeb;

const run = (...args: string[]) => sumi(args, { cwd: folder.path });

beforeEach(async () => {
  folder = makeFolder();
  web = await startFakeWeb({ graph: { seed: 2, pages: 30 } });
});

afterEach(async () => {
  await web.close();
  folder.remove();
});

const lines = (text: string) =>
  text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>);

describe('sumi crawl', () => {
  it('prints a summary and where to look next', async () => {
    const { code, stdout, stderr } = await run('crawl', web.origin, '--delay', '0');
    expect(code).toBe(0);
    expect(stderr).toContain(`starts run 1 of 127.0.0.1:${web.port}`);
    expect(stdout).toContain(`Completed run 1 of 127.0.0.1:${web.port}: 30 pages`);
    expect(stdout).toMatch(/Processed\s+30/);
    expect(stdout).toContain('sumi pages');
  });

  it('writes events and nothing else to standard output with --json, the summary last', async () => {
    const { code, stdout } = await run('crawl', web.origin, '--delay', '0', '--json');
    const events = lines(stdout);
    expect(code).toBe(0);
    expect(events[0]).toMatchObject({ type: 'run', run: 1, resumed: false });
    expect(events.filter(({ type }) => type === 'page')).toHaveLength(30);
    expect(events.at(-1)).toMatchObject({
      type: 'summary',
      run: 1,
      status: 'completed',
      pages: 30,
      by_state: { Processed: 30 },
      bytes: expect.any(Number),
      duration_ms: expect.any(Number),
    });
  });

  it('says nothing with -q', async () => {
    expect(await run('crawl', web.origin, '--delay', '0', '-q')).toEqual({ code: 0, stdout: '', stderr: '' });
  });

  it('names each page with -v', async () => {
    const { stderr } = await run('crawl', web.origin, '--delay', '0', '-v');
    expect(stderr.match(/^200 Processed http/gm)).toHaveLength(30);
  });

  it('tells of options that changed since the last run', async () => {
    await run('crawl', web.origin, '--delay', '0', '-q');
    const same = await run('crawl', web.origin, '--delay', '0');
    expect(same.stderr).not.toContain('differ');
    const other = await run('crawl', web.origin, '--delay', '0', '--max-depth', '1');
    expect(other.stderr).toContain('The options differ');
  });

  it('fails with 1 and says what became of the first URL when nothing answers', async () => {
    const flags = ['--retries', '0', '--json', '--db', 'other.db'];
    const { code, stderr, stdout } = await run('crawl', 'http://127.0.0.1:9/', ...flags);
    expect(code).toBe(1);
    expect(stderr).toContain('code: no-answer');
    expect(stderr).toMatch(/`sumi why http:\/\/127\.0\.0\.1:9\/ --db other\.db` lists the requests/);
    expect(lines(stdout).at(-1)).toMatchObject({ type: 'summary', status: 'failed' });
  });

  it('has no colours where nobody looks', async () => {
    const { stdout, stderr } = await run('crawl', web.origin, '--delay', '0', '-vv');
    expect(stdout + stderr).not.toContain('\u001b');
  });
});

describe('Ctrl-C', () => {
  it('finishes what is in flight, says how to go on, exits with 3; resume ends the run with its own options', async () => {
    const slow = startSumi(['crawl', web.origin, '--delay', '0.2', '--max-depth', '2', '--project', 'p'], {
      cwd: folder.path,
    });
    await web.asked('/');
    slow.child.kill('SIGINT');
    const { code, stderr, stdout } = await slow.finished;
    expect(code).toBe(3);
    expect(stderr).toMatch(/finishing \d+ requests? in flight; Ctrl-C again to leave at once/);
    expect(stderr).toContain('interrupted; the same command continues it');
    expect(stdout).toContain('Interrupted run 1');

    const { code: resumed, stdout: events } = await run('resume', '--json');
    expect(resumed).toBe(0);
    expect(lines(events)[0]).toMatchObject({
      type: 'run',
      run: 1,
      project: 'p',
      resumed: true,
      config_changed: false,
    });
    expect(lines(events).at(-1)).toMatchObject({ type: 'summary', run: 1, status: 'completed' });
    expect(web.requestsTo('/')).toHaveLength(1);
    expect((await run('audit')).code).toBe(0);

    const again = await run('resume');
    expect([again.code, again.stderr]).toEqual([2, expect.stringContaining('nothing-to-resume')]);
    const unknown = await run('resume', '--project', 'q');
    expect([unknown.code, unknown.stderr]).toEqual([2, expect.stringContaining('unknown-project')]);
  });

  it('twice leaves at once, and the next crawl goes on', async () => {
    await web.close();
    let isHanging = true;
    web = await startFakeWeb({
      pages: {
        '/': '<a href="/hung">h</a><a href="/x">x</a>',
        '/x': '<title>X</title>',
        '/hung': (exchange) => {
          if (!isHanging) answer(exchange, { body: '<title>Here after all</title>' });
        },
      },
    });
    const hung = startSumi(['crawl', web.origin, '--delay', '0'], { cwd: folder.path });
    await web.asked('/hung');
    hung.child.kill('SIGINT');
    await hung.said('finishing');
    hung.child.kill('SIGINT');
    expect((await hung.finished).code).toBe(3);
    isHanging = false;
    const { code, stdout } = await run('crawl', web.origin, '--delay', '0', '--json');
    expect(code).toBe(0);
    expect(lines(stdout)[0]).toMatchObject({ resumed: true });
    expect(lines(stdout).at(-1)).toMatchObject({ status: 'completed', by_state: { Processed: 3 } });
  });
});

describe('sumi demo', () => {
  it('crawls its own site without the internet, and everything it tells to try works', async () => {
    const { code, stdout } = await run('demo');
    expect(code).toBe(0);
    expect(stdout).toContain('Completed run 1 of demo');
    expect(readdirSync(folder.path)).toContain('sumi-demo.db');
    const tries = [...stdout.matchAll(/^ {2}sumi ((?:why|links|hosts|audit|pages|stats)[^\n]*?)(?: {3}|$)/gm)]
      .map(([, words]) => words.trim().split(/\s+/))
      .filter((words) => !words.includes('URL'));
    expect(tries.length).toBeGreaterThanOrEqual(7);
    for (const words of tries) expect([words, (await run(...words)).code]).toEqual([words, 0]);
    const again = await run('demo', '--json');
    expect(lines(again.stdout).at(-1)).toMatchObject({ status: 'completed', by_state: { DeadLink: 1 } });
  });
});
