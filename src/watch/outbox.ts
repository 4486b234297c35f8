/**
 * Events for a receiver that is to get all of them. They are in the store, with the history of visits; an outbox knows up
 * to which one they are done with. It hands a bounded number to a queue at each look, and where the receiver is away,
 * begins there at the next one. What is not certain to have arrived is sent again, under the same id.
 * It promises that nothing is passed over but what the receiver refused, or could not take for a whole day.
 */
import type { Clock } from '../primitives/clock.ts';
import {
  createDeliveryQueue,
  type DeliveryOptions,
  type DeliveryQueue,
  type EventKeeper,
} from './delivery-queue.ts';
import { type ChangeEvent, pageOf } from './watch-event.ts';

/** An event, in the order of the store. */
export type Place = readonly [run: number, pageId: number];

export interface SavedOutbox {
  /** All up to this one arrived, or are given up. */
  done: Place;
  /** When the next one was first tried in vain. */
  failingSince: number | null;
}

/** What is in the store after a place, in its order. */
export type EventsAfter = (place: Place) => AsyncIterable<ChangeEvent>;

/** Of several receivers, each by a mark of its own. */
export type SavedOutboxes = Record<string, SavedOutbox>;

export interface Outboxes {
  /**
   * Where they were when they were saved; a new receiver hears of what comes after this run. Once; null: all of them
   * begin anew after this run, whatever they had.
   */
  begin(saved: SavedOutboxes | null, run: number): void;
  /** Hands on what the store has up to this run; what there is no room for comes at the next look. */
  fill(eventsAfter: EventsAfter, toRun: number): Promise<void>;
  /** Null before they have begun. */
  save(): SavedOutboxes | null;
}

/** One that the receiver cannot take must not hold up the others for ever. */
const GIVE_UP_MS = 86_400_000;

const ALL_PAGES = Number.MAX_SAFE_INTEGER;

export class Outbox implements EventKeeper {
  readonly queue: DeliveryQueue;
  readonly #clock: Clock;
  #done: Place | null = null;
  /** Up to this one they were handed to the queue, and so many of them are not done with. */
  #taken: Place = [0, 0];
  #open = 0;
  #isAway = false;
  #failingSince: number | null = null;

  constructor(options: Omit<DeliveryOptions, 'outbox'>) {
    this.#clock = options.clock;
    this.queue = createDeliveryQueue({ ...options, outbox: this });
  }

  begin(saved: SavedOutbox | undefined, run: number): void {
    this.#done = saved?.done ?? [run, ALL_PAGES];
    this.#taken = this.#done;
    this.#failingSince = saved?.failingSince ?? null;
  }

  async fill(eventsAfter: EventsAfter, toRun: number): Promise<void> {
    this.#isAway = false;
    const [run, page] = this.#taken;
    const after: Place = page === ALL_PAGES ? [run + 1, 0] : this.#taken;
    if (after[0] > toRun) return;
    for await (const event of eventsAfter(after)) {
      if (this.#isAway || !this.queue.push(event)) return;
      this.#open++;
      this.#taken = [event.run, pageOf(event)];
    }
    if (this.#isAway) return;
    this.#taken = [toRun, ALL_PAGES];
    if (this.#open === 0) this.#done = this.#taken;
  }

  onDone(event: ChangeEvent): void {
    this.#open--;
    this.#failingSince = null;
    this.#done = this.#open === 0 ? this.#taken : [event.run, pageOf(event)];
  }

  onAway(): void {
    this.#failingSince ??= this.#clock.now();
    this.onStop();
  }

  onStop(): void {
    this.#isAway = true;
    this.#taken = this.#done ?? this.#taken;
    this.#open = 0;
  }

  get mayGiveUp(): boolean {
    return this.#failingSince !== null && this.#clock.now() - this.#failingSince >= GIVE_UP_MS;
  }

  save(): SavedOutbox | null {
    return this.#done === null ? null : { done: this.#done, failingSince: this.#failingSince };
  }
}
