/**
 * What waits for one webhook, in its order, and what became of it. A crawl's event is an entry; the changes of a run's pages
 * are one entry, and come from the store's history when it is their turn: a run of a million pages adds one record. Each
 * that was sent gets an entry of its own then. The last 500 entries are kept.
 */
import { ALL_PAGES, type Place } from '../../watch/outbox.ts';
import type { Room, RoomProject } from '../room.ts';
import { pagePayload, type WebhookPayload } from './webhook-payload.ts';
import { type Entry, isOfAllPages, numberOf, type WebhookRecords } from './webhook-records.ts';

/** An event with its place. */
export interface QueuedEvent {
  id: string;
  /** Of the page that it is about. */
  url: string | null;
  place: Place;
  payload: WebhookPayload;
  /** The entry that it is, or is of. */
  entry: Entry;
  key: string;
}

/** What became of it; `error`: null where it arrived. */
export interface Tried {
  attempts: number;
  status: number | null;
  error: string | null;
}

export interface WebhookQueue {
  /** The number of the newest entry; 0: there is none. */
  newest(): Promise<number>;
  eventsAfter(place: Place, to: number): AsyncGenerator<QueuedEvent>;
  settled(event: QueuedEvent, tried: Tried, now: number): Promise<void>;
  /** It waits for another try. */
  failed(event: QueuedEvent, tried: Tried, nextTryAt: number): Promise<void>;
  /** Removes entries of pages that are all sent, and what is too much. */
  tidy(done: Place): Promise<void>;
}

const MOST_KEPT = 500;

/** Everything of the entry is settled. */
export const isPast = ([number, page]: Place, entry: number): boolean =>
  number > entry || (number === entry && page === ALL_PAGES);

export function createWebhookQueue(
  room: Pick<Room, 'side'>,
  records: WebhookRecords,
  { project, webhookId }: { project: RoomProject; webhookId: string },
): WebhookQueue {
  const { uid } = project;

  async function* pagesOf(entry: Entry, key: string, after: number): AsyncGenerator<QueuedEvent> {
    const run = entry.run!;
    const filter = { projectId: project.id, fromRun: run, toRun: run, afterPage: after };
    for await (const row of room.side.changes(filter)) {
      const payload = pagePayload(project, row);
      const place: Place = [numberOf(key), row.page_id];
      yield { id: payload.id, url: row.url, place, payload, entry, key };
    }
  }

  return {
    async newest() {
      const last = await records.newest(uid, webhookId);
      return last === null ? 0 : numberOf(last.key);
    },
    async *eventsAfter([number, page], to) {
      for await (const { key, value: entry } of records.entries(uid, webhookId, number)) {
        const at = numberOf(key);
        if (at > to) return;
        if (entry.state !== 'waiting') continue;
        const after = at === number ? page : 0;
        const { id, payload } = entry;
        if (payload === null) yield* pagesOf(entry, key, after);
        else if (after === 0) yield { id, url: null, place: [at, 1], payload, entry, key };
      }
    },
    async settled({ id, place, payload, entry, key }, { attempts, status, error }, now) {
      const result: Partial<Entry> = {
        ...{ state: error === null ? 'delivered' : 'failed', deliveredAt: error === null ? now : null },
        ...{ statusCode: status, error, nextTryAt: null },
      };
      if (!isOfAllPages(entry))
        await records.putEntry(uid, key, { ...entry, ...result, attempts: entry.attempts + attempts });
      else {
        const own: Entry = { ...entry, id, page: place[1], run: payload.run, attempts };
        await records.putEntry(uid, records.keyOf(webhookId, place), { ...own, ...result });
      }
    },
    async failed({ entry, key }, { attempts, status, error }, nextTryAt) {
      const tried = { attempts: entry.attempts + attempts, statusCode: status, error, nextTryAt };
      await records.putEntry(uid, key, { ...entry, ...tried });
    },
    async tidy(done) {
      const settled: string[] = [];
      const waiting: string[] = [];
      for await (const { key, value: entry } of records.entries(uid, webhookId, 0)) {
        if (isOfAllPages(entry) && isPast(done, numberOf(key))) await records.removeEntry(uid, key);
        else (entry.state === 'waiting' ? waiting : settled).push(key);
      }
      // What waits goes only where so much waits: a receiver that is away for long does not fill the records.
      const excess = settled.length + waiting.length - MOST_KEPT;
      for (const key of [...settled, ...waiting].slice(0, Math.max(0, excess)))
        await records.removeEntry(uid, key);
    },
  };
}
