/**
 * How late this process hears of things: the overshoot of a short timer, falling off slowly. A slow answer is only a
 * slow site when we were not the slow ones.
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
