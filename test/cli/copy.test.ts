import { once } from 'node:events';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { projectFacts } from '../contracts/project-facts.ts';
import { sharedPostgres } from '../servers/shared-postgres.ts';
import type { PostgresDatabases } from '../servers/start-postgres.ts';
import { type FakeWeb, startFakeWeb } from '../web/fake-web.ts';
import { makeFolder, startSumi, sumi } from './run-sumi.ts';

const folder = makeFolder();
let web: FakeWeb;
let server: PostgresDatabases;
const databases: string[] = [];

const run = (...args: string[]) => sumi(args, { cwd: folder.path });

async function newDatabase(): Promise<string> {
  const url = await server.newDatabase();
  databases.push(url);
  return url;
}

beforeAll(async () => {
  server = await sharedPostgres();
  web = await startFakeWeb({ graph: { seed: 5, pages: 1500 } });
  const crawl = ['crawl', web.origin, '--delay', '0', '--db', 'first.db', '-q'];
  await run(...crawl, '--project', 'whole');
  await run(...crawl, '--project', 'part', '--max-pages', '20');
});

afterAll(async () => {
  await web.close();
  for (const url of databases) await server.dropDatabase(url);
  folder.remove();
});

describe('sumi copy', () => {
  it('takes all projects to PostgreSQL and back, and prints counts and checksums of both sides', async () => {
    const url = await newDatabase();
    const there = await run('copy', '--from', 'first.db', '--to', url);
    expect(there.code, there.stderr).toBe(0);
    expect(there.stderr).toMatch(
      /copying project "whole" to postgres:.*\n( {2}\w+: [\d,]+ rows? in .*\n){12}/,
    );
    expect(there.stdout).toMatch(/^table +rows +copied +checksum +checksum of copy\n/);
    for (const line of there.stdout
      .split('\n')
      .filter((text) => /^(url|fetched|link_set|request) /.test(text))) {
      const [, rows, copied, sum, sumCopied] = line.split(/ +/);
      expect([copied, sumCopied], line).toEqual([rows, sum]);
      expect(sum).toMatch(/^[0-9a-f]{16}$/);
    }
    expect(there.stdout.match(/both sides equal/g)).toHaveLength(2);
    const back = await run('copy', '--from', url, '--to', 'back.db', '--json');
    expect(back.code, back.stderr).toBe(0);
    const { projects } = JSON.parse(back.stdout) as { projects: { project: string; rows_written: number }[] };
    expect(projects.map(({ project }) => project)).toEqual(['whole', 'part']);
    for (const project of ['whole', 'part']) {
      const before = await projectFacts(folder.file('first.db'), project);
      expect(before.pages.length).toBeGreaterThan(20);
      expect(await projectFacts(folder.file('back.db'), project)).toEqual(before);
    }
  });

  it.each(['SQLite', 'PostgreSQL'])(
    'killed with -9 on its way to %s goes on with the same command',
    async (kind) => {
      const to = kind === 'SQLite' ? folder.file('killed.db') : await newDatabase();
      const command = ['copy', '--from', 'first.db', '--to', to, '--project', 'whole'];
      let resumed = 0;
      for (const moment of ['run:', 'url:', 'fetched:', 'link_set:', 'comparing']) {
        const { child, said, finished } = startSumi(command, { cwd: folder.path });
        await Promise.race([said(`  ${moment}`), once(child, 'exit')]);
        child.kill('SIGKILL');
        const { stderr } = await finished;
        if (stderr.includes('continues in')) resumed++;
      }
      const last = await run(...command);
      expect(last.code, last.stderr).toBe(0);
      expect(resumed).toBeGreaterThan(0);
      expect(await projectFacts(to, 'whole')).toEqual(await projectFacts(folder.file('first.db'), 'whole'));
      const again = await run(...command);
      expect(again.code).toBe(0);
      expect(again.stderr).toContain('project "whole" is in');
    },
  );

  it('refuses a project that is there already, and copies it under another name', async () => {
    await run(
      'crawl',
      web.origin,
      '--delay',
      '0',
      '--db',
      'other.db',
      '-q',
      '--project',
      'whole',
      '--max-pages',
      '3',
    );
    const refused = await run('copy', '--from', 'first.db', '--to', 'other.db', '--project', 'whole');
    expect(refused.code).toBe(2);
    expect(refused.stderr).toContain('The project "whole" already exists in other.db');
    expect(refused.stderr).toContain('--as');
    const renamed = await run(
      'copy',
      '--from',
      'first.db',
      '--to',
      'other.db',
      '--project',
      'whole',
      '--as',
      'second',
    );
    expect(renamed.code, renamed.stderr).toBe(0);
    expect(renamed.stdout).toContain('project "whole" copied as "second"');
    const { pages } = await projectFacts(folder.file('other.db'), 'second');
    expect(pages).toEqual((await projectFacts(folder.file('first.db'), 'whole')).pages);
  });

  it('says what is wrong: no such project, file or second store, and a name for many', async () => {
    const cases: [string[], number, string][] = [
      [['--from', 'first.db'], 2, "required option '--to <FILE|URL>' not specified"],
      [['--from', 'nowhere.db', '--to', 'x.db'], 2, 'There is no database nowhere.db'],
      [['--from', 'first.db', '--to', './first.db'], 2, 'are the same store'],
      [['--from', 'first.db', '--to', 'x.db', '--project', 'none'], 2, 'There is no project "none"'],
      [['--from', 'first.db', '--to', 'x.db', '--as', 'y'], 2, '--as names one project'],
    ];
    for (const [args, code, message] of cases) {
      const result = await run('copy', ...args);
      expect([result.code, result.stdout], result.stderr).toEqual([code, '']);
      expect(result.stderr).toContain(message);
    }
    const url = await newDatabase();
    await run('copy', '--from', 'first.db', '--to', url, '--project', 'part');
    const same = await run('copy', '--from', url, '--to', `${url}?sslmode=disable`, '--as', 'two');
    expect(same.code).toBe(2);
    expect(same.stderr).toContain('are the same store');
  });

  it('prints no password when the other side cannot be reached', async () => {
    const url = server.urlOf('postgres', 'nobody', 'secret-word').replace(/:\d+\//, ':1/');
    const result = await run('copy', '--from', 'first.db', '--to', url);
    expect(result.code).toBe(4);
    expect(result.stderr + result.stdout).not.toContain('secret-word');
  });
});
