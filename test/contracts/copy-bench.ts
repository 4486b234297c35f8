// What the tests of copies share: a site whose crawl fills every table, stores to copy it into, and a copy that can die.
import Sqlite from 'better-sqlite3';
import { afterEach } from 'vitest';
import type { CopySide } from '../../src/store/copy-port.ts';
import { type CopyEvent, type CopyResult, copyProject } from '../../src/store/copy-project.ts';
import { openCopySide } from '../../src/store/open-store.ts';
import { type Bench, type CrawlFile, page } from '../crawls/crawl-site.ts';
import { sharedPostgres } from '../servers/shared-postgres.ts';
import type { FakeWeb } from '../web/fake-web.ts';
import { type ProjectFacts, projectFacts } from './project-facts.ts';

export type Kind = 'SQLite' | 'PostgreSQL';
export const KINDS: readonly Kind[] = ['SQLite', 'PostgreSQL'];

/** Call once a test file: answers the address of a new, empty store, gone after the test. */
export function useStores(bench: Bench): (kind: Kind) => Promise<string> {
  const databases: string[] = [];
  afterEach(async () => {
    const server = await sharedPostgres();
    for (const url of databases.splice(0)) await server.dropDatabase(url);
  });
  return async (kind) => {
    if (kind === 'SQLite') return bench.file().path;
    const url = await (await sharedPostgres()).newDatabase();
    databases.push(url);
    return url;
  };
}

export interface CopyOptions {
  project?: string;
  as?: string;
  restart?: boolean;
  /** Rows a batch. */
  rows?: number;
  /** Fails instead of writing this batch (counted from 1), as if the process had died. */
  dieAt?: number;
  onEvent?: (event: CopyEvent) => void;
}

export async function copy(from: string, to: string, options: CopyOptions = {}): Promise<CopyResult | null> {
  const { project = 'site', as = project, restart = false, rows = 7, dieAt, onEvent = () => {} } = options;
  const source = await openCopySide(from, 'from', rows);
  try {
    const target = await openCopySide(to, 'to', rows);
    try {
      const found = (await source.projects()).find(({ name }) => name === project)!;
      const side = dieAt === undefined ? target : dyingSide(target, dieAt);
      return await copyProject({ from: source, to: side, project: found, name: as, restart, onEvent });
    } finally {
      await target.close();
    }
  } finally {
    await source.close();
  }
}

function dyingSide(side: CopySide, dieAt: number): CopySide {
  let written = 0;
  return {
    ...side,
    async write(request) {
      const writer = (await side.write(request))!;
      return {
        ...writer,
        async write(table, batch) {
          if (++written === dieAt) throw new Error('died');
          await writer.write(table, batch);
        },
      };
    },
  };
}

/** Every table gets rows: redirects, changed links, denied pages, anchors, two runs, a queue. */
export async function crawlSite(
  bench: Bench,
  options: { stopAt?: string } = {},
): Promise<{ file: CrawlFile; web: FakeWeb }> {
  let links = ['/a', '/b', '/old', '/loop', '/gone', '/private/x', '/none'];
  const web = await bench.web({
    hosts: 2,
    robots: 'User-agent: *\nDisallow: /private/\nCrawl-delay: 0.01\n',
    pages: {
      '/': ({ response }) => {
        response.setHeader('content-type', 'text/html; charset=utf-8');
        response.setHeader('etag', '"v\\1"');
        response.end(
          `<title>Home\t"söt" \\ 猫</title><a href="/c" rel="nofollow">C {1,2}</a>${page('x', ...links)}`,
        );
      },
      '/a': page('A', '/', '/b', '/deep'),
      '/b': page('B', '/a'),
      '/c': page('C'),
      '/deep': page('Deep', '/deeper'),
      '/deeper': page('Deeper'),
      '/old': { status: 301, headers: { location: '/moved' } },
      '/moved': { status: 302, headers: { location: '/a' } },
      '/loop': { status: 302, headers: { location: '/loop' } },
      '/gone': { status: 410 },
      '/new': page('New'),
    },
  });
  const file = bench.file();
  const config = { project: 'site', perHost: 1, concurrency: 1, anchorText: true };
  await bench.crawl(file, web.url('/'), config);
  links = ['/a', '/new', '/old', '/late-1', '/late-2', '/late-3'];
  if (options.stopAt === undefined) await bench.crawl(file, web.url('/'), config);
  else {
    const begun = await bench.begin(file, web.url('/'), config);
    await web.asked(options.stopAt, 2);
    begun.stop();
    await begun.finished;
  }
  fillRest(file.path);
  return { file, web };
}

/** What a crawl of this site leaves empty: a change that is kept, sitemaps, a plan, settings. */
function fillRest(path: string): void {
  const db = new Sqlite(path);
  db.exec(`
    INSERT OR IGNORE INTO page_change SELECT run_id, page_id, visited_at, 5, '{"parts":["title"],"fields":[],"猫":"\\u0000"}' FROM visit
      WHERE run_id = (SELECT max(run_id) FROM visit);
    UPDATE visit SET text_hash = x'00ff', simhash_distance = 3, bytes_saved = 12, duration_ms = 1.5 WHERE page_id = 1;
    INSERT OR REPLACE INTO sitemap_entry SELECT id, id * 1000, 'daily', 0.5, 'https://s.test/s.xml', 1, 2, CASE id WHEN 2 THEN 2 END,
      '1970-01-0' || id, '{"kind":"rss"}' FROM url;
    INSERT OR REPLACE INTO discovery SELECT DISTINCT project_id, host_id, 'sitemap', 5, 3, '["https://s.test/s.xml"]', 'passing', '{}', '["s.test"]', '["/a.xml"]' FROM url;
    INSERT INTO revisit SELECT id, CASE id WHEN 1 THEN NULL ELSE id * 7 END, 0.25, 1e-9, 1, 2, 3 FROM url;
    INSERT INTO orphan SELECT id, 1 FROM url WHERE id < 4;
    UPDATE run SET mode = 'full', mode_reason = 'because' WHERE id = 2;
    UPDATE project SET settings = '{"mode":"smart"}'`);
  db.close();
}

/** Without what the projects of a store share: both sites of a test are on the same hosts. */
export async function ownFacts(address: string, project: string): Promise<Omit<ProjectFacts, 'domains'>> {
  const { domains: _, ...own } = await projectFacts(address, project);
  return own;
}
