/** A page of which everything is known that can be, and the run that read it. */
import { beginRun, candidate, facts, linksTo, type OpenRun, type StoreHarness, url } from './harness.ts';

export const HASH = Uint8Array.from({ length: 32 }, (_, i) => i);
export const TEXT_HASH = Uint8Array.from({ length: 32 }, (_, i) => 255 - i);

export const READ = facts({
  title: 'title',
  h1: 'head',
  description: 'about',
  canonical: url('c'),
  noindex: true,
  robotsOther: 'noarchive',
  xRobotsTag: 'noarchive',
  contentHash: HASH,
  textHash: TEXT_HASH,
  facetHash: HASH,
  simhash: -5n,
  structuredData: '{"@type":"Thing"}\n{}',
  wireBytes: 777,
  etag: '"1"',
  lastModified: 'then',
  cacheControl: 'max-age=5',
  bodyKey: 'key',
});

/** A first run that read one page with one link and a text. */
export async function readOnce(harness: StoreHarness): Promise<OpenRun> {
  const run = await beginRun(harness);
  await run.store.frontier.offer([candidate('x')]);
  const held = await run.lease();
  await run.visit(held, {
    facts: READ,
    text: new TextEncoder().encode('the old text'),
    ...linksTo([candidate('y'), candidate('z', { host: 'b.test' })]),
    changeFrequency: 0.25,
    changesDetected: 1,
  });
  await run.store.frontier.release(held);
  return run;
}
