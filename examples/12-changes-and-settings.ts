// Options that a project keeps, a second crawl that obeys them, and what changed between the two.
// Run it: npx tsx examples/12-changes-and-settings.ts https://example.com/
import { changes, crawl, keepSettings, openReading, readKeptSettings, writeChanges } from 'sumi-ripple';

const start = process.argv[2] ?? 'https://example.com/';
const request = { startUrls: [start], db: 'settings.db', project: 'kept' };
await (await crawl({ ...request, maxPages: 5 })).finished;

// Kept with the project: later crawls and watches of it need no options. Each is checked before anything is written.
await keepSettings({ storeAddress: request.db }, 'kept', { set: ['max-pages=12', 'mode=full'], unset: [] });
const { pages } = await (await crawl(request)).finished;

const reading = await openReading(request.db, 'kept');
const [{ settings }] = await readKeptSettings(reading);
console.log(`kept: ${JSON.stringify(settings)}; the second crawl visited ${pages} pages`);

// The last run unless said: also since a run, since a time, or since a reader last looked.
const found = await changes(reading, { limit: 3 });
for await (const { outcome, url } of found.rows()) console.log(`${outcome} ${new URL(url).pathname}`);
await writeChanges(await changes(reading, { limit: 1 }), 'csv', process.stdout);
await reading.close();
