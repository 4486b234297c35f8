// A scope rule decides what happens to a URL. A priority decides which page comes first. Both are plain functions.
// Run it: npx tsx examples/02-scope-and-priority.ts https://example.com/
import { crawl, type ScopeRule } from 'sumi-ripple';

const start = process.argv[2] ?? 'https://example.com/';

// Null leaves the decision to the next rules. A verdict needs a reason: `sumi why URL` shows it to whoever asks later
// why a page is missing. `fetchUrl` is the URL that would be requested. `url` is the page's identity, which may lack
// a trailing slash.
const noLetters: ScopeRule = ({ fetchUrl }) =>
  new URL(fetchUrl).pathname.startsWith('/letters/')
    ? { state: 'Skipped', priority: 0, reason: 'scope: letters are private' }
    : null;

const run = await crawl({
  startUrls: [start],
  db: 'scope.db',
  maxPages: 20,
  concurrency: 1, // one page at a time, only to show the order
  scopeRules: [noLetters],
  // Pages near the top of the site first. Lower numbers come first, equal numbers in the order of discovery.
  priority: ({ fetchUrl }) => new URL(fetchUrl).pathname.split('/').filter(Boolean).length,
  on: { page: ({ url }) => console.log(new URL(url).pathname) },
});
const { by_state } = await run.finished;
console.log(`skipped: ${by_state.Skipped ?? 0}`);
