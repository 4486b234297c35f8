import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sharedPostgres } from '../servers/shared-postgres.ts';
import { answer, type FakeWeb, startFakeWeb } from '../web/fake-web.ts';
import { makeFolder, sumi } from './run-sumi.ts';

let web: FakeWeb;

beforeAll(async () => {
  web = await startFakeWeb({
    hosts: 2,
    pages: {
      '0:/': (at) =>
        answer(at, {
          body: `<a href="/a">A</a> <a href="/dead">Our, "team"</a> <a href="${at.url('/far', 1)}">far</a>`,
        }),
      '0:/a': '<a href="/moved">moved</a>',
      '0:/moved': { status: 301, headers: { location: '/gone' } },
      '0:/gone': { status: 410 },
    },
  });
});

afterAll(() => web.close());

describe.each(['SQLite', 'PostgreSQL'])('what is broken, on %s', (kind) => {
  const folder = makeFolder();
  let env: Record<string, string> = {};
  let address: string | null = null;
  const run = (...args: string[]) => sumi(args, { cwd: folder.path, env });
  const short = (text: string) => text.replaceAll(web.origin, '');

  beforeAll(async () => {
    if (kind === 'PostgreSQL') {
      address = await (await sharedPostgres()).newDatabase();
      env = { SUMI_STORE: address };
    }
    await run(
      'crawl',
      web.url('/'),
      '--delay',
      '0',
      '--no-robots',
      '-q',
      '--project',
      'one',
      '--anchor-text',
    );
  });

  afterAll(async () => {
    if (address !== null) await (await sharedPostgres()).dropDatabase(address);
    folder.remove();
  });

  it('is listed by `pages --broken`', async () => {
    const { stdout, stderr, code } = await run('pages', '--broken', '--format', 'json');
    expect([code, stderr]).toEqual([0, '']);
    expect(JSON.parse(stdout)).toMatchObject([
      { url: web.url('/dead'), state: 'DeadLink', status_code: 404 },
      { url: web.url('/gone'), state: 'Gone', status_code: 410 },
    ]);
    expect((await run('pages', '--broken', '--state', 'Gone')).code).toBe(2);
  });

  it('is told with who links to it, in every format', async () => {
    const table = short((await run('links', '--broken')).stdout)
      .trimEnd()
      .split('\n');
    expect(table.map((line) => line.trim().split(/ {2,}/))).toEqual([
      ['state', 'status', 'broken', 'linked from', 'by redirect', 'anchor', 'reason'],
      ['DeadLink', '404', '/dead', '/', 'Our, "team"', 'http: 404'],
      ['Gone', '410', '/gone', '/a', '/moved', 'moved', 'http: 410'],
    ]);
    const csv = short((await run('links', '--broken', '--format', 'csv')).stdout).split('\n');
    expect(csv).toEqual([
      'from_url,to_url,anchor,broken_url,state,status_code,reason,nofollow,rel,discovered_run,project',
      '/,/dead,"Our, ""team""",/dead,DeadLink,404,http: 404,0,,1,one',
      '/a,/moved,moved,/gone,Gone,410,http: 410,0,,1,one',
      '',
    ]);
    const ofPage = await run('links', web.url('/a'), '--broken', '--format', 'jsonl');
    expect(JSON.parse(ofPage.stdout)).toMatchObject({
      to_url: web.url('/moved'),
      broken_url: web.url('/gone'),
    });
    expect((await run('links', web.url('/a'), '--broken', '--limit', '0')).stdout).toContain(
      'No link leads to a broken page.',
    );
  });

  it('is not hidden among skipped URLs of other sites: these are listed where they are asked for', async () => {
    const far = web.url('/far', 1);
    const plain = await run('pages');
    expect(plain.stdout).not.toContain(far);
    expect(plain.stdout).toMatch(/\n1 skipped URL of other sites left out: --all lists all\.\n$/);
    const csv = await run('pages', '--format', 'csv');
    expect(csv.stdout).not.toContain(far);
    expect(csv.stderr).toBe('1 skipped URL of other sites left out: --all lists all.\n');
    for (const asked of [['--all'], ['--state', 'Skipped'], ['--host', new URL(far).hostname]]) {
      const { stdout, stderr } = await run('pages', ...asked);
      expect([stdout.includes(far), stderr, stdout.includes('left out')]).toEqual([true, '', false]);
    }
  });

  it('says of which project a page is where there are several', async () => {
    expect((await run('pages')).stdout).not.toMatch(/^project/);
    await run('crawl', web.url('/a'), '--delay', '0', '--no-robots', '-q', '--project', 'two');
    const { stdout } = await run('pages');
    expect(stdout).toMatch(/^project +state/);
    expect(stdout).toMatch(/^two +Processed .*\/a *$/m);
    expect((await run('pages', '--project', 'two')).stdout).toMatch(/^state/);
    expect((await run('links', '--broken')).stdout).toMatch(
      /reason +project\n(.*\n)*.* one\n(.*\n)*.* two\n/,
    );
    expect((await run('links', '--broken', '--project', 'two')).stdout).toContain(
      'The text of links is kept by crawls with --anchor-text; here there is none.',
    );
  });

  it('says of redirects to what the crawl may not ask that nobody knows whether they are', async () => {
    const far = await startFakeWeb({
      pages: { '/': '<a href="/out">out</a>', '/out': { status: 302, headers: { location: web.url('/a') } } },
    });
    const at = ['--project', 'refused'];
    await run('crawl', far.url('/'), '--delay', '0', '--no-robots', '-q', ...at);
    await far.close();
    for (const list of ['pages', 'links']) {
      const { stdout } = await run(list, '--broken', ...at);
      expect(stdout).toContain('A reason "redirect: to … refused" means that a rule of the crawl');
      expect((await run(list, '--broken', '--project', 'one')).stdout).not.toContain('refused');
      const rows = JSON.parse((await run(list, '--broken', ...at, '--format', 'json')).stdout);
      expect(rows).toMatchObject([
        { state: 'Failed', reason: expect.stringMatching(/^redirect: to .* refused, scope: host/) },
      ]);
    }
  });
});
