// A file with as many pages as are asked for, written straight into the tables: of one large project and, behind it, a
// small one. What is rare is spread over the ids, what waits stands at their end, as after a crawl's first half.
import { systemClock } from '../src/primitives/clock.ts';
import Sqlite from '../src/store/sqlite/driver.ts';
import { openSqliteStore } from '../src/store/sqlite/sqlite-store.ts';

export const LARGE = 'large';
export const SMALL = 'small';
export const SMALL_PAGES = 1000;

const HOSTS = 50;

/** What is rare is as many rows in a file of any size, so that the same question gets as many of them. */
const RARE_ROWS = 200;

/** n is the page's number. */
const URLS = (pages: number) => {
  const every = Math.max(11, Math.floor(pages / RARE_ROWS));
  return `
INSERT INTO url (id, project_id, host_id, state, priority, depth, attempts, discovered_run, discovered_at, url, reason)
SELECT n, CASE WHEN n <= ${pages} THEN 1 ELSE 2 END, CASE WHEN n % 20 = 0 THEN 2 + n / 20 % ${HOSTS - 1} ELSE 1 END,
  CASE WHEN n > ${pages} * 0.98 AND n <= ${pages} THEN 1 WHEN n % ${every} = 7 THEN 6 WHEN n % ${every} = 9 THEN 9
    WHEN n % ${every} = 5 THEN 14 WHEN n % 10 IN (1, 2) THEN 13 ELSE 3 END,
  1, CASE WHEN n % ${every} = 3 THEN 12 ELSE 1 + n % 7 END, 0, CASE WHEN n <= ${pages} THEN 1 ELSE 2 END, 1700000000000 + n,
  'https://' || CASE WHEN n % 20 = 0 THEN 'h' || (2 + n / 20 % ${HOSTS - 1}) || '.test' ELSE 'www.test' END
    || '/s' || (n % 40) || '/d' || (n % 1000) || '/page-' || n,
  CASE WHEN n > ${pages} * 0.98 AND n <= ${pages} THEN NULL WHEN n % ${every} = 7 THEN 'http: 404' WHEN n % ${every} = 9 THEN 'http: 500'
    WHEN n % ${every} = 5 THEN 'http: 410' WHEN n % 10 = 1 THEN 'robots: Disallow /private/'
    WHEN n % 10 = 2 THEN 'scope: host x.test' END
FROM numbers`;
};

const VISITS = (pages: number) => {
  const every = Math.max(11, Math.floor(pages / RARE_ROWS));
  return `
INSERT INTO fetched (page_id, run_id, project_id, visited_at, status_code, content_type, content_length, title, h1,
  description, noindex, nofollow, word_count, content_hash, facet_hash, response_ms, change, change_frequency, changes_detected)
SELECT id, discovered_run, project_id, 1700000000000 + id * 37 % 86400000,
  CASE state WHEN 6 THEN 404 WHEN 9 THEN 500 WHEN 14 THEN 410 ELSE CASE WHEN id % 50 = 9 THEN 301 ELSE 200 END END,
  CASE WHEN id % ${every} = 10 THEN 'application/pdf' ELSE 'text/html; charset=utf-8' END, 2000 + id * 7919 % 90000,
  'Page ' || id || ' of the shop, number ' || (id % 977), 'Heading ' || id,
  'A description of some length, as most pages have one: it is here to make the row as long as rows are. ' || id,
  CASE WHEN id % ${every} = 8 THEN 1 ELSE 0 END, 0, id * 31 % 3000, randomblob(32), randomblob(32), id * 17 % 900,
  CASE WHEN id % ${every} = 4 THEN 'changed' WHEN state = 9 THEN 'failed' WHEN state = 14 THEN 'gone' ELSE 'new' END,
  id % 13 / 10.0, id % 3
FROM url WHERE state IN (3, 6, 9, 14)`;
};

export interface FillOptions {
  path: string;
  pages: number;
  /** With the indexes that runs build at their end. */
  indexes: readonly ('full-text' | 'sections')[];
}

export async function fillLists({ path, pages, indexes }: FillOptions): Promise<void> {
  const onFailure = (error: unknown) => {
    throw error;
  };
  const open = () => openSqliteStore({ path, clock: systemClock, onFailure });
  await (await open()).close();
  const db = new Sqlite(path);
  db.pragma('synchronous = OFF');
  db.exec('BEGIN');
  for (const name of [LARGE, SMALL])
    db.prepare('INSERT INTO project (name, created_at) VALUES (?, 0)').run(name);
  for (let host = 1; host <= HOSTS; host++)
    db.prepare('INSERT INTO host (id, name) VALUES (?, ?)').run(
      host,
      host === 1 ? 'www.test' : `h${host}.test`,
    );
  for (const project of [1, 2])
    db.prepare(
      `INSERT INTO run (project_id, started_at, finished_at, status, config_hash, config, pages, requests)
       VALUES (?, 1, 2, 'completed', '', '{}', 1, 1)`,
    ).run(project);
  db.exec(
    `WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ${pages + SMALL_PAGES}) ${URLS(pages)}`,
  );
  db.exec(VISITS(pages));
  db.exec('COMMIT');
  db.close();
  const store = await open();
  await store.projects.prepareLists();
  for (const project of [LARGE, SMALL])
    for (const kind of indexes) await store.projects.buildIndex(project, kind);
  await store.close();
}
