/**
 * How late this process notices events: the overshoot of a short timer, decreasing slowly. A slow answer means a slow
 * site only if this process was not slow itself.
 */
import type { Clock } from './clock.ts';

const EVERY_MS = 50;
const FADING = 0.9;

export interface LoopLag {
  readonly lagMs: number;
  stop(): void;
}

export function watchLoopLag(clock: Clock): LoopLag {
  let lagMs = 0;
  let expectedAt = clock.monotonic() + EVERY_MS;
  let cancel = clock.after(EVERY_MS, beat);

  function beat(): void {
    const now = clock.monotonic();
    lagMs = Math.max(now - expectedAt, lagMs * FADING);
    expectedAt = now + EVERY_MS;
    cancel = clock.after(EVERY_MS, beat);
  }

  return {
    get lagMs() {
      return lagMs;
    },
    stop: () => cancel(),
  };
}
