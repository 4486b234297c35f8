// The sitemaps of bench/sitemap.ts, served by a process of their own so that making them is not measured. Each is made
// once, before the first request: /N.xml has N entries, /zeros.gz ten gigabytes of zeros in ten megabytes.
import { createServer } from 'node:http';
import { gzipSync } from 'node:zlib';

const ZEROS_AT_ONCE = 1 << 30;
const MEMBERS = 10;

function urlset(entries: number, origin: string): Buffer {
  const lines = Array.from(
    { length: entries },
    (_, n) => `<url>
  <loc>${origin}/section-${n % 97}/a-page-of-the-site-${n}.html</loc>
  <lastmod>2024-05-${String((n % 28) + 1).padStart(2, '0')}T07:08:09+00:00</lastmod>
  <changefreq>weekly</changefreq>
  <priority>0.${n % 10}</priority>
</url>
`,
  );
  const head =
    '<?xml version="1.0" encoding="UTF-8"?>\n<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n';
  return Buffer.from(`${head}${lines.join('')}</urlset>\n`);
}

const bodies = new Map<string, Buffer>();
const server = createServer((request, response) => {
  const body = bodies.get(request.url ?? '');
  response.writeHead(body === undefined ? 404 : 200, {
    'content-type': 'application/xml',
    'content-length': body?.length ?? 0,
  });
  response.end(body);
});
server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  const origin = `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}`;
  for (const count of process.argv.slice(2).map(Number)) bodies.set(`/${count}.xml`, urlset(count, origin));
  const member = gzipSync(Buffer.alloc(ZEROS_AT_ONCE));
  bodies.set('/zeros.gz', Buffer.concat(Array.from({ length: MEMBERS }, () => member)));
  process.send?.(origin);
});
// The parent goes, and so do we.
process.once('disconnect', () => process.exit());
