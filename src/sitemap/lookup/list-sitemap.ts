/**
 * `sumi sitemap` without the terminal: takes what the operator wrote (a host, a host with a path, a page, a sitemap),
 * opens the store for the hosts' clocks, and gives the entries one by one while they are read. It keeps none of them.
 */
import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import type { Config } from '../../config/load-config.ts';
import { readStartUrl } from '../../config/start-url.ts';
import { wireNormalizer, wireParts } from '../../crawl/wire.ts';
import { systemClock } from '../../primitives/clock.ts';
import { createReport } from '../../report/report.ts';
import { openStore } from '../../store/open-store.ts';
import { type FoundEntry, findEntries, type SitemapReport } from '../find-entries.ts';
import { openPoliteWeb, type PoliteWeb } from './polite-web.ts';

export interface SitemapListener {
  onSitemap: (report: SitemapReport) => void;
  /** A host is another worker's for now. */
  onWait: (host: string) => void;
}

export async function* listSitemap(
  config: Config,
  text: string,
  listener: SitemapListener,
): AsyncGenerator<FoundEntry, void> {
  const given = readAddress(text);
  const failures: unknown[] = [];
  const onFailure = (error: unknown) => void failures.push(error);
  const store = await openStore({
    address: config.storeAddress,
    clock: systemClock,
    onFailure,
    patienceMs: config.storePatience * 1000,
  });
  const parts = wireParts({
    config,
    owner: `${hostname()}:${process.pid}:${randomBytes(4).toString('hex')}`,
    slots: undefined,
    startUrls: [],
    extensions: {},
    clock: store.clock,
    store,
    storeAddress: null,
    bodies: null,
    report: createReport(),
    normalizer: wireNormalizer(config),
  });
  const web = openPoliteWeb(parts, { maxBytes: config.maxSitemapBytes, onWait: listener.onWait, onFailure });
  try {
    const start = given.isSchemeKnown ? given.url : await withScheme(given.url, web);
    const options = { web, paths: config.sitemapPaths, maxBytes: config.maxSitemapBytes, ...listener };
    for await (const found of findEntries(start.href, options)) {
      if (failures.length > 0) throw failures[0];
      yield found;
    }
  } finally {
    parts.lag.stop();
    await parts.fetcher.close();
    await web.close();
    await store.close();
  }
}

function readAddress(text: string): { url: URL; isSchemeKnown: boolean } {
  const isBare =
    /^[^\s/?#:@]+\.?[^\s/?#:@]*(?::\d+)?(?:[/?#]|$)/.test(text) && !/^[a-z][a-z\d+.-]*:(?!\d)/i.test(text);
  return { url: readStartUrl(isBare ? `https://${text}` : text), isSchemeKnown: !isBare };
}

/** A bare host is asked by https, and by http where nobody speaks https. */
async function withScheme(url: URL, web: PoliteWeb): Promise<URL> {
  if (await web.answers(url.origin)) return url;
  const plain = new URL(url.href.replace(/^https:/, 'http:'));
  return (await web.answers(plain.origin)) ? plain : url;
}
