// A pacing strategy sets the pause between two requests to a host. The crawl calls it after each answer.
// It can only make a crawl more polite: the pause is never shorter than the configured delay or the Crawl-delay.
// Run it: npx tsx examples/05-pacing.ts https://example.com/
import { crawl, type PacingStrategy } from 'sumi-ripple';

const start = process.argv[2] ?? 'https://example.com/';
const SLOWEST_MS = 30_000;

// The pause is ten times the server's response time, so a slow server gets fewer requests. A server error doubles it.
const tenTimesTheEffort: PacingStrategy = (_host, delayMs, { responseMs, statusCode }) => {
  if (statusCode === null || statusCode >= 500) return Math.min(delayMs * 2, SLOWEST_MS);
  return Math.min((responseMs ?? 0) * 10, SLOWEST_MS);
};

const seen: number[] = [];
const run = await crawl({
  startUrls: [start],
  db: 'pacing.db',
  maxPages: 5,
  pacing(host, delayMs, answer) {
    const next = tenTimesTheEffort(host, delayMs, answer);
    seen.push(next);
    return next;
  },
});
await run.finished;
console.log(
  `the pause was set ${seen.length} times, never above ${SLOWEST_MS} ms: ${Math.max(...seen) <= SLOWEST_MS}`,
);
