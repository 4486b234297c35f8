/** A large map by chance in an SQLite file, written straight into its tables: the crawl that makes it would take hours. */
import Sqlite from 'better-sqlite3';
import { PAGE_STATES } from '../../src/frontier/page-state.ts';
import { openSqliteStore } from '../../src/store/sqlite/sqlite-store.ts';
import { FakeClock } from '../fake-clock.ts';
import { seededRandom } from '../seeded-random.ts';

export interface LargeMap {
  pages: number;
  linksAPage: number;
  hosts: number;
  /** How many of the hosts are quality domains. */
  quality: number;
}

export async function fillStore(
  path: string,
  { pages, linksAPage, hosts, quality }: LargeMap,
): Promise<void> {
  const clock = new FakeClock();
  const opened = await openSqliteStore({
    path,
    clock,
    onFailure: (error) => {
      throw error;
    },
  });
  const hostName = (host: number) => `site-${host}.example`;
  const lists = {
    quality: Array.from({ length: quality }, (_, i) => ({ domain: hostName(i + 1), seeds: [] })),
  };
  const store = await opened.begin({
    project: 'large',
    owner: 'me',
    configHash: 'h',
    config: JSON.stringify({ terrain: lists }),
    fresh: false,
    metadata: null,
    now: clock.now(),
  });
  await store.run.finish('completed', clock.now(), null);
  await opened.close();
  const { projectId, runId } = store.start;
  const db = new Sqlite(path);
  const random = seededRandom(4);
  db.transaction(() => {
    const addHost = db.prepare('INSERT INTO host (id, name) VALUES (?, ?)');
    for (let host = 1; host <= hosts; host++) addHost.run(host, hostName(host));
    const addPage = db.prepare(
      `INSERT INTO url (id, project_id, host_id, state, priority, depth, attempts, discovered_run, discovered_at, url)
       VALUES (?, ?, ?, ?, 1, ?, 0, ?, 1, ?)`,
    );
    const addFacts = db.prepare(
      'INSERT INTO fetched (page_id, run_id, visited_at, status_code, title, noindex, nofollow) VALUES (?, ?, 1, 200, ?, 0, 0)',
    );
    const addLinks = db.prepare('INSERT INTO link_set (page_id, run_id, targets) VALUES (?, ?, ?)');
    for (let id = 1; id <= pages; id++) {
      const host = 1 + random.below(hosts);
      const url = `https://${hostName(host)}/a/page/with/a/path/of/usual/length/${id}?from=${random.below(1e6)}`;
      addPage.run(id, projectId, host, PAGE_STATES.Processed, random.below(4), runId, url);
      addFacts.run(id, runId, `The title of page ${id}, as long as titles are & with a sign`);
      const targets = Array.from({ length: linksAPage }, () => 1 + random.below(pages));
      addLinks.run(id, runId, JSON.stringify(targets));
    }
  })();
  db.close();
}
