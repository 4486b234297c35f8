// Who links to a page: how long the index takes to build, and an answer with it and without it. A file of many pages is
// written straight into the tables. tsx bench/reverse-links.ts [PAGES] [LINKS A PAGE]
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '../src/primitives/clock.ts';
import Sqlite from '../src/store/sqlite/driver.ts';
import { openSqliteReadSide } from '../src/store/sqlite/read-side.ts';
import { openSqliteStore } from '../src/store/sqlite/sqlite-store.ts';

const [pages = 100_000, links = 20] = process.argv.slice(2).map(Number);
const folder = mkdtempSync(join(tmpdir(), 'sumi-bench-'));
const path = join(folder, 'links.db');

const openStore = () =>
  openSqliteStore({
    path,
    clock: systemClock,
    onFailure: (error) => {
      throw error;
    },
  });

/** Half of the links go to the first hundredth of the pages, as menus do. */
function fill(): void {
  const db = new Sqlite(path);
  db.exec(`BEGIN; INSERT INTO project (id, name, created_at) VALUES (1, 'p', 0);
    INSERT INTO host (id, name) VALUES (1, 'a.test');
    INSERT INTO run (project_id, started_at, finished_at, status, config_hash, config) VALUES (1, 0, 1, 'completed', '', '{}')`);
  const putPage = db.prepare(
    `INSERT INTO url (id, project_id, host_id, state, priority, depth, attempts, discovered_run, discovered_at, url)
     VALUES (?, 1, 1, 3, 1, 1, 0, 1, 0, 'https://a.test/section/page-' || ?)`,
  );
  const putLinks = db.prepare('INSERT INTO link_set VALUES (?, 1, ?, NULL, NULL)');
  let seed = 1;
  const below = (limit: number) => {
    seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
    return Math.floor((seed / 0x1_0000_0000) * limit);
  };
  for (let page = 1; page <= pages; page++) {
    putPage.run(page, page);
    const targets = new Set<number>();
    for (let i = 0; i < links; i++) targets.add(1 + below(i % 2 === 0 ? Math.ceil(pages / 100) : pages));
    putLinks.run(page, `[${[...targets].join(',')}]`);
  }
  db.exec('COMMIT');
  db.close();
}

async function answer(pageId: number): Promise<{ rows: number; ms: number }> {
  const side = openSqliteReadSide(path);
  const began = performance.now();
  let rows = 0;
  for await (const link of side.linksOf(pageId, {})) if (link.direction === 'in') rows++;
  const ms = performance.now() - began;
  await side.close();
  return { rows, ms: Math.round(ms * 10) / 10 };
}

try {
  const made = await openStore();
  await made.close();
  fill();
  const questions = { 'a page of the menu': 7, 'any page': Math.floor(pages * 0.7) };
  const scans = Object.fromEntries(
    await Promise.all(Object.entries(questions).map(async ([name, id]) => [name, await answer(id)])),
  );
  const before = { size: statSync(path).size, rss: process.memoryUsage.rss() };
  let most = before.rss;
  const watch = setInterval(() => {
    most = Math.max(most, process.memoryUsage.rss());
  }, 20);
  const store = await openStore();
  const began = performance.now();
  const built = await store.projects.buildIndex('p', 'reverse-links');
  const seconds = (performance.now() - began) / 1000;
  clearInterval(watch);
  await store.close();
  console.log(`${pages} pages × ${links} links: ${built!.pages} targets in ${seconds.toFixed(2)} s`);
  console.log(
    `memory +${Math.round((most - before.rss) / 1e6)} MB, file +${Math.round((statSync(path).size - before.size) / 1e6)} MB`,
  );
  for (const [name, id] of Object.entries(questions)) {
    const { rows, ms } = await answer(id);
    console.log(`who links to ${name}: ${rows} links, ${ms} ms; by scan ${scans[name].ms} ms`);
  }
} finally {
  rmSync(folder, { recursive: true });
}
