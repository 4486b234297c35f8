/** What the searches of one crawl for sitemaps share. */
import type { ReadingSitemap } from '../../events/events.ts';

import type { DiscoveryRecord } from './discovery-record.ts';
import type { FindingBatch } from './finding-batch.ts';
import type { SitemapSearch } from './sitemap-searches.ts';

/** What the start page of a site names. unread: not read here, but maybe elsewhere or earlier in the run. */
export type PageLinks = readonly string[] | 'unread' | 'unchanged';

export interface SearchState {
  isStopped: boolean;
  /** Something was not requested, since the run may request no more pages. */
  isCut: boolean;
}

/** What the searches for one host have found so far. */
export interface HostFindings {
  record: DiscoveryRecord;
  /** What is remembered of the host is all that the searches ask for. */
  isRemembered: boolean;
  /** The run has its pages: no more was requested. */
  isCut: boolean;
  /** Searches that were made, by what they asked for. */
  depths: Set<SitemapSearch['depth']>;
  /** Sitemaps that were read, by address. */
  read: Set<string>;
  /** Start URLs that may be sitemaps, while they are requested as pages. */
  reading: Map<string, Promise<void>>;
  /** What start pages name that were requested once more, by address. */
  links: Map<string, readonly string[]>;
  /** Not offered yet. */
  batch: FindingBatch;
}

/** The hosts that are to be searched, or are just now. */
export class HostSearches {
  readonly #searches = new Map<string, { ended: Promise<void>; end: () => void }>();
  /** The sitemap that is requested just now. */
  readonly reading = new Map<string, ReadingSitemap>();

  expect(host: string): void {
    let end = () => {};
    const ended = new Promise<void>((resolve) => {
      end = resolve;
    });
    this.#searches.set(host, { ended, end });
  }

  /** Resolves when the search of the host has ended; null when none is to come. */
  endOf(host: string): Promise<void> | null {
    return this.#searches.get(host)?.ended ?? null;
  }

  end(host: string): void {
    this.#searches.get(host)?.end();
    this.#searches.delete(host);
    this.reading.delete(host);
  }

  endAll(): void {
    for (const host of [...this.#searches.keys()]) this.end(host);
  }
}
