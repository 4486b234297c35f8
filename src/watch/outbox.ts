/**
 * Delivers every event to a webhook. The events are in the store, as history of visits; an outbox knows the last one that
 * is settled. At each tick it passes a bounded number of events to a queue. If the receiver is away, the next tick begins
 * again at the first event that is not settled. An event that may not have arrived is sent again with the same id.
 *
 * It promises to skip only events that the receiver refused, or could not take for a whole day.
 */
import type { Clock } from '../primitives/clock.ts';
import {
  createDeliveryQueue,
  type DeliveryOptions,
  type DeliveryQueue,
  type EventKeeper,
  type Queued,
} from './delivery-queue.ts';
import { type ChangeEvent, pageOf } from './watch-event.ts';

/** The place of an event in the order of the store. */
export type Place = readonly [run: number, pageId: number];

export interface SavedOutbox {
  /** Events up to this one are settled: they arrived, or were given up. */
  done: Place;
  /** When the next one first failed. */
  failingSince: number | null;
}

/** Events after a place, in order. */
export type EventsAfter<Event = ChangeEvent> = (place: Place) => AsyncIterable<Event>;

/** By receiver: a hash of its URL. */
export type SavedOutboxes = Record<string, SavedOutbox>;

export interface Outboxes {
  /** Restores what was saved, once. A new receiver begins after this run. Null: every receiver begins after this run. */
  begin(saved: SavedOutboxes | null, run: number): void;
  /** Queues events of the store up to this run. The rest comes at the next tick. */
  fill(eventsAfter: EventsAfter, toRun: number): Promise<void>;
  /** Null before `begin`. */
  save(): SavedOutboxes | null;
}

/** After this time an event is given up, so that others can follow. */
const GIVE_UP_MS = 86_400_000;

export const ALL_PAGES = Number.MAX_SAFE_INTEGER;

/** Of a change. */
export const placeOfChange = (event: ChangeEvent): Place => [event.run, pageOf(event)];

export interface OutboxOptions<Event extends Queued> extends Omit<DeliveryOptions<Event>, 'outbox'> {
  placeOf: (event: Event) => Place;
  /** The event arrived, or was given up. */
  onSettled?: (event: Event) => void;
}

export class Outbox<Event extends Queued = ChangeEvent> implements EventKeeper<Event> {
  readonly queue: DeliveryQueue<Event>;
  readonly #clock: Clock;
  readonly #placeOf: (event: Event) => Place;
  readonly #onSettled: (event: Event) => void;
  #done: Place | null = null;
  /** Events up to this one were queued; so many of them are not settled. */
  #taken: Place = [0, 0];
  #open = 0;
  #isAway = false;
  #failingSince: number | null = null;

  constructor({ placeOf, onSettled = () => {}, ...options }: OutboxOptions<Event>) {
    this.#clock = options.clock;
    this.#placeOf = placeOf;
    this.#onSettled = onSettled;
    this.queue = createDeliveryQueue({ ...options, outbox: this });
  }

  begin(saved: SavedOutbox | undefined, run: number): void {
    this.#done = saved?.done ?? [run, ALL_PAGES];
    this.#taken = this.#done;
    this.#failingSince = saved?.failingSince ?? null;
  }

  async fill(eventsAfter: EventsAfter<Event>, toRun: number): Promise<void> {
    this.#isAway = false;
    const [run, page] = this.#taken;
    const after: Place = page === ALL_PAGES ? [run + 1, 0] : this.#taken;
    if (after[0] > toRun) return;
    for await (const event of eventsAfter(after)) {
      if (this.#isAway || !this.queue.push(event)) return;
      this.#open++;
      this.#taken = this.#placeOf(event);
    }
    if (this.#isAway) return;
    this.#taken = [toRun, ALL_PAGES];
    if (this.#open === 0) this.#done = this.#taken;
  }

  onDone(event: Event): void {
    this.#open--;
    this.#failingSince = null;
    this.#done = this.#open === 0 ? this.#taken : this.#placeOf(event);
    this.#onSettled(event);
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
