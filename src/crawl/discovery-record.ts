/** What is remembered of a host when only sitemaps that were given have been read, not those of its site looked for. */
import type { HostDiscovery } from '../store/port.ts';

const MOST_NAMED = 100;

/**
 * Beside sitemaps that are known and were not read this time, those given are an addition: the time stays that of the
 * look at all of them, or else what only the others name would count as vanished.
 */
export function withKnown(known: HostDiscovery | null, found: HostDiscovery): HostDiscovery {
  const others = known?.sitemaps.filter((url) => !found.sitemaps.includes(url)) ?? [];
  if (known === null || others.length === 0) return found;
  const isNews = found.sitemaps.some((url) => !known.sitemaps.includes(url));
  return {
    method: 'sitemap',
    checkedAt: known.checkedAt,
    entries: known.entries + (isNews ? found.entries : 0),
    sitemaps: [...found.sitemaps, ...others].slice(0, MOST_NAMED),
  };
}
