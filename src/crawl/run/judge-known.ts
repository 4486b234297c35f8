/** A program's own word on the pages that a project knows, before a new run queues them again. */
import type { CrawlParts } from '../parts.ts';

/**
 * The known pages that are refused, and why. It reads them beside the session, in batches, and keeps only those that are
 * refused.
 */
export async function refusedPages(
  { urlJudge, openSide }: Pick<CrawlParts, 'urlJudge' | 'openSide'>,
  project: string,
): Promise<ReadonlyMap<number, string>> {
  const refused = new Map<number, string>();
  if (urlJudge === null) return refused;
  const side = await openSide();
  // Nothing is under way yet that could be given up.
  const { signal } = new AbortController();
  try {
    for await (const pages of side.graphPages({ project })) {
      const reasons = await urlJudge.refusalsOf(
        pages.map(({ url }) => url),
        signal,
      );
      for (const { id, url } of pages) {
        const reason = reasons.get(url);
        if (reason !== undefined) refused.set(id, reason);
      }
    }
  } finally {
    await side.close();
  }
  return refused;
}
