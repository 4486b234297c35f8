// Incremental crawls of real servers, which name their compressed answers in their own ways.
import { utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { type FolderServer, startFolderServer } from '../servers/start-folder-server.ts';
import { type CrawlOptions, page, useBench } from './crawl-site.ts';

const bench = useBench();
const started: FolderServer[] = [];
afterEach(async () => {
  for (const server of started.splice(0)) await server.stop();
});

const INCREMENTAL: CrawlOptions = { perHost: 1, mode: 'incremental', spotCheck: 0 };
const WORDS = '<p>So that compressing it is worth while.</p>'.repeat(50);

function write(server: FolderServer, name: string, html: string, date: string): void {
  writeFileSync(join(server.folder, name), html.replace('</body>', `${WORDS}</body>`));
  const time = new Date(date);
  utimesSync(join(server.folder, name), time, time);
}

it.each([
  ['apache', 'mod_deflate', 'AddOutputFilterByType DEFLATE text/html', /^".*-gzip"$/],
  ['apache', 'mod_brotli', 'AddOutputFilterByType BROTLI_COMPRESS text/html', /^".*-br"$/],
  ['apache', 'mod_deflate and no tags', 'AddOutputFilterByType DEFLATE text/html\nFileETag None', null],
  ['apache', 'no compression', '', /^"[^-]*-[^-]*"$/],
  ['nginx', 'gzip', 'gzip on; gzip_types text/html;', /^W\/"/],
  ['nginx', 'no compression', '', /^"/],
] as const)('%s with %s gets its 304 again, and a changed page is read', async (kind, _, more, tag) => {
  const server = await startFolderServer(kind, more);
  started.push(server);
  write(server, 'index.html', page('Home', '/a.html', '/b.html'), '2026-01-01T00:00:00Z');
  write(server, 'a.html', page('A'), '2026-01-01T00:00:00Z');
  write(server, 'b.html', page('B'), '2026-01-01T00:00:00Z');
  const file = bench.file();
  await bench.crawl(file, `${server.url}/`, { perHost: 1 });
  if (tag !== null) expect(file.page('/a.html').etag).toMatch(tag);
  const second = await bench.crawl(file, `${server.url}/`, INCREMENTAL);
  expect(second.summary).toMatchObject({ status: 'completed', unchanged: 3 });
  write(server, 'b.html', page('B again'), '2026-01-02T00:00:00Z');
  // Once more, with what the 304 said about the tag.
  const third = await bench.crawl(file, `${server.url}/`, INCREMENTAL);
  expect(third.summary).toMatchObject({ status: 'completed', unchanged: 2, changed: 1 });
  const answers = file.rows<{ status_code: number }>(
    'SELECT status_code FROM request WHERE kind = 0 ORDER BY id',
  );
  expect(answers.map(({ status_code }) => status_code)).toEqual([
    ...[200, 200, 200],
    ...[304, 304, 304],
    ...[304, 304, 200],
  ]);
  expect(file.page('/b.html').title).toBe('B again');
});
