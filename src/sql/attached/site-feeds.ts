/**
 * The main thread's part of attached stores: rows of PostgreSQL, whose driver needs a loop that turns. Each feed has a read
 * side of its own, which is closed when the feed ends, so that nothing is left when nobody asks.
 */

import { storeLabel } from '../../primitives/store-address.ts';
import { requireProject } from '../../project/reading.ts';
import { openReadSide } from '../../store/open-store.ts';
import type { SiteAddress, SiteQuestion } from './site-source.ts';

/** Makers by kind, for serveFeeds. */
export function siteFeeds() {
  return {
    /** Says what is wrong with the store or the project, if anything is. */
    async *'site-check'({ address, project }: SiteAddress): AsyncGenerator<unknown[]> {
      const side = await openReadSide(address);
      try {
        if (project === null) await side.projects();
        else await requireProject(side, project, storeLabel(address));
        yield [project];
      } finally {
        await side.close();
      }
    },
    async *'site-columns'(
      { address, project, question }: SiteAddress & { question: SiteQuestion },
      signal: AbortSignal,
    ): AsyncGenerator<unknown[]> {
      const side = await openReadSide(address);
      try {
        for await (const batch of side.until(signal).columns({ ...question, project })) yield [batch];
      } finally {
        await side.close();
      }
    },
  };
}
