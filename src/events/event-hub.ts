/**
 * Step 10: the event hub counts what happens in a run and emits typed events to its listeners. Counting is always on and
 * cheap. A page event is made only while somebody listens to pages.
 */
import { sumiError } from '../errors.ts';
import { ERROR_STATES } from '../frontier/counting-words.ts';
import type { PageState } from '../frontier/page-state.ts';
import type { Clock } from '../primitives/clock.ts';
import {
  type CrawlEvent,
  type EventBody,
  type EventListener,
  type EventStamp,
  type HostEvent,
  type LinkListener,
  TOPIC_OF,
  TOPICS,
  type ToldLink,
  type Topic,
} from './events.ts';

export interface Counters {
  /** Pages with a final answer, earlier parts of the run included. */
  pages: number;
  requests: number;
  bytes: number;
  /** Broken and rate-limited URLs (docs/words.md) since this process began. */
  errors: number;
  /** Pages that were answered, or that an answered robots.txt forbids, since this process began. */
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
  /** True if page events have a listener. */
  readonly wantsPages: boolean;
  /** True if somebody wants every link with its URL, which the crawl itself never makes. */
  readonly wantsLinks: boolean;
  /** Sets the run of the events from now on. */
  ofRun(run: number, project: string): void;
  /** Subscribes to these topics, at any time. The returned function ends the subscription. */
  subscribe(listener: EventListener, topics?: readonly Topic[]): () => void;
  listenToLinks(listener: LinkListener): void;
  emit(event: EventBody): void;
  /** The event as `emit` would make it, for callers that also store it; `tell` passes it on. */
  stamp<Body extends EventBody>(body: Body): Body & EventStamp;
  tell(event: CrawlEvent): void;
  links(from: string, links: readonly ToldLink[]): void;
  host(event: Omit<HostEvent, 'type' | keyof EventStamp>): void;
  count(state: PageState): void;
  /** One request is over; status 0 without an answer. */
  request(statusCode: number, failure: string | null, bytes: number): void;
}

const IS_ERROR: ReadonlySet<PageState> = new Set(ERROR_STATES);

const STATUS_CLASSES = ['other', '1xx', '2xx', '3xx', '4xx', '5xx'];

export function createEventHub(clock: Pick<Clock, 'now'>): EventHub {
  const listeners: Readonly<Record<Topic, Set<EventListener>>> = {
    run: new Set(),
    page: new Set(),
    host: new Set(),
    progress: new Set(),
  };
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
  let [run, project] = [0, ''];

  const stamp = <Body extends EventBody>(body: Body): Body & EventStamp => ({
    ...body,
    run,
    project,
    time: new Date(clock.now()).toISOString(),
  });

  function tell(event: CrawlEvent): void {
    for (const listener of listeners[TOPIC_OF[event.type]]) listener(event);
  }

  function emit(body: EventBody): void {
    if (listeners[TOPIC_OF[body.type]].size > 0) tell(stamp(body) as CrawlEvent);
  }

  return {
    counters,
    get wantsPages() {
      return listeners.page.size > 0;
    },
    get wantsLinks() {
      return linkListeners.length > 0;
    },
    ofRun(id, name) {
      [run, project] = [id, name];
    },
    subscribe(listener, topics = TOPICS) {
      const unknown = topics.find((topic) => !TOPICS.includes(topic));
      if (unknown !== undefined)
        throw sumiError('unknown-topic', { topic: unknown, known: TOPICS.join(', ') });
      // Each subscription has a function of its own: the same listener may subscribe twice.
      const heard: EventListener = (event) => listener(event);
      for (const topic of topics) listeners[topic].add(heard);
      return () => {
        for (const topic of topics) listeners[topic].delete(heard);
      };
    },
    listenToLinks: (listener) => void linkListeners.push(listener),
    emit,
    stamp,
    tell,
    links(from, links) {
      for (const listener of linkListeners) listener(from, links);
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
