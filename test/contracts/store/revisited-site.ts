/** A site of pages and links that is read, visited again in parts, and asked for its orphans. */

import { expect } from 'vitest';
import { findOrphans } from '../../../src/crawl/run/find-orphans.ts';
import type { Claim } from '../../../src/frontier/candidate.ts';
import type { Settlement } from '../../../src/store/settlement.ts';
import { beginRun, candidate, linksTo, nextRun, type OpenRun, type StoreHarness } from './harness.ts';

const DAY = 86_400_000;

type Found = Partial<Settlement> | ((claim: Claim) => Settlement);

export function revisitedSite(harness: () => StoreHarness) {
  const now = () => harness().clock.now();
  const named = (names: string[]) => linksTo(names.map((name) => candidate(name)));

  /** What each page links to, read in this order: `start` first, which is the start URL. */
  async function readSite(site: Record<string, string[]>): Promise<OpenRun> {
    const run = await beginRun(harness());
    const pages = Object.keys(site);
    await run.store.frontier.offer(pages.map((name) => candidate(name, { depth: name === 'start' ? 0 : 1 })));
    const held = await run.lease();
    for (const name of pages) await run.visit(held, named(site[name]));
    await run.store.frontier.release(held);
    return run;
  }

  /** A run in which only these pages are visited, with what is found then. */
  async function revisit(before: OpenRun, found: Record<string, Found>): Promise<OpenRun> {
    harness().clock.advance(DAY);
    const run = await nextRun(harness(), before, (name) => name in found);
    const held = await run.lease();
    for (const _ of Object.keys(found)) {
      const claim = await run.claim(held);
      const more = found[claim.url.split('/').pop()!];
      await run.settle(held, claim, typeof more === 'function' ? more(claim) : more);
    }
    await run.store.frontier.release(held);
    return run;
  }

  /** The names of the pages that this run's history calls orphans; the answer must be their number. */
  async function orphansOf(run: OpenRun, since = now()): Promise<string[]> {
    const count = await findOrphans(run.store.history, since, now());
    const rows = await harness().read(
      `SELECT p.url FROM visits v JOIN pages p ON p.id = v.page_id
       WHERE v.known_by = 'orphan' AND v.outcome = 'gone' AND v.run_id = ${run.start.runId} ORDER BY p.url`,
    );
    expect(rows).toHaveLength(count);
    return rows.map((row) => String(row.url).split('/').pop()!);
  }

  return { named, readSite, revisit, orphansOf };
}
