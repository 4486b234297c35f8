/**
 * Decides which host gets the next turn. Hosts that may send a request now are in a ring and are served in turn, which
 * is fair. Hosts that must wait are in a heap, by the time of their slot. There is one timer, for the earliest slot.
 *
 * Promises: no host waits longer than its slot and the turns of the others. Knows nothing of pages or requests: a host
 * says when it is ready (`readyAt`), Infinity while it cannot be. Before it: the leases of hosts. After it: the claim
 * of a page.
 */
import type { Clock } from '../primitives/clock.ts';
import { MinHeap } from '../primitives/min-heap.ts';

/** Timers of the runtime end at 2^31 ms. */
const MAX_TIMER_MS = 2 ** 31 - 1;

export interface Schedulable {
  /** Monotonic time from which the host can take a turn; Infinity when something else must happen first. */
  readyAt(): number;
  /** Where the schedule keeps the host; set by the schedule only. */
  place: 'out' | 'ring' | 'heap';
}

export class HostSchedule<H extends Schedulable> {
  readonly #clock: Clock;
  readonly #wake: () => void;
  readonly #heap = new MinHeap<H>();
  /** The time of each waiting host's turn. An entry of the heap with another time is out of date. */
  readonly #turns = new Map<H, number>();
  #ring: H[] = [];
  #ringHead = 0;
  #timerAt = Number.POSITIVE_INFINITY;
  #cancelTimer: (() => void) | null = null;
  #isStopped = false;

  /** `wake` is called when a waiting host's time has come. */
  constructor(clock: Clock, wake: () => void) {
    this.#clock = clock;
    this.#wake = wake;
  }

  /** Hosts whose time has not come. */
  get cooling(): number {
    return this.#turns.size;
  }

  /** Hosts that may send a request now, as far as the schedule has checked. */
  get ready(): number {
    return this.#ring.length - this.#ringHead;
  }

  get isEmpty(): boolean {
    return this.#turns.size === 0 && this.#ringHead === this.#ring.length;
  }

  /** Call after anything that may have changed the host's readiness. */
  place(host: H): void {
    if (host.place === 'ring' || this.#isStopped) return;
    const at = host.readyAt();
    if (at === Number.POSITIVE_INFINITY) {
      // What the host waited for is not wanted any more, and must not keep the run open. The next offer places the host
      // again.
      if (host.place === 'heap') this.remove(host);
      return;
    }
    // A later time is noticed when the earlier one comes. But a host that became ready sooner must not wait.
    if (host.place === 'heap' && at >= this.#turns.get(host)!) return;
    if (at <= this.#clock.monotonic()) {
      this.#turns.delete(host);
      host.place = 'ring';
      this.#ring.push(host);
    } else {
      host.place = 'heap';
      this.#turns.set(host, at);
      this.#heap.push(at, host);
      this.#setTimer();
    }
  }

  /** Hosts whose time has come leave the heap. */
  #collect(now: number): void {
    for (let at = this.#heap.peekKey(); at <= now; at = this.#heap.peekKey()) {
      const host = this.#heap.pop()!;
      if (this.#turns.get(host) !== at) continue;
      this.#turns.delete(host);
      host.place = 'out';
      this.place(host);
    }
  }

  /** The next host that may send a request now, or null. It is out of the schedule until it is placed again. */
  next(): H | null {
    const now = this.#clock.monotonic();
    this.#collect(now);
    while (this.#ringHead < this.#ring.length) {
      const host = this.#ring[this.#ringHead++];
      if (this.#ringHead === this.#ring.length) {
        this.#ring = [];
        this.#ringHead = 0;
      } else if (this.#ringHead > 1024 && this.#ringHead * 2 > this.#ring.length) {
        this.#ring = this.#ring.slice(this.#ringHead);
        this.#ringHead = 0;
      }
      host.place = 'out';
      // The readiness may have changed while the host was in the ring.
      if (host.readyAt() <= now) return host;
      this.place(host);
    }
    return null;
  }

  /** Takes a host out of the schedule, wherever it is. */
  remove(host: H): void {
    if (host.place === 'heap') this.#turns.delete(host);
    if (host.place === 'ring')
      this.#ring = this.#ring.filter((other, i) => i >= this.#ringHead && other !== host);
    if (host.place === 'ring') this.#ringHead = 0;
    host.place = 'out';
  }

  /** Stops for good: a host that is still in use must not set a timer after the end of the run. */
  stop(): void {
    this.#isStopped = true;
    this.#cancelTimer?.();
    this.#cancelTimer = null;
    this.#timerAt = Number.POSITIVE_INFINITY;
  }

  #setTimer(): void {
    const at = this.#heap.peekKey();
    if (at >= this.#timerAt) return;
    this.#cancelTimer?.();
    this.#timerAt = at;
    const delayMs = Math.min(MAX_TIMER_MS, Math.max(0, at - this.#clock.monotonic()));
    this.#cancelTimer = this.#clock.after(delayMs, () => {
      this.#cancelTimer = null;
      this.#timerAt = Number.POSITIVE_INFINITY;
      // Also if nobody takes a turn now: a host that stays in the heap would set the timer for the past, again and
      // again.
      this.#collect(this.#clock.monotonic());
      this.#wake();
      if (!this.#isStopped && this.#heap.size > 0) this.#setTimer();
    });
  }
}
