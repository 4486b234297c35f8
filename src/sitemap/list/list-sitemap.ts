/**
 * `sumi sitemap` without the terminal: takes what the operator wrote (a host, a host with a path, a page, a sitemap),
 * opens the store for the hosts' clocks, and gives the entries while they are read, some at a time. They are kept where the
 * operator named a store; what was kept not long ago is given from there.
 */

import { guessedPaths } from '../../config/guessed-paths.ts';
import type { Config } from '../../config/load-config.ts';
import type { CrawlParts, StartUrl } from '../../crawl/parts.ts';
import { readStartUrls } from '../../crawl/run/prepare-run.ts';
import { wireNormalizer, wireParts } from '../../crawl/wire.ts';
import { createEventHub } from '../../events/event-hub.ts';
import type { EgressGuard } from '../../fetch/egress.ts';
import { systemClock } from '../../primitives/clock.ts';
import { newWorkerName } from '../../primitives/worker-name.ts';
import { openStore } from '../../store/open-store.ts';
import type { RunStore, Store } from '../../store/store-port.ts';
import type { Normalizer } from '../../url/normalize.ts';
import type { ListedEntry } from '../entry-words.ts';
import { findEntries, type SitemapReport } from '../find-entries.ts';
import { type EntryKeeper, openKeeper, type SearchEnd, type StoredListing } from './keep-entries.ts';
import { openPoliteWeb, type PoliteWeb } from './polite-web.ts';

const CACHE_KIB = 256;

export interface SitemapListener {
  onSitemap: (report: SitemapReport) => void;
  /** A host is another worker's for now. */
  onWait: (host: string) => void;
  /** The entries, or that there are none, are of the store, where they were put then. */
  onStored: (stored: StoredListing) => void;
}

export interface ListRequest {
  listener: SitemapListener;
  /** Aborted, it ends early, in good order. */
  signal: AbortSignal;
  /** An open store, for the hosts' clocks only: nothing is kept in it, and it stays open. */
  store?: Store;
  /** Judges what is connected to; absent: everything may be. */
  egress?: EgressGuard;
}

export async function* listSitemap(
  config: Config,
  text: string,
  { listener, signal, store: open, egress }: ListRequest,
): AsyncGenerator<ListedEntry[], void> {
  const normalizer = wireNormalizer(config);
  const [given] = readStartUrls([text], (url) => normalizer.normalize(url));
  const failures: unknown[] = [];
  const onFailure = (error: unknown) => void failures.push(error);
  const store =
    open ??
    (await openStore({
      address: config.storeAddress,
      clock: systemClock,
      onFailure,
      patienceMs: config.storePatience * 1000,
      // Entries are written one behind another, and hardly anything is read.
      cacheKib: CACHE_KIB,
    }));
  try {
    const owner = newWorkerName();
    const isKept = open === undefined && isStoreNamed(config);
    const keeper = isKept ? await openKeeper(config, { store, owner, normalizer }, given) : null;
    const wire = (session: RunStore) => wireSession(config, { session, normalizer, egress }, given);
    for await (const batch of list({
      ...{ config, given, owner, store, wire },
      ...{ keeper, listener, onFailure, signal },
    })) {
      if (failures.length > 0) throw failures[0];
      yield batch;
    }
  } finally {
    if (open === undefined) await store.close();
  }
}

/** By whatever source: the file that is only there by default is for the hosts' clocks. */
function isStoreNamed({ sources }: Config): boolean {
  return sources.db.from !== 'default' || sources.store.value !== null;
}

function wireSession(
  config: Config,
  { session, normalizer, egress }: { session: RunStore; normalizer: Normalizer; egress?: EgressGuard },
  given: StartUrl,
): CrawlParts {
  return wireParts({
    config,
    slots: undefined,
    startUrls: [given],
    extensions: { egress },
    clock: session.clock,
    store: session,
    bodies: null,
    events: createEventHub(session.clock),
    normalizer,
  });
}

interface Listing {
  config: Config;
  given: StartUrl;
  owner: string;
  store: Store;
  wire: (session: RunStore) => CrawlParts;
  keeper: EntryKeeper | null;
  listener: SitemapListener;
  onFailure: (error: unknown) => void;
  signal: AbortSignal;
}

async function* list(listing: Listing): AsyncGenerator<ListedEntry[], void> {
  const { config, keeper, listener, signal } = listing;
  let end: SearchEnd = 'enough';
  let open: OpenWeb | null = null;
  const stored = async (of: 'address' | 'site') =>
    config.fresh || keeper === null ? null : keeper.stored(of);
  try {
    let kept = await stored('address');
    if (kept === null) {
      open = await openWeb(listing);
      yield* search(listing, open.web, async () => {
        kept = await stored('site');
        return kept === null;
      });
      end = 'whole';
    }
    if (kept === null) return;
    listener.onStored(kept);
    if (kept.entries !== null) yield* kept.entries;
  } catch (error) {
    // Whatever waited was told to stop.
    if (!signal.aborted) throw error;
  } finally {
    if (signal.aborted) end = 'interrupted';
    await open?.close();
    await keeper?.end(end);
  }
}

interface OpenWeb {
  web: PoliteWeb;
  close(): Promise<void>;
}

/** Requests go to the log of the keeper's run; without a keeper there is no run, and only hosts are leased. */
async function openWeb(listing: Listing): Promise<OpenWeb> {
  const { config, owner, store, wire, keeper, listener, onFailure, signal } = listing;
  const session = (await keeper?.begin()) ?? (await store.withoutRun(owner));
  const parts = wire(session);
  const maxBytes = config.maxSitemapBytes;
  const isLogged = keeper !== null;
  const web = openPoliteWeb(parts, { maxBytes, isLogged, onWait: listener.onWait, onFailure, signal });
  return {
    web,
    async close() {
      parts.lag.stop();
      await parts.fetcher.close();
      await web.close();
      // The store may stay open; the keeper ends its own run.
      if (keeper === null) await session.leave();
    },
  };
}

async function* search(
  { config, given, keeper, listener, signal }: Listing,
  web: PoliteWeb,
  isSiteWanted: () => Promise<boolean>,
): AsyncGenerator<ListedEntry[], void> {
  const start = given.isBare ? await withScheme(new URL(given.fetchUrl), web) : given.fetchUrl;
  const found = findEntries(start, {
    web,
    paths: guessedPaths(config.sitemapPaths),
    maxBytes: config.maxSitemapBytes,
    isSiteWanted,
    onSitemap(report) {
      keeper?.note(report);
      if (!signal.aborted) listener.onSitemap(report);
    },
  });
  for await (const batch of found) {
    await keeper?.keep(batch);
    yield batch;
    signal.throwIfAborted();
  }
}

/** A bare host is requested by https, and by http where nobody speaks https. */
async function withScheme(url: URL, web: PoliteWeb): Promise<string> {
  if (await web.answers(url.href)) return url.href;
  const plain = url.href.replace(/^https:/, 'http:');
  return (await web.answers(plain)) ? plain : url.href;
}
