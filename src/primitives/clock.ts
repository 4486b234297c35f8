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
  // Asked for many times a page. The clock is the one behind performance.now(), which costs twice as much to ask.
  monotonic() {
    const [seconds, nanoseconds] = process.hrtime();
    return seconds * 1e3 + nanoseconds / 1e6;
  },
  after(delayMs, callback) {
    const timer = setTimeout(callback, delayMs);
    return () => clearTimeout(timer);
  },
};
