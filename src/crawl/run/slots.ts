/**
 * How many requests may be open at once. One loop has them to itself; a worker on many runs lets its loops share them,
 * so that a run with much to do gets what the others leave.
 */
export interface Slots {
  readonly total: number;
  readonly free: number;
  take(): void;
  give(): void;
  /** Calls when a slot came free after there was none. The answer ends it. */
  onFree(listener: () => void): () => void;
}

export function createSlots(total: number): Slots {
  const listeners = new Set<() => void>();
  let free = total;
  return {
    total,
    get free() {
      return free;
    },
    take() {
      free--;
    },
    give() {
      free++;
      if (free === 1) for (const listener of listeners) listener();
    },
    onFree(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
}
