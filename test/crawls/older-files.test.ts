import Sqlite from 'better-sqlite3';
import { expect, it } from 'vitest';
import { loadConfig } from '../../src/config/load-config.ts';
import { applyProjectSettings } from '../../src/project/apply-project-settings.ts';
import { MIGRATIONS } from '../../src/store/postgres/schema.ts';
import { sumi } from '../cli/run-sumi.ts';
import { sharedPostgres } from '../servers/shared-postgres.ts';
import { type CrawlFile, page, useBench } from './crawl-site.ts';
import { outcomes } from './history-rows.ts';
import { makeOlder } from './make-older.ts';

const bench = useBench();

it('a redirect in a file of the version that kept no hashes of them is still the one that was read', async () => {
  const moved = { status: 301, headers: { location: '/new' } };
  const web = await bench.web({ pages: { '/': page('home', '/old'), '/old': moved, '/new': page('new') } });
  const file = bench.file();
  await bench.crawl(file, web.url('/'));
  const db = new Sqlite(file.path);
  db.exec('UPDATE fetched SET facet_hash = NULL WHERE redirect_to IS NOT NULL');
  makeOlder(db, 7);
  db.close();
  await bench.crawl(file, web.url('/'), { mode: 'incremental', spotCheck: 0 });
  expect(outcomes(file)).toMatchObject({ '/old': 'unchanged status', '/new': 'unchanged hash' });
});

it('a file of the version before has the views of this one after its next crawl', async () => {
  const web = await bench.web({ pages: { '/': page('home') } });
  const file = bench.file();
  await bench.crawl(file, web.url('/'));
  const db = new Sqlite(file.path);
  makeOlder(db, 8);
  db.exec('CREATE VIEW crawled_url AS SELECT 1 AS id');
  db.close();
  await bench.crawl(file, web.url('/'));
  expect(file.rows('SELECT project_id, last_modified FROM crawled_url')).toEqual([
    { project_id: 1, last_modified: '' },
  ]);
});

/** As the version before named the project: by the host alone, also in the runs that resume and watch made. */
function nameByHost(file: CrawlFile, given: string | null): void {
  const db = new Sqlite(file.path);
  makeOlder(db, 10);
  db.exec("UPDATE project SET name = '127.0.0.1'");
  db.prepare("UPDATE run SET config = json_set(config, '$.project', ?) WHERE id > 1").run(given);
  db.close();
}

const READER = { env: { SUMI_DELAY: '0' } };

it('resume goes on with the run of a project that gets another name', async () => {
  const web = await bench.web({ pages: { '/': page('home', '/a', '/b'), '/*': page('more') } });
  const file = bench.file();
  const stopping = { listeners: [(event: { type: string }) => event.type === 'page' && handle.stop()] };
  const handle = await bench.begin(file, web.url('/'), { perHost: 1, concurrency: 1 }, stopping);
  expect(await handle.finished).toMatchObject({ status: 'interrupted' });
  nameByHost(file, null);
  const { code, stderr } = await sumi(['resume', '--db', file.path], READER);
  expect([code, stderr]).toEqual([0, expect.stringContaining('run 1 of 127.0.0.1:')]);
  expect(file.rows('SELECT name FROM project')).toEqual([{ name: new URL(web.origin).host }]);
  expect(file.rows('SELECT id, status FROM runs')).toEqual([{ id: 1, status: 'completed' }]);
});

it('a watch goes on with such a project, what it keeps holds, and its own runs give it no name', async () => {
  const web = await bench.web({ pages: { '/': page('home', '/a'), '/*': page('more') } });
  const site = new URL(web.origin).host;
  const file = bench.file();
  await bench.crawl(file, web.url('/'));
  await bench.crawl(file, web.url('/'));
  nameByHost(file, '127.0.0.1');
  const db = new Sqlite(file.path);
  db.prepare('UPDATE project SET settings = ?').run(JSON.stringify({ 'max-pages': 1 }));
  db.close();
  const listed = await sumi(['runs', '--db', file.path, '--format', 'json'], READER);
  expect(JSON.parse(listed.stdout)).toMatchObject([{ project: site }, { project: site }]);
  const kept = await sumi(['config', '--db', file.path, '--project', site, '--format', 'json'], READER);
  expect(JSON.parse(kept.stdout)).toMatchObject({ options: { 'max-pages': { value: 1 } } });
  const { code, stderr } = await sumi(['watch', '--once', '--db', file.path], READER);
  expect([code, stderr]).toEqual([0, expect.not.stringContaining('error')]);
  expect(file.rows('SELECT name FROM project')).toEqual([{ name: site }]);
});

/** A PostgreSQL database of the version before, with a project that keeps a delay and has a run. */
async function olderDatabase(url: string, status: string, delay: number): Promise<string> {
  const server = await sharedPostgres();
  const store = await server.newDatabase();
  const config = JSON.stringify({ project: null, 'start-urls': [url], delay, discover: ['links'] });
  await server.run(
    `${MIGRATIONS.slice(0, 8).join('\n')}
    INSERT INTO meta VALUES ('application', 'sumi-ripple'), ('schema_version', '8'), ('hash_key', '${'0'.repeat(32)}');
    INSERT INTO project (name, created_at, settings) VALUES ('127.0.0.1', 0, '{"delay":${delay}}');
    INSERT INTO run (project_id, started_at, status, config_hash, config)
      SELECT id, 0, '${status}', '', '${config}' FROM project;`,
    store,
  );
  return store;
}

it('what a project keeps in PostgreSQL holds for the first crawl by this version, too', async () => {
  const startUrls = ['http://127.0.0.1:8080/'];
  const store = await olderDatabase(startUrls[0], 'completed', 5);
  const sources = { env: {}, options: { store } };
  const told = await loadConfig(sources);
  const refused = applyProjectSettings(told, { sources, startUrls, isReadOnly: true });
  await expect(refused).rejects.toMatchObject({ code: 'store-older' });
  expect(await applyProjectSettings(told, { sources, startUrls })).toMatchObject({ delay: 5 });
  await (await sharedPostgres()).dropDatabase(store);
});

it.each([['resume'], ['watch --once']])(
  '`sumi %s` goes on with what a PostgreSQL database of the version before has',
  async (command) => {
    const web = await bench.web({ pages: { '/': page('home') } });
    const store = await olderDatabase(web.url('/'), 'interrupted', 0);
    const { code, stderr } = await sumi([...command.split(' '), '--store', store], READER);
    expect([code, stderr]).toEqual([0, expect.stringContaining(new URL(web.origin).host)]);
    expect(web.requestsTo('/')).toHaveLength(1);
    await (await sharedPostgres()).dropDatabase(store);
  },
);
