import Sqlite from 'better-sqlite3';
import { expect, it } from 'vitest';
import { page, useBench } from './crawl-site.ts';
import { outcomes } from './history-rows.ts';

const bench = useBench();

it('a redirect in a file of the version that kept no hashes of them is still the one that was read', async () => {
  const moved = { status: 301, headers: { location: '/new' } };
  const web = await bench.web({ pages: { '/': page('home', '/old'), '/old': moved, '/new': page('new') } });
  const file = bench.file();
  await bench.crawl(file, web.url('/'));
  const db = new Sqlite(file.path);
  db.exec(`DROP VIEW pages; ALTER TABLE fetched DROP COLUMN robots_other; ALTER TABLE fetched DROP COLUMN x_robots_tag;
    UPDATE fetched SET facet_hash = NULL WHERE redirect_to IS NOT NULL;
    ALTER TABLE discovery DROP COLUMN looks; ALTER TABLE discovery DROP COLUMN searched;
      ALTER TABLE host DROP COLUMN head_checks;
    PRAGMA user_version = 7`);
  db.close();
  await bench.crawl(file, web.url('/'), { mode: 'incremental', spotCheck: 0 });
  expect(outcomes(file)).toMatchObject({ '/old': 'unchanged status', '/new': 'unchanged hash' });
});

it('a file of the version before has the views of this one after its next crawl', async () => {
  const web = await bench.web({ pages: { '/': page('home') } });
  const file = bench.file();
  await bench.crawl(file, web.url('/'));
  const db = new Sqlite(file.path);
  db.exec(`DROP VIEW crawled_url; CREATE VIEW crawled_url AS SELECT 1 AS id;
    ALTER TABLE discovery DROP COLUMN looks; ALTER TABLE discovery DROP COLUMN searched;
      ALTER TABLE host DROP COLUMN head_checks; PRAGMA user_version = 8`);
  db.close();
  await bench.crawl(file, web.url('/'));
  expect(file.rows('SELECT project_id, last_modified FROM crawled_url')).toEqual([
    { project_id: 1, last_modified: '' },
  ]);
});
