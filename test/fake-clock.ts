/** A clock that stands still until it is told to go on: timers run in the order of their times, nothing sleeps. */
import type { Clock } from '../src/primitives/clock.ts';
import { MinHeap } from '../src/primitives/min-heap.ts';

interface Timer {
  at: number;
  callback: () => void;
  isCancelled: boolean;
}

/** More timers than this in one instant are a loop. */
const MAX_AT_ONCE = 100_000;

export class FakeClock implements Clock {
  #monotonic = 1000;
  #wallOffset: number;
  readonly #timers = new MinHeap<Timer>();
  #pending = 0;

  constructor(wall = Date.UTC(2026, 0, 1)) {
    this.#wallOffset = wall - this.#monotonic;
  }

  now(): number {
    return this.#monotonic + this.#wallOffset;
  }

  monotonic(): number {
    return this.#monotonic;
  }

  after(delayMs: number, callback: () => void): () => void {
    const timer: Timer = { at: this.#monotonic + Math.max(0, delayMs), callback, isCancelled: false };
    this.#timers.push(timer.at, timer);
    this.#pending++;
    return () => {
      if (!timer.isCancelled) this.#pending--;
      timer.isCancelled = true;
    };
  }

  /** Timers set and neither run nor cancelled. */
  get pending(): number {
    return this.#pending;
  }

  /** Goes on by so much and runs what falls due on the way, also what the callbacks set. */
  advance(delayMs: number): void {
    const until = this.#monotonic + delayMs;
    let atOnce = 0;
    while (this.#timers.peekKey() <= until) {
      const timer = this.#timers.pop()!;
      if (timer.isCancelled) continue;
      timer.isCancelled = true;
      this.#pending--;
      atOnce = timer.at > this.#monotonic ? 0 : atOnce + 1;
      if (atOnce > MAX_AT_ONCE) throw new Error('timers set each other off without end, in one instant');
      this.#monotonic = Math.max(this.#monotonic, timer.at);
      timer.callback();
    }
    this.#monotonic = until;
  }

  /** Somebody sets the wall clock; monotonic time does not notice. */
  setWallBy(jumpMs: number): void {
    this.#wallOffset += jumpMs;
  }
}
