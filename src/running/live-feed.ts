/**
 * What is heard of projects while they are crawled. Beginnings, ends, pauses and what hosts do are always told; progress at
 * most four times a second, and only while somebody listens; pages and changes at most ten times a second, and nothing at
 * all is made of them while nobody wants pages. A listener that throws is dropped, and reaches no crawl.
 */
import type { CrawlHandle } from '../crawl/run/crawl-handle.ts';
import type { CrawlEvent, PageEvent } from '../events/events.ts';
import type { Clock } from '../primitives/clock.ts';
import { pageUid } from '../primitives/page-uid.ts';
import type { ChangeEvent } from '../watch/watch-event.ts';
import { createLiveChannel, type LiveBody, type LiveChannel, type LiveListener } from './live-channel.ts';
import type { ChangeLive, LiveEvent } from './live-event.ts';
import type { Phase } from './phase.ts';

const PROGRESS_EVERY_MS = 250;
const PAGE_EVERY_MS = 100;
/** Projects whose last events are kept. */
const MOST_CHANNELS = 500;

export interface LiveSource {
  projectUid: string;
  run: number;
  handle: Pick<CrawlHandle, 'subscribe'>;
  /** Everything is new in it, and no change. */
  isInitial: boolean;
  phase(): Phase;
}

export interface LiveFeed {
  tell(projectUid: string, body: LiveBody): void;
  /** From now on the run is followed, until the answer is called. */
  follow(source: LiveSource): () => void;
  /** Tells how it stands now, out of turn. */
  tellProgress(projectUid: string, run: number | null, phase: Phase): void;
  tellChanges(projectUid: string, changes: readonly ChangeEvent[]): void;
  wantsPages(projectUid: string): boolean;
  /** Projects that somebody listens to. */
  heard(): string[];
  listen(projectUid: string | null, pages: boolean, listener: LiveListener): { seq: number; end: () => void };
  missed(projectUid: string, afterSeq: number): LiveEvent[] | null;
}

interface Followed {
  /** Somebody began or ceased to listen. */
  adjust(): void;
  end(): void;
  addChange(change: ToldChange): void;
}

export function createLiveFeed(clock: Clock, report: (error: unknown) => void): LiveFeed {
  const channels = new Map<string, LiveChannel>();
  const followed = new Map<string, Followed>();
  const ofAll: LiveChannel['listeners'] = new Map();

  function channelOf(projectUid: string): LiveChannel {
    const known = channels.get(projectUid);
    if (known !== undefined) return known;
    const made = createLiveChannel(projectUid, clock.now());
    channels.set(projectUid, made);
    if (channels.size > MOST_CHANNELS) forgetOne();
    return made;
  }

  /** The oldest that nobody listens to. */
  function forgetOne(): void {
    for (const [uid, { listeners }] of channels)
      if (listeners.size === 0 && !followed.has(uid)) return void channels.delete(uid);
  }

  const tell = (projectUid: string, body: LiveBody) =>
    channelOf(projectUid).tell(body, clock.now(), ofAll.values());
  const isHeard = (projectUid: string) =>
    ofAll.size > 0 || (channels.get(projectUid)?.listeners.size ?? 0) > 0;
  function wantsPages(projectUid: string): boolean {
    const own = channels.get(projectUid)?.listeners.values() ?? [];
    for (const list of [own, ofAll.values()]) for (const { pages } of list) if (pages) return true;
    return false;
  }

  function follow(source: LiveSource): () => void {
    const { projectUid } = source;
    const made = followRun(source, {
      clock,
      tell: (body) => tell(projectUid, body),
      isHeard: () => isHeard(projectUid),
      wantsPages: () => wantsPages(projectUid),
    });
    followed.set(projectUid, made);
    made.adjust();
    return () => {
      made.end();
      if (followed.get(projectUid) === made) followed.delete(projectUid);
    };
  }

  function adjust(projectUid: string | null): void {
    if (projectUid === null) for (const run of followed.values()) run.adjust();
    else followed.get(projectUid)?.adjust();
  }

  return {
    tell,
    follow,
    wantsPages,
    heard: () =>
      [...channels.values()].flatMap(({ projectUid, listeners }) => (listeners.size > 0 ? [projectUid] : [])),
    tellProgress(projectUid, run, phase) {
      tell(projectUid, { type: 'progress', run, phase });
    },
    tellChanges(projectUid, changes) {
      const run = followed.get(projectUid);
      if (!wantsPages(projectUid)) return;
      for (const change of changes) {
        const { url, outcome, known_by, status_code, title } = change;
        const page = Number(change.id.slice(change.id.indexOf('-') + 1));
        const told = { url, outcome, known_by, status_code, title };
        if (run !== undefined) run.addChange({ ...told, page });
        else {
          const page_id = pageUid(projectUid, page);
          tell(projectUid, { type: 'change', run: change.run, change: { ...told, page_id }, left_out: 0 });
        }
      }
    },
    listen(projectUid, pages, listener) {
      const mark = Symbol(projectUid ?? 'all');
      const channel = projectUid === null ? null : channelOf(projectUid);
      const listeners = channel?.listeners ?? ofAll;
      const end = () => {
        listeners.delete(mark);
        adjust(projectUid);
      };
      const guarded = (event: LiveEvent) => {
        try {
          listener(event);
        } catch (error) {
          end();
          report(error);
        }
      };
      listeners.set(mark, { pages, listener: guarded });
      adjust(projectUid);
      return { seq: channel?.seq ?? 0, end };
    },
    missed: (projectUid, afterSeq) => channels.get(projectUid)?.after(afterSeq) ?? null,
  };
}

