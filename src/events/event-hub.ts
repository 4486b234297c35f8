/**
 * Step 10: the event hub counts what happens in a run and emits typed events to its listeners. Counting is always on and
 * cheap. A page event is made only while somebody listens to pages.
 */
import { ERROR_STATES } from '../frontier/counting-words.ts';
import type { PageState } from '../frontier/page-state.ts';
import type { CrawlEvent, EventListener, HostEvent, LinkListener, PageEvent, ToldLink } from './events.ts';

export interface Counters {
  /** Pages with a final answer, earlier parts of the run included. */
  pages: number;
  requests: number;
  bytes: number;
  /** Broken and rate-limited URLs (docs/words.md) since this process began. */
  errors: number;
  /** Pages that were answered, or refused by a robots.txt that was, since this process began. */
  answers: number;
  /** Pages settled since this process began. */
  readonly states: Map<PageState, number>;
  /** Requests made since this process began: by class of status (2xx) or kind of failure. */
  readonly outcomes: Map<string, OutcomeCount>;
}

export interface OutcomeCount {
  requests: number;
  bytes: number;
}

export interface EventHub {
  readonly counters: Counters;
  /** True when page events have a listener. */
  readonly wantsPages: boolean;
  /** True when somebody wants every link by its URL, which the crawl itself never makes. */
  readonly wantsLinks: boolean;
  /** To everything, or to everything but pages. */
  listen(listener: EventListener, wantsPages?: boolean): void;
  listenToLinks(listener: LinkListener): void;
  emit(event: CrawlEvent): void;
  links(from: string, links: readonly ToldLink[]): void;
  page(event: PageEvent): void;
  host(event: Omit<HostEvent, 'type'>): void;
  count(state: PageState): void;
  /** One request is over; status 0 when there was no answer. */
  request(statusCode: number, failure: string | null, bytes: number): void;
}

const IS_ERROR: ReadonlySet<PageState> = new Set(ERROR_STATES);

const STATUS_CLASSES = ['other', '1xx', '2xx', '3xx', '4xx', '5xx'];

export function createEventHub(): EventHub {
  const listeners: EventListener[] = [];
  const pageListeners: EventListener[] = [];
  const linkListeners: LinkListener[] = [];
  const counters: Counters = {
    pages: 0,
    requests: 0,
    bytes: 0,
    errors: 0,
    answers: 0,
    states: new Map(),
    outcomes: new Map(),
  };
  const emit = (event: CrawlEvent) => {
    for (const listener of listeners) listener(event);
  };
  return {
    counters,
    get wantsPages() {
      return pageListeners.length > 0;
    },
    get wantsLinks() {
      return linkListeners.length > 0;
    },
    listen(listener, wantsPages = true) {
      listeners.push(listener);
      if (wantsPages) pageListeners.push(listener);
    },
    listenToLinks: (listener) => void linkListeners.push(listener),
    emit,
    links(from, links) {
      for (const listener of linkListeners) listener(from, links);
    },
    page(event) {
      for (const listener of pageListeners) listener(event);
    },
    host: (event) => emit({ type: 'host', ...event }),
    count(state) {
      if (IS_ERROR.has(state)) counters.errors++;
      counters.states.set(state, (counters.states.get(state) ?? 0) + 1);
    },
    request(statusCode, failure, bytes) {
      counters.requests++;
      counters.bytes += bytes;
      const outcome = failure ?? STATUS_CLASSES[Math.floor(statusCode / 100)] ?? 'other';
      const count = counters.outcomes.get(outcome) ?? { requests: 0, bytes: 0 };
      if (count.requests === 0) counters.outcomes.set(outcome, count);
      count.requests++;
      count.bytes += bytes;
    },
  };
}
