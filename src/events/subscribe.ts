/**
 * A subscription to a run's events, at any time. A failure of the subscriber never reaches the crawl: a subscriber that
 * throws is unsubscribed, the others get a `fault` event, and the subscription keeps the error.
 */
import { type SumiError, sumiError } from '../errors.ts';
import type { EventHub } from './event-hub.ts';
import type { EventListener, Topic } from './events.ts';

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
      listener(event);
    } catch (error) {
      unsubscribe();
      const reason = error instanceof Error ? error.message : String(error);
      failure = sumiError('subscriber-failed', { event: event.type, reason }, error);
      const stack = error instanceof Error && error.stack !== undefined ? error.stack : reason;
      events.emit({ type: 'fault', page_id: null, url: '', reason: failure.message, stack });
    }
  }, topics);
  return {
    get failure() {
      return failure;
    },
    unsubscribe,
  };
}
