import { existsSync } from 'node:fs';
import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { sharedPostgres } from '../servers/shared-postgres.ts';
import { type FakeWeb, startFakeWeb } from '../web/fake-web.ts';
import { makeFolder, sumi } from './run-sumi.ts';

const folder = makeFolder();
let web: FakeWeb;

beforeAll(async () => {
  web = await startFakeWeb({ graph: { seed: 5, pages: 12 } });
});
afterAll(async () => {
  await web.close();
  folder.remove();
});
afterEach(() => {
  web.log.length = 0;
});

const run = (...args: string[]) => sumi(args, { cwd: folder.path });
const crawl = (...args: string[]) =>
  run('crawl', web.origin, '--delay', '0.01', '--discover', 'links', '-q', ...args);
/** Pages that the web was asked for. */
const asked = () => web.log.filter(({ path }) => path !== '/robots.txt').length;

describe('sumi project', () => {
  it('keeps settings that every later crawl of the project obeys, and flags still win', async () => {
    const set = await run('project', `127.0.0.1:${web.port}`, '--set', 'max-pages=3', '--db', 'a.db');
    expect(set).toMatchObject({ code: 0, stdout: `127.0.0.1:${web.port}\n  max-pages  3\n` });
    expect((await crawl('--db', 'a.db')).code).toBe(0);
    expect(asked()).toBe(3);
    web.log.length = 0;
    await crawl('--db', 'a.db', '--max-pages', '5', '--fresh');
    expect(asked()).toBe(5);
    web.log.length = 0;
    // Another project of the same file has its own.
    await crawl('--db', 'a.db', '--project', 'other');
    expect(asked()).toBeGreaterThan(5);
  });

  it('shows the source of each in sumi config', async () => {
    await run('project', 'shop', '--set', 'mode=smart', '--set', 'delay=2', '--db', 'b.db');
    const { stdout } = await run('config', '--project', 'shop', '--db', 'b.db', '--delay', '3');
    expect(stdout).toMatch(/^ {2}mode +"smart" +project shop$/m);
    expect(stdout).toMatch(/^ {2}delay +3 +flag --delay$/m);
    const plain = await run('config', '--db', 'b.db');
    expect(plain.stdout).toMatch(/^ {2}mode +"full" +profile site$/m);
  });

  it('lists all projects, and forgets what is unset', async () => {
    await run('project', 'one', '--set', 'delay=2', '--set', 'mode=full', '--db', 'c.db');
    await run('project', 'two', '--set', 'max-depth=none', '--db', 'c.db');
    const gone = await run('project', 'one', '--unset', 'mode', '--db', 'c.db', '--format', 'json');
    expect(JSON.parse(gone.stdout)).toEqual({ project: 'one', settings: { delay: 2 } });
    const all = await run('project', '--db', 'c.db', '--format', 'json');
    expect(JSON.parse(all.stdout)).toEqual([
      { project: 'one', settings: { delay: 2 } },
      { project: 'two', settings: { 'max-depth': null } },
    ]);
  });

  it('refuses what cannot be kept, before it makes a file', async () => {
    for (const [setting, code] of [
      ['mode=quick', 'bad-value'],
      ['mod=full', 'unknown-option'],
      ['store=postgres://me:hush@host/x', 'not-a-setting'],
    ]) {
      const { code: exit, stderr } = await run('project', 'x', '--set', setting, '--db', 'none.db');
      expect(exit).toBe(2);
      expect(stderr).toContain(`code: ${code}`);
      expect(stderr).not.toContain('hush');
    }
    expect((await run('project', '--db', 'none.db')).stderr).toContain('code: db-missing');
    expect((await run('project', 'nobody', '--db', 'c.db')).stderr).toContain('code: unknown-project');
    expect((await run('project', '--set', 'mode=full', '--db', 'c.db')).code).toBe(2);
  });

  it('crawls a project that keeps what no project may set any more, without it and with a warning', async () => {
    const name = `127.0.0.1:${web.port}`;
    await run('project', name, '--set', 'max-pages=2', '--db', 'd.db');
    const db = new Sqlite(join(folder.path, 'd.db'));
    db.prepare('UPDATE project SET settings = ?').run('{"max-pages":2,"robots":false,"bodies":"files:x"}');
    db.close();
    const { code, stderr } = await sumi(
      ['crawl', web.origin, '--delay', '0.01', '--discover', 'links', '--db', 'd.db'],
      { cwd: folder.path },
    );
    expect([code, asked()]).toEqual([0, 2]);
    expect(stderr).toContain('warning: the project keeps bodies, robots from an older version');
    expect(stderr).toContain('--unset bodies --unset robots');
    expect(web.log.some(({ path }) => path === '/robots.txt')).toBe(true);
    expect(existsSync(join(folder.path, 'x'))).toBe(false);
    expect((await run('project', name, '--db', 'd.db')).stdout).toMatch(/^ {2}robots +false +\(not used/m);
    const left = await run('project', name, '--unset', 'robots', '--unset', 'bodies', '--db', 'd.db');
    expect(left.stdout).toBe(`${name}\n  max-pages  2\n`);
  });

  it('keeps them in a shared store as well', async () => {
    const store = await (await sharedPostgres()).newDatabase();
    const env = { SUMI_STORE: store };
    const set = await sumi(['project', `127.0.0.1:${web.port}`, '--set', 'max-pages=2'], {
      cwd: folder.path,
      env,
    });
    expect(set).toMatchObject({ code: 0, stdout: `127.0.0.1:${web.port}\n  max-pages  2\n` });
    await sumi(['crawl', web.origin, '--delay', '0.01', '--discover', 'links', '-q'], {
      cwd: folder.path,
      env,
    });
    expect(asked()).toBe(2);
  });
});
