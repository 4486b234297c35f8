/**
 * The pages that wait on a leased host, in memory: a window on the head of its queue. The lease makes it ours alone, so
 * that most claims ask the database nothing. What stands behind the window stays in the database and is loaded when the
 * window is empty.
 */
import type { LastVisit } from '../../frontier/candidate.ts';

/** A page in the queue: lower rank first, then the lower id. */
export interface WaitingPage {
  pageId: number;
  rank: number;
  priority: number;
  url: string;
  fetchUrl: string | null;
  depth: number;
  attempts: number;
  hops: number;
  last: LastVisit | null;
}

const FIRST_WINDOW = 32;
const LARGEST_WINDOW = 2048;
const GROWTH = 4;
/** A window should last about so long. */
const LASTS_MS = 20_000;

/** What a sitemap that was read at `seenAt` says of when a page was modified. */
export interface EntryDate {
  date: number | null;
  /** To the day at least, as it is written. */
  isDay: boolean;
  seenAt: number;
}

function newest(a: number | null, b: number | null): number | null {
  return a === null || b === null ? (a ?? b) : Math.max(a, b);
}

export class WaitingPages {
  #pages: WaitingPage[] = [];
  readonly #byId = new Map<number, WaitingPage>();
  #isLoaded = false;
  #loadedAt = Number.NEGATIVE_INFINITY;
  /** What was queued while the database was being asked, and not taken since: its answer may not know of it. */
  #arrived: Map<number, WaitingPage> | null = null;
  /** Pages that redirects lead to since the database is being asked: its answer may have them at their old place. */
  #hurried = new Map<number, { rank: number; hops: number }>();
  /** Dates of sitemaps that came since the database is being asked. */
  #dated = new Map<number, EntryDate>();
  /** Grows with use: a host that is asked once a second needs no thousand pages in memory, a fast one does. */
  #window = FIRST_WINDOW;
  /** Who waits for the next page to come into the window. */
  #arrival: { promise: Promise<void>; resolve: () => void } | null = null;
  /** Nothing waits behind the window, as far as is known. */
  isWhole = false;
  /** The earliest retry that waits in the database, as far as is known; Infinity for none. */
  nextRetryAt = Number.POSITIVE_INFINITY;

  get size(): number {
    return this.#pages.length;
  }

  /** How many pages to ask the database for. */
  get window(): number {
    return this.#window;
  }

  /** The host takes many at a time: it may have so many in memory. */
  widen(window: number): void {
    if (window > this.#window) this.#window = window;
  }

  /** The database is being asked. */
  expect(): void {
    this.#arrived = new Map();
    this.#hurried.clear();
    this.#dated.clear();
  }

  /** What the database answered; it was asked for one window from its queue's head. */
  load(pages: WaitingPage[], isWhole: boolean, nextRetryAt: number | null, now: number): void {
    for (const page of pages) this.#add(page);
    if (this.#isLoaded && !isWhole && now - this.#loadedAt < LASTS_MS)
      this.widen(Math.min(this.#window * GROWTH, LARGEST_WINDOW));
    this.#isLoaded = true;
    this.#loadedAt = now;
    this.isWhole = isWhole;
    // It may not know yet of one that was settled a moment ago.
    this.nextRetryAt = Math.min(this.nextRetryAt, nextRetryAt ?? Number.POSITIVE_INFINITY);
    const arrived = this.#arrived;
    this.#arrived = null;
    for (const page of arrived?.values() ?? []) this.queue(page);
    for (const [pageId, { rank, hops }] of this.#hurried) this.hurry(pageId, rank, hops);
    for (const [pageId, found] of this.#dated) this.date(pageId, found);
  }

  /** A page that was queued and is committed, or comes back: it is taken where it belongs before the window's end. */
  queue(page: WaitingPage): void {
    this.#arrived?.set(page.pageId, page);
    if (!this.#isLoaded) return;
    const last = this.#pages.at(-1);
    if (!this.isWhole && (last === undefined || comesBefore(last, page))) return;
    this.#add(page);
    if (this.#pages.length > 2 * this.#window) {
      for (const { pageId } of this.#pages.splice(this.#window)) this.#byId.delete(pageId);
      this.isWhole = false;
    }
  }

  /** Resolves with the next page that comes into the window. */
  arrival(): Promise<void> {
    if (this.#arrival === null) {
      let resolve = () => {};
      const promise = new Promise<void>((done) => {
        resolve = done;
      });
      this.#arrival = { promise, resolve };
    }
    return this.#arrival.promise;
  }

  take(count: number): WaitingPage[] {
    const taken = this.#pages.splice(0, count);
    for (const { pageId } of taken) {
      this.#byId.delete(pageId);
      this.#arrived?.delete(pageId);
    }
    return taken;
  }

  lower(pageId: number, depth: number): void {
    const page = this.#byId.get(pageId);
    if (page !== undefined) page.depth = Math.min(page.depth, depth);
  }

  /** A sitemap gives the page this date, or none: what was loaded of it may know that of an earlier look only. */
  date(pageId: number, found: EntryDate): void {
    const { isDay, seenAt } = found;
    if (this.#arrived !== null) {
      const earlier = this.#dated.get(pageId);
      const date = earlier?.seenAt === seenAt ? newest(earlier.date, found.date) : found.date;
      this.#dated.set(pageId, { date, isDay, seenAt });
    }
    const page = this.#byId.get(pageId);
    if (page === undefined || page.last === null) return;
    const isSameLook = page.last.sitemapSeenAt === seenAt;
    const sitemapDate = isSameLook ? newest(page.last.sitemapDate, found.date) : found.date;
    const sitemapSeenAt = isDay && sitemapDate !== null ? seenAt : null;
    page.last = { ...page.last, sitemapDate, sitemapSeenAt };
  }

  /** A redirect leads to the page: it is the host's next. False when it is not in the window. */
  hurry(pageId: number, rank: number, hops: number): boolean {
    if (this.#arrived !== null) this.#hurried.set(pageId, { rank, hops });
    if (!this.#byId.has(pageId)) return false;
    const at = this.#pages.findIndex((each) => each.pageId === pageId);
    const [page] = this.#pages.splice(at, 1);
    this.#byId.delete(pageId);
    this.#add({ ...page, rank, hops: Math.max(page.hops, hops) });
    return true;
  }

  /** Forgets everything: the database is asked next time. */
  clear(): void {
    this.#pages = [];
    this.#byId.clear();
    this.#isLoaded = false;
    this.isWhole = false;
    this.nextRetryAt = Number.POSITIVE_INFINITY;
  }

  #add(page: WaitingPage): void {
    if (this.#byId.has(page.pageId)) return;
    this.#byId.set(page.pageId, page);
    this.#arrival?.resolve();
    this.#arrival = null;
    const last = this.#pages.at(-1);
    if (last === undefined || comesBefore(last, page)) {
      this.#pages.push(page);
      return;
    }
    let low = 0;
    let high = this.#pages.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (comesBefore(this.#pages[middle], page)) low = middle + 1;
      else high = middle;
    }
    this.#pages.splice(low, 0, page);
  }
}

function comesBefore(a: WaitingPage, b: WaitingPage): boolean {
  return a.rank < b.rank || (a.rank === b.rank && a.pageId < b.pageId);
}