interface Surroundings {
  clock: Clock;
  tell(body: LiveBody): void;
  isHeard(): boolean;
  wantsPages(): boolean;
}

/** The newest of what came since the last time, at most so often. */
function createThrottle<Item>(clock: Clock, tell: (newest: Item, leftOut: number) => void) {
  let newest: Item | null = null;
  let count = 0;
  let cancel: (() => void) | null = null;
  const flush = () => {
    cancel = null;
    if (newest === null) return;
    const [item, leftOut] = [newest, count - 1];
    newest = null;
    count = 0;
    cancel = clock.after(PAGE_EVERY_MS, flush);
    tell(item, leftOut);
  };
  return {
    add(item: Item): void {
      newest = item;
      count++;
      // The first one goes at once.
      if (cancel === null) flush();
    },
    /** Nobody is there for what is left. */
    drop(): void {
      newest = null;
      count = 0;
      cancel?.();
      cancel = null;
    },
    /** What is left goes now. */
    finish(): void {
      cancel?.();
      flush();
      cancel?.();
      cancel = null;
    },
  };
}

const CHANGES: ReadonlySet<PageEvent['outcome']> = new Set(['new', 'changed', 'gone']);

/** With the store's number of the page: ids are made for what is told only. */
type ToldChange = Omit<ChangeLive['change'], 'page_id'> & { page: number };

function followRun(source: LiveSource, { clock, tell, isHeard, wantsPages }: Surroundings): Followed {
  const { projectUid, run, handle } = source;
  const pages = createThrottle<PageEvent>(clock, (event, left_out) => {
    const { type, run: _run, project: _project, time: _time, page_id, ...page } = event;
    tell({ type, run, page: { ...page, id: pageUid(projectUid, page_id) }, left_out });
  });
  const changes = createThrottle<ToldChange>(clock, ({ page, ...change }, left_out) => {
    tell({ type: 'change', run, change: { ...change, page_id: pageUid(projectUid, page) }, left_out });
  });
  const hosts = handle.subscribe(onHost, ['host']);
  let pageEvents: { unsubscribe(): void } | null = null;
  let cancelTick: (() => void) | null = null;
  let told = '';

  function onHost(event: CrawlEvent): void {
    if (event.type !== 'host') return;
    const { host, what, detail, until } = event;
    tell({ type: 'host', run, host: { host, what, detail, until } });
  }

  function onPage(event: CrawlEvent): void {
    if (event.type !== 'page') return;
    pages.add(event);
    if (source.isInitial || !isChange(event)) return;
    const { url, outcome, known_by, status_code, title, page_id: page } = event;
    changes.add({ url, outcome, known_by, status_code, title, page } as ToldChange);
  }

  function tick(): void {
    cancelTick = clock.after(PROGRESS_EVERY_MS, tick);
    const phase = source.phase();
    const { seconds_left: _, ...rest } = phase;
    const now = JSON.stringify(rest);
    if (now === told) return;
    told = now;
    tell({ type: 'progress', run, phase });
  }

  return {
    adjust() {
      if (wantsPages()) pageEvents ??= handle.subscribe(onPage, ['page']);
      else if (pageEvents !== null) {
        pageEvents.unsubscribe();
        pageEvents = null;
        pages.drop();
        changes.drop();
      }
      if (isHeard()) cancelTick ??= clock.after(PROGRESS_EVERY_MS, tick);
      else {
        cancelTick?.();
        cancelTick = null;
      }
    },
    addChange: (change) => changes.add(change),
    end() {
      hosts.unsubscribe();
      pageEvents?.unsubscribe();
      cancelTick?.();
      pages.finish();
      changes.finish();
    },
  };
}

/** What a run has read anew without a difference is no change. */
function isChange({ outcome, change_detected }: PageEvent): boolean {
  return CHANGES.has(outcome) && (outcome !== 'changed' || change_detected);
}
