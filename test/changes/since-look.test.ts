// `sumi changes` over several runs: since a time, and since a reader last looked.
import Sqlite from 'better-sqlite3';
import { afterEach, describe, expect, it } from 'vitest';
import type { ToldChange } from '../../src/change/told-change.ts';
import { makeFolder, startSumi, sumi } from '../cli/run-sumi.ts';
import { page } from '../crawls/crawl-site.ts';
import { sharedPostgres } from '../servers/shared-postgres.ts';
import { answer, type Exchange, startFakeWeb } from '../web/fake-web.ts';

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

const said = (words: string) =>
  `<!doctype html><html><head><title>Page</title></head><body><main><p>It says ${words} to all.</p></main></body></html>`;

async function setUp(kind: 'SQLite' | 'PostgreSQL' = 'SQLite') {
  const folder = makeFolder();
  closing.push(() => folder.remove());
  const state = {
    a: 'first words',
    b: 'steady words',
    isHeld: false,
    isGone: false,
    isShut: false,
    release: () => {},
  };
  const isReleased = new Promise<void>((resolve) => {
    state.release = resolve;
  });
  const web = await startFakeWeb({
    pages: {
      '/robots.txt': (exchange: Exchange) =>
        answer(exchange, { body: state.isShut ? 'User-agent: *\nDisallow: /' : '' }),
      '/': page('home', '/a', '/b'),
      '/a': async (exchange: Exchange) => {
        if (state.isHeld) await isReleased;
        answer(exchange, state.isGone ? { status: 410, body: 'gone' } : { body: said(state.a) });
      },
      '/b': (exchange: Exchange) => answer(exchange, { body: said(state.b) }),
    },
  });
  closing.push(() => web.close());
  const db = folder.file('sumi.db');
  let place = ['--db', db];
  if (kind === 'PostgreSQL') {
    const server = await sharedPostgres();
    const address = await server.newDatabase();
    closing.push(() => server.dropDatabase(address));
    place = ['--store', address];
  }
  const run = (...args: string[]) => sumi([...args, ...place]);
  return {
    ...{ state, web, db, run },
    crawl: () => run('crawl', web.url('/'), '--delay', '0', '--quiet', '--discover', 'links'),
    async look() {
      const { code, stderr } = await run('watch', '--once', '--budget', '1000/day');
      expect([code, stderr]).toEqual([0, expect.any(String)]);
    },
    async changes(...args: string[]): Promise<string[]> {
      const { code, stdout, stderr } = await run('changes', '--format', 'json', ...args);
      expect([code, stderr]).toEqual([0, '']);
      return (JSON.parse(stdout) as ToldChange[]).map(
        ({ url, outcome, run, text }) =>
          `${url.slice(web.origin.length)} ${outcome} ${run}${(text ?? [])
            .filter(([kind]) => kind !== '=')
            .map(([kind, words]) => ` ${kind}${words}`)
            .join('')}`,
      );
    },
  };
}

/** As if everything so far had happened so many days earlier; marks of readers, too. */
function age(path: string, days: number): void {
  const db = new Sqlite(path);
  const back = days * 86_400_000;
  db.exec(`UPDATE page_change SET visited_at = visited_at - ${back}; UPDATE visit SET visited_at = visited_at - ${back}; UPDATE fetched SET visited_at = visited_at - ${back};
    UPDATE run SET started_at = started_at - ${back}, finished_at = finished_at - ${back};
    UPDATE revisit SET learned_at = learned_at - ${back};
    UPDATE reader_look SET looked_at = looked_at - ${back};`);
  db.close();
}

