/** Many listeners on one subscription a project: each hears what it wants from the moment that it began to listen. */
import type { Engine, Listening } from './engine.ts';
import type { Heard } from './engine-messages.ts';
import type { LiveEvent } from './live-event.ts';

export interface Subscribing {
  /** From now on events of the number come to `hear`. */
  subscribe(listen: number, id: string | null, wanted: Listening): Promise<Heard>;
  unsubscribe(listen: number): void;
}

export interface SharedListening {
  listen: Engine['listen'];
  hear(listen: number, event: LiveEvent): void;
}

interface Subscriber {
  /** Null until it has been answered: what comes before that waits. */
  from: number | null;
  early: LiveEvent[];
  listener: (event: LiveEvent) => void;
}

/** One of a project (or of all), with or without pages. */
interface Shared {
  key: string;
  listen: number;
  subscribers: Set<Subscriber>;
  begun: Promise<Heard>;
}

export function createSharedListening({ subscribe, unsubscribe }: Subscribing): SharedListening {
  const byKey = new Map<string, Shared>();
  const byNumber = new Map<number, Shared>();
  let numbers = 0;

  function sharedOf(id: string | null, listening: Listening): Shared {
    const key = `${id ?? ''} ${listening.pages}`;
    const known = byKey.get(key);
    if (known !== undefined) return known;
    const listen = ++numbers;
    const begun = subscribe(listen, id, listening);
    const shared: Shared = { key, listen, subscribers: new Set(), begun };
    byKey.set(key, shared);
    byNumber.set(listen, shared);
    return shared;
  }

  function leave(shared: Shared, subscriber: Subscriber): void {
    if (!shared.subscribers.delete(subscriber) || shared.subscribers.size > 0) return;
    if (byKey.get(shared.key) === shared) byKey.delete(shared.key);
    byNumber.delete(shared.listen);
    unsubscribe(shared.listen);
  }

  return {
    async listen(id, listening, listener) {
      const shared = sharedOf(id, listening);
      const isFirst = shared.subscribers.size === 0;
      const subscriber: Subscriber = { from: null, early: [], listener };
      shared.subscribers.add(subscriber);
      let heard: Heard;
      try {
        heard = await shared.begun;
        // How it stands now, for who comes later.
        if (!isFirst) heard = await again(id, listening);
      } catch (error) {
        leave(shared, subscriber);
        throw error;
      }
      subscriber.from = heard.seq;
      for (const event of subscriber.early) if (event.seq > heard.seq || id === null) listener(event);
      subscriber.early = [];
      return { ...heard, end: () => leave(shared, subscriber) };
    },
    hear(listen, event) {
      const shared = byNumber.get(listen);
      if (shared === undefined) return;
      for (const { from, early, listener } of shared.subscribers)
        if (from === null) early.push(event);
        else listener(event);
    },
  };

  /** A second subscription, only to be answered: events come by the first. */
  async function again(id: string | null, listening: Listening): Promise<Heard> {
    const listen = ++numbers;
    const heard = await subscribe(listen, id, { ...listening, pages: false });
    unsubscribe(listen);
    return heard;
  }
}
