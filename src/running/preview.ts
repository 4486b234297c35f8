/**
 * A look at a site before it is crawled, with the store's one writer, for the clocks of hosts, and under the egress guard. It
 * takes 20 seconds at most, and a host gets one at a time: whoever asks for more waits for nobody, but is refused.
 */
import { sumiError } from '../errors.ts';
import { previewWebsite } from '../project/preview-website.ts';
import type { PreviewVerb } from './engine.ts';
import { type Planning, planPreview } from './plan-run.ts';
import type { Room } from './room.ts';

export interface PreviewSurroundings {
  room: Pick<Room, 'options' | 'store' | 'egress' | 'clock' | 'closing'>;
  env: Planning['env'];
}

const LONGEST_MS = 20_000;
const MOST_LINKS = 200;
const MOST_ENTRIES = 20_000;
/** Of all hosts. */
const MOST_AT_ONCE = 8;

/** Who looks wants to know soon: what does not answer is told, and not tried again. */
const LIMITS = { retries: 0, robotsRetries: 0, timeout: 10, maxSitemapBytes: 10 * 1024 * 1024 };

export function createPreviews({ room, env }: PreviewSurroundings): PreviewVerb {
  const { options, store, egress, clock, closing } = room;
  const underWay = new Set<string>();

  return async (websiteUrl, settings) => {
    const { hostname } = new URL(websiteUrl);
    if (underWay.has(hostname) || underWay.size >= MOST_AT_ONCE)
      throw sumiError('preview-busy', { host: hostname });
    underWay.add(hostname);
    const time = new AbortController();
    const cancel = clock.after(LONGEST_MS, () => time.abort());
    try {
      const config = await planPreview({ options, env }, settings, LIMITS);
      return await previewWebsite(config, websiteUrl, {
        ...{ store, egress, mostLinks: MOST_LINKS, mostEntries: MOST_ENTRIES },
        signal: AbortSignal.any([time.signal, closing]),
      });
    } finally {
      cancel();
      underWay.delete(hostname);
    }
  };
}
