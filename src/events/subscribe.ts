/**
 * A subscription to a run's events, at any time. A failure of the subscriber never reaches the crawl: a subscriber that
 * throws is unsubscribed, the others get a `fault` event, and the subscription keeps the error.
 */
import { type SumiError, sumiError } from '../errors.ts';
import type { EventHub } from './event-hub.ts';
import type { CrawlEvent, EventListener, Topic } from './events.ts';

export interface Subscription {
  /** Why the subscription ended by itself; null while the subscriber has not thrown. */
  readonly failure: SumiError | null;
  unsubscribe(): void;
}

export function subscribe(
  events: Pick<EventHub, 'subscribe' | 'emit'>,
  listener: EventListener,
  topics?: readonly Topic[],
): Subscription {
  let failure: SumiError | null = null;
  const unsubscribe = events.subscribe((event) => {
    if (failure !== null) return;
    try {
      const answer: unknown = listener(event);
      // An asynchronous subscriber fails when its promise is rejected.
      if (answer instanceof Promise) answer.catch((error) => fail(event.type, error));
    } catch (error) {
      fail(event.type, error);
    }
  }, topics);

  function fail(event: CrawlEvent['type'], error: unknown): void {
    if (failure !== null) return;
    unsubscribe();
    const reason = error instanceof Error ? error.message : String(error);
    failure = sumiError('subscriber-failed', { event, reason }, error);
    const stack = error instanceof Error && error.stack !== undefined ? error.stack : reason;
    events.emit({ type: 'fault', page_id: null, url: '', reason: failure.message, stack });
  }

  return {
    get failure() {
      return failure;
    },
    unsubscribe,
  };
}