describe('sumi changes in a watched project', () => {
  it('tells what changed since this reader last looked, over however many runs', async () => {
    const { crawl, look, changes, state, db } = await setUp();
    await crawl();
    age(db, 4);
    state.a = 'second words';
    await look();
    // The last run finds nothing: that is not what a reader means who was away.
    age(db, 2);
    state.b = 'other words';
    await look();
    age(db, 0.5);
    expect(await changes('--since', '3d')).toEqual([
      '/a changed 2 -first +second',
      '/b changed 3 -steady +other',
    ]);
    expect(await changes('--reader', 'mail')).toEqual(['/b changed 3 -steady +other']);
    expect(await changes('--reader', 'mail')).toEqual([]);
    expect(await changes('--no-mark')).toEqual(['/b changed 3 -steady +other']);
    expect(await changes()).toEqual(['/b changed 3 -steady +other']);
    expect(await changes()).toEqual([]);
    age(db, 2);
    state.a = 'third words';
    await look();
    expect(await changes('--reader', 'mail')).toEqual(['/a changed 4 -second +third']);
    expect(await changes()).toEqual(['/a changed 4 -second +third']);
    expect(await changes('--run', '2')).toEqual(['/a changed 2 -first +second']);
  });

  it('tells nothing of the first crawl, also where one before it failed', async () => {
    const { run, changes, state, web } = await setUp();
    const watch = () => run('watch', web.url('/'), '--once', '--discover', 'links', '--robots-ttl', '0');
    state.isShut = true;
    expect((await watch()).code).toBe(1);
    state.isShut = false;
    expect((await watch()).code).toBe(0);
    expect((await changes('--run', '2')).length).toBe(3);
    expect((await run('changes', '--no-mark')).stdout).toContain(
      'no other run was made; first look: the last 24 hours, without the first crawl',
    );
    expect(await changes()).toEqual([]);
  });

  it('refuses a reader beside what says another time', async () => {
    const { crawl, run, web } = await setUp();
    await crawl();
    for (const other of [['--since', '1d'], ['--run', '1'], [web.url('/a')]]) {
      const { code, stdout, stderr } = await run('changes', '--reader', 'ada', ...other);
      const named = other[0].startsWith('-') ? other[0] : 'a URL';
      expect([code, stdout, stderr]).toEqual([
        2,
        '',
        expect.stringContaining(`--reader and ${named} are both given`),
      ]);
    }
  });

  it('tells a page once, by what differs at both ends, and not what was taken back', async () => {
    const { crawl, changes, run, state } = await setUp();
    await crawl();
    [state.a, state.b] = ['second words', 'other words'];
    await crawl();
    [state.a, state.b] = ['third words', 'steady words'];
    await crawl();
    expect(await changes('--since', '1')).toEqual(['/a changed 3 -first +third']);
    expect(await changes('--since', '1', '--steps')).toEqual([
      '/a changed 2 -first +second',
      '/b changed 2 -steady +other',
      '/a changed 3 -second +third',
      '/b changed 3 -other +steady',
    ]);
    const { stdout } = await run('changes', '--since', '1');
    expect(stdout).toContain('1 page changed and changed back');
    expect(stdout).toContain('1 changed, 0 new, 0 gone');
  });
});

describe.each(['SQLite', 'PostgreSQL'] as const)(
  'sumi changes in a project without a watch, on %s',
  (kind) => {
    it('tells of a page that went and came back what differs before and after', async () => {
      const { crawl, changes, run, state } = await setUp(kind);
      await crawl();
      state.isGone = true;
      await crawl();
      expect(await changes('--since', '1')).toEqual(['/a gone 2']);
      state.isGone = false;
      state.a = 'second words';
      await crawl();
      // There before and there after: in between it was away.
      expect(await changes('--since', '1')).toEqual(['/a changed 3 -first +second']);
      state.isGone = true;
      await crawl();
      expect(await changes('--since', '1')).toEqual(['/a gone 4']);
      state.isGone = false;
      await crawl();
      // It was gone before, and is there.
      expect(await changes('--since', '4')).toEqual(['/a changed 5']);
      const { stdout } = await run('changes', '--since', '4');
      expect(stdout).toMatch(/status:? +410 → 200/);
    });

    it('tells the last run, and what a reader has not seen only when asked by name', async () => {
      const { crawl, changes, state } = await setUp(kind);
      await crawl();
      state.a = 'second words';
      await crawl();
      await crawl();
      expect(await changes()).toEqual([]);
      expect(await changes('--reader', 'ada')).toEqual(['/a changed 2 -first +second']);
      expect(await changes('--reader', 'ada')).toEqual([]);
    });
  },
);

it('tells what it reads while a crawl has the file, and says that the look could not be kept', async () => {
  const { crawl, run, state, web, db } = await setUp();
  await crawl();
  state.a = 'second words';
  await crawl();
  state.isHeld = true;
  const running = startSumi(['crawl', web.url('/'), '--db', db, '--delay', '0', '--discover', 'links']);
  await running.said('run 3');
  const { code, stdout, stderr } = await run('changes', '--reader', 'ada');
  state.release();
  await running.finished;
  expect(code).toBe(0);
  expect(stdout).toContain('[-first-] {+second+}');
  expect(stderr).toContain('This look of ada could not be kept, so the next one begins where this one did: ');
  const again = await run('changes', '--reader', 'ada');
  expect([again.stderr, again.stdout]).toEqual(['', expect.stringContaining('[-first-] {+second+}')]);
});
