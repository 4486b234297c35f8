/**
 * Events as an async iterable, for `for await`. A reader hears the run event and everything from the moment it began
 * to read; it ends after the summary, or throws what ended the run. The crawl does not wait for readers: what one has
 * not read yet is kept in memory, so slow work belongs behind `on` or into the results.
 */
import type { CrawlEvent, RunEvent } from './events.ts';

export interface EventStream {
  push(event: CrawlEvent): void;
  end(): void;
  fail(error: unknown): void;
  /** `onRead` is called when a reader begins: from then on somebody hears of a failure. */
  read(onRead: () => void): AsyncIterable<CrawlEvent>;
}

interface Reader {
  waiting: CrawlEvent[];
  wake: () => void;
}

export function createEventStream(): EventStream {
  const readers = new Set<Reader>();
  let opening: RunEvent | null = null;
  let ending: { error: unknown } | 'done' | null = null;

  function wakeAll(): void {
    for (const reader of readers) reader.wake();
  }

  async function* follow(reader: Reader): AsyncGenerator<CrawlEvent> {
    try {
      for (;;) {
        const batch = reader.waiting;
        reader.waiting = [];
        yield* batch;
        if (reader.waiting.length > 0) continue;
        if (ending === 'done') return;
        if (ending !== null) throw ending.error;
        await new Promise<void>((resolve) => {
          reader.wake = resolve;
        });
      }
    } finally {
      readers.delete(reader);
    }
  }

  return {
    push(event) {
      if (event.type === 'run') opening = event;
      for (const reader of readers) reader.waiting.push(event);
      wakeAll();
    },
    end() {
      ending ??= 'done';
      wakeAll();
    },
    fail(error) {
      ending ??= { error };
      wakeAll();
    },
    read: (onRead) => ({
      [Symbol.asyncIterator]() {
        onRead();
        const reader: Reader = { waiting: opening === null ? [] : [opening], wake: () => {} };
        readers.add(reader);
        return follow(reader);
      },
    }),
  };
}
