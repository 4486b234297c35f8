/**
 * Holds a crawl back to what is taken of it. Rows that wait keep the places of their requests: a crawl with eight places
 * has at most eight pages that were requested or are under way and that nobody has taken. A crawl that is held back keeps
 * its host: it is let go while somebody may wait for that, and its rows gather meanwhile.
 */
import type { Slots } from '../../crawl/run/slots.ts';

export interface RowQueue<Row> {
  readonly slots: Slots;
  add(row: Row): void;
  /** All rows that wait; null when there are no more. Throws what ended the crawl. */
  take(): Promise<Row[] | null>;
  /** So many rows have been used: as many requests may follow. */
  release(count: number): void;
  end(failure: { error: unknown } | null): void;
  /** Whether it goes on though nobody takes its rows. */
  letGo(isLetGo: boolean): void;
}

export function createRowQueue<Row>(total: number): RowQueue<Row> {
  const listeners = new Set<() => void>();
  let waiting: Row[] = [];
  let used = 0;
  let held = 0;
  /** Rows whose pages are just being settled: the row and the page have one place. */
  let settling = 0;
  let ended: { failure: { error: unknown } | null } | null = null;
  let wake = () => {};
  let isFree = false;
  const taken = () => used + (isFree ? 0 : held - Math.min(held, settling));
  const free = () => Math.max(0, total - taken());

  function change(apply: () => void): void {
    const before = free();
    apply();
    if (before === 0 && free() > 0) for (const listener of listeners) listener();
  }

  return {
    slots: {
      total,
      get free() {
        return free();
      },
      take() {
        used++;
      },
      give: () =>
        change(() => {
          used--;
          if (settling > 0) settling--;
        }),
      onFree(listener) {
        listeners.add(listener);
        return () => void listeners.delete(listener);
      },
    },
    add(row) {
      if (ended !== null) return;
      held++;
      settling++;
      waiting.push(row);
      wake();
    },
    async take() {
      while (waiting.length === 0 && ended === null)
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      if (waiting.length === 0) {
        const { failure } = ended!;
        if (failure !== null) throw failure.error;
        return null;
      }
      const rows = waiting;
      waiting = [];
      return rows;
    },
    release: (count) =>
      change(() => {
        held -= count;
      }),
    end(failure) {
      ended ??= { failure };
      wake();
    },
    letGo: (isLetGo) =>
      change(() => {
        isFree = isLetGo;
      }),
  };
}
