/** Time is passed in, so that tests run on a fake clock and never sleep. */
export interface Clock {
  /** Wall time in milliseconds since 1970, for what is stored or compared with the outside. */
  now(): number;
  /** Monotonic milliseconds, for leases, slots and durations. Never goes back. */
  monotonic(): number;
  /** Calls back once after `delayMs`; the returned function cancels it. */
  after(delayMs: number, callback: () => void): () => void;
}

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  after(delayMs, callback) {
    const timer = setTimeout(callback, delayMs);
    return () => clearTimeout(timer);
  },
};
