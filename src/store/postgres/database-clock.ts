/**
 * The database's time, told by the worker's monotonic clock: whatever the worker's own wall clock says or jumps to, all
 * workers count leases, slots and blocks alike. Set when the store is opened and again with every heartbeat, because
 * two clocks drift.
 */
import type { Clock } from '../../primitives/clock.ts';

export interface DatabaseClock extends Clock {
  /** By how much the time may be wrong now. */
  readonly errorMs: number;
  /** What is added to the monotonic time: it moves when the time is set. */
  readonly offset: number;
  /**
   * `askedAt` is the monotonic time at which the question left; the answer is taken to be from half-way. One that took
   * long says little: it only counts where it proves the time wrong, or nothing better is known. Answers by how much
   * the time may be wrong now.
   */
  set(databaseTime: number, askedAt: number): number;
}

/** Two clocks may drift apart by so much of the time that passes. */
const DRIFT = 1 / 2000;

export function createDatabaseClock(clock: Clock): DatabaseClock {
  let offset = clock.now() - clock.monotonic();
  let errorMs = Number.POSITIVE_INFINITY;
  let setAt = clock.monotonic();
  const errorNow = (monotonic: number) => errorMs + DRIFT * (monotonic - setAt);
  return {
    get errorMs() {
      return errorNow(clock.monotonic());
    },
    get offset() {
      return offset;
    },
    now: () => clock.monotonic() + offset,
    monotonic: () => clock.monotonic(),
    after: (delayMs, callback) => clock.after(delayMs, callback),
    set(databaseTime, askedAt) {
      const now = clock.monotonic();
      const heard = databaseTime - (askedAt + now) / 2;
      const heardError = (now - askedAt) / 2;
      errorMs = errorNow(now);
      setAt = now;
      if (heardError <= errorMs || Math.abs(heard - offset) > heardError + errorMs) {
        offset = heard;
        errorMs = heardError;
      }
      return errorMs;
    },
  };
}
