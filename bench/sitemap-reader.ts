// One process that reads one sitemap by the road of the crawler (fetcher, findEntries, reader) and tells what that cost:
// processor time and growth of the process from before the request to behind the last entry. A small sitemap is read
// first, as a crawl has read pages by then: what is loaded once belongs to no sitemap.
import { createSitemapWeb } from '../src/crawl/discover/sitemap-web.ts';
import { createHttpFetcher } from '../src/fetch/http-fetcher.ts';
import { parseRobotsTxt, rulesFor } from '../src/politeness/robots-txt.ts';
import { systemClock } from '../src/primitives/clock.ts';
import { findEntries } from '../src/sitemap/find-entries.ts';

const MAX_BYTES = 104_857_600;
const SECOND = 1000;

const fetcher = createHttpFetcher({
  userAgent: 'bench',
  compress: true,
  keepAlive: true,
  http2: false,
  perHost: 1,
  connectTimeoutMs: 10 * SECOND,
  headersTimeoutMs: 30 * SECOND,
  bodyTimeoutMs: 30 * SECOND,
  totalTimeoutMs: 60 * SECOND,
  resolve: new Map(),
  proxy: {},
  clock: systemClock,
});
const web = createSitemapWeb({
  retry: { retries: 0, backoff: 'constant', delayMs: 0, maxBackoffMs: 0 },
  maxBytes: MAX_BYTES,
  rulesOf: async () => rulesFor(parseRobotsTxt(''), 'bench'),
  request: ({ url, maxBytes, onPiece }) =>
    fetcher.fetch({ url, method: 'GET', maxBytes, onPiece, keepsCutBody: true }),
  pause: async () => {},
  after: systemClock.after,
});

async function read(url: string): Promise<{ entries: number; problem: string | null }> {
  let entries = 0;
  let problem: string | null = null;
  const onSitemap = (report: { problem: string | null }) => {
    problem ??= report.problem;
  };
  const found = findEntries(url, {
    web,
    paths: [],
    maxBytes: MAX_BYTES,
    onSitemap,
    isGiven: true,
  });
  for await (const batch of found) entries += batch.length;
  return { entries, problem };
}

const [small, large] = process.argv.slice(2);
await read(small);
const rssBefore = process.memoryUsage().rss;
const cpuBefore = process.cpuUsage();
const found = await read(large);
const { user, system } = process.cpuUsage(cpuBefore);
// The highest it ever was: kilobytes on Linux.
const growthMb = Math.max(0, process.resourceUsage().maxRSS / 1024 - rssBefore / 1024 ** 2);
process.stdout.write(`${JSON.stringify({ ...found, cpuMs: (user + system) / 1000, growthMb })}\n`);
await fetcher.close();
