/**
 * Events as an async iterable, for `for await`. A reader gets the run event, and all events of its topics from the
 * moment when it began to read. The iterable ends after the summary, or throws the error that ended the run.
 *
 * The crawl does not wait for readers. Unread events are kept in memory, up to a limit. Events beyond it are dropped
 * and counted, and one `dropped` event takes their place. Events of the topic `run` are few and never dropped.
 */
import {
  type CrawlEvent,
  type DroppedEvent,
  type EventListener,
  type RunEvent,
  TOPIC_OF,
  TOPICS,
  type Topic,
} from './events.ts';

const MOST_WAITING = 10_000;

export interface ReadOptions {
  /** Default: all topics. */
  topics?: readonly Topic[];
  /** How many events may wait for the reader. */
  mostWaiting?: number;
}

export interface EventStreamOptions {
  /** Called when somebody begins to read. The returned function is called when nobody reads these topics any more. */
  subscribe(listener: EventListener, topics: readonly Topic[]): () => void;
  /** From then on, somebody receives a failure. */
  onRead(): void;
}

export interface EventStream {
  /** For readers that begin later. */
  opened(event: RunEvent): void;
  end(): void;
  fail(error: unknown): void;
  read(options?: ReadOptions): AsyncIterable<CrawlEvent>;
}

interface Reader {
  waiting: CrawlEvent[];
  dropped: DroppedEvent | null;
  hasLeft: boolean;
  wake: () => void;
}

export function createEventStream({ subscribe, onRead }: EventStreamOptions): EventStream {
  const readers = new Set<Reader>();
  let opening: RunEvent | null = null;
  let ending: { error: unknown } | 'done' | null = null;

  function wakeAll(): void {
    for (const reader of readers) reader.wake();
  }

  function push(reader: Reader, event: CrawlEvent, most: number): void {
    if (reader.waiting.length >= most && TOPIC_OF[event.type] !== 'run') {
      const { run, project, time } = event;
      if (reader.dropped === null) {
        reader.dropped = { type: 'dropped', events: 0, run, project, time };
        reader.waiting.push(reader.dropped);
      }
      reader.dropped.events++;
      return;
    }
    reader.waiting.push(event);
    reader.wake();
  }

  async function* follow(reader: Reader, leave: () => void): AsyncGenerator<CrawlEvent> {
    try {
      while (!reader.hasLeft) {
        const batch = reader.waiting;
        reader.waiting = [];
        reader.dropped = null;
        yield* batch;
        if (reader.waiting.length > 0) continue;
        if (ending === 'done') return;
        if (ending !== null) throw ending.error;
        await new Promise<void>((resolve) => {
          reader.wake = resolve;
        });
      }
    } finally {
      leave();
    }
  }

  return {
    opened(event) {
      opening = event;
    },
    end() {
      ending ??= 'done';
      wakeAll();
    },
    fail(error) {
      ending ??= { error };
      wakeAll();
    },
    read: ({ topics = TOPICS, mostWaiting = MOST_WAITING } = {}) => ({
      [Symbol.asyncIterator]() {
        onRead();
        const first = opening !== null && topics.includes('run') ? [opening] : [];
        const reader: Reader = { waiting: first, dropped: null, hasLeft: false, wake: () => {} };
        const unsubscribe = subscribe((event) => push(reader, event, mostWaiting), topics);
        readers.add(reader);
        const leave = () => {
          reader.hasLeft = true;
          unsubscribe();
          readers.delete(reader);
        };
        const events = follow(reader, leave);
        const end = events.return.bind(events);
        // A generator that nobody has asked yet, or that waits for an event, would not hear of it.
        events.return = (value) => {
          leave();
          reader.wake();
          return end(value);
        };
        return events;
      },
    }),
  };
}
