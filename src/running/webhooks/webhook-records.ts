/**
 * Webhooks as records: what was set, how far its events have been sent, and what it was sent. They are records of their
 * own, so that a delivery does not look like a change of the webhook to somebody who edits it. A webhook's entries are in
 * the order of its events; the place of an event is the number of its entry and, within, the number of its page.
 */
import type { RecordPort, StoredRecord } from '../../store/record-port.ts';
import type { Place } from '../../watch/outbox.ts';
import type { Watcher } from '../../watch/watch-state.ts';
import type { WebhookEventName } from '../webhook-verbs.ts';
import type { WebhookPayload } from './webhook-payload.ts';

export interface StoredWebhook {
  events: WebhookEventName[];
  enabled: boolean;
  createdAt: number;
  updatedAt: number;
  /** Scheme, host and port. */
  origin: string;
  /** URL and secret as JSON. */
  sealed: string;
}

/** How far its events have been sent; written by the one service that sends them. */
export interface SentState {
  done: Place;
  failingSince: number | null;
  /** Not before, after a failure. */
  nextTryAt: number | null;
  lastDeliveryAt: number | null;
  /** Who sends now. */
  sender: Watcher | null;
}

export const NOTHING_SENT: SentState = Object.freeze({
  done: [0, 0] as const,
  failingSince: null,
  nextTryAt: null,
  lastDeliveryAt: null,
  sender: null,
});

export interface Entry {
  id: string;
  event: WebhookEventName | 'test';
  run: number | null;
  /** `dropped`: an entry of all pages of a run, all of which were tried. */
  state: 'waiting' | 'delivered' | 'failed';
  attempts: number;
  statusCode: number | null;
  error: string | null;
  createdAt: number;
  deliveredAt: number | null;
  nextTryAt: number | null;
  /** Null: it is made of the store's history, of this page, or of all pages of the run. */
  payload: WebhookPayload | null;
  page: number | null;
}

export const isOfAllPages = (entry: Entry) => entry.payload === null && entry.page === null;

/** The newest runs that the webhook was told of, so that nothing is missed over a restart. */
export interface Heard {
  begun: number;
  over: number;
}

const DELIVERY_MS = 30 * 86_400_000;
const PAGE = 1000;
const MOST_TRIES = 100;
const pad = (number: number) => String(number).padStart(16, '0');

export const numberOf = (key: string): number => Number(key.slice(key.indexOf('/') + 1).split('.', 1)[0]);

export function createWebhookRecords(records: RecordPort) {
  const keyOf = (id: string, [entry, page]: readonly [number, number?]) =>
    `${id}/${pad(entry)}${page === undefined ? '' : `.${pad(page)}`}`;

  async function* all<Value>(kind: 'webhook' | 'delivery'): AsyncGenerator<StoredRecord<Value>> {
    for (let last: StoredRecord | undefined; ; ) {
      const afterRecord = last && { scope: last.scope, key: last.key };
      const page = await records.list<Value>({ kind, limit: PAGE, ...(last && { afterRecord }) });
      yield* page;
      last = page.at(-1);
      if (page.length < PAGE) return;
    }
  }

  async function newest(scope: string, id: string): Promise<StoredRecord<Entry> | null> {
    const after = `${id}/~`;
    const [last] = await records.list<Entry>({ kind: 'delivery', scope, after, order: 'desc', limit: 1 });
    return last?.key.startsWith(`${id}/`) ? last : null;
  }

  const isWebhook = ({ key }: StoredRecord) => !key.includes('.');

  return {
    keyOf,
    newest,
    async get(scope: string, id: string): Promise<StoredRecord<StoredWebhook> | null> {
      return id.includes('.') ? null : records.get('webhook', scope, id);
    },
    async ofProject(scope: string): Promise<StoredRecord<StoredWebhook>[]> {
      return (await records.list<StoredWebhook>({ kind: 'webhook', scope })).filter(isWebhook);
    },
    async everywhere(): Promise<StoredRecord<StoredWebhook>[]> {
      const found: StoredRecord<StoredWebhook>[] = [];
      for await (const record of all<StoredWebhook>('webhook')) if (isWebhook(record)) found.push(record);
      return found;
    },
    put: (scope: string, id: string, value: StoredWebhook, ifVersion?: number) =>
      records.put('webhook', scope, id, value, ifVersion === undefined ? {} : { ifVersion }),
    async remove(scope: string, id: string): Promise<boolean> {
      const isThere = await records.remove('webhook', scope, id);
      for (const part of ['sent', 'heard']) await records.remove('webhook', scope, `${id}.${part}`);
      for await (const { key } of this.entries(scope, id, 0)) await records.remove('delivery', scope, key);
      return isThere;
    },
    sent: (scope: string, id: string) => records.get<SentState>('webhook', scope, `${id}.sent`),
    /** The new version; null where somebody else has written since. */
    putSent: (scope: string, id: string, value: SentState, ifVersion: number) =>
      records.put('webhook', scope, `${id}.sent`, value, { ifVersion }),
    heard: async (scope: string, id: string): Promise<Heard> =>
      (await records.get<Heard>('webhook', scope, `${id}.heard`))?.value ?? { begun: 0, over: 0 },
    putHeard: (scope: string, id: string, value: Heard) =>
      records.put('webhook', scope, `${id}.heard`, value),
    /** At the end of what is to be sent. Its key. */
    async append(scope: string, id: string, entry: Entry, expiresIn = DELIVERY_MS): Promise<string> {
      for (let tries = 1; ; tries++) {
        const last = await newest(scope, id);
        const key = keyOf(id, [last === null ? 1 : numberOf(last.key) + 1]);
        const expiresAt = entry.createdAt + expiresIn;
        // Another service appends as well.
        const version = await records.put('delivery', scope, key, entry, { ifVersion: 0, expiresAt });
        if (version !== null) return key;
        if (tries === MOST_TRIES) throw new Error(`no free number for a delivery of ${id}`);
      }
    },
    putEntry: (scope: string, key: string, entry: Entry) =>
      records.put('delivery', scope, key, entry, { expiresAt: entry.createdAt + DELIVERY_MS }),
    removeEntry: (scope: string, key: string) => records.remove('delivery', scope, key),
    /** From this number on, in their order. */
    async *entries(scope: string, id: string, from: number): AsyncGenerator<StoredRecord<Entry>> {
      for (let after = `${id}/${from <= 0 ? '' : `${pad(from - 1)}~`}`; ; ) {
        const page = await records.list<Entry>({ kind: 'delivery', scope, after, limit: PAGE });
        for (const record of page) {
          if (!record.key.startsWith(`${id}/`)) return;
          yield record;
        }
        if (page.length < PAGE) return;
        after = page[PAGE - 1].key;
      }
    },
    /** Newest first, before this key. */
    async before(scope: string, id: string, key: string | null, limit: number) {
      const after = key ?? `${id}/~`;
      const page = await records.list<Entry>({ kind: 'delivery', scope, after, order: 'desc', limit });
      return page.filter((record) => record.key.startsWith(`${id}/`));
    },
  };
}

export type WebhookRecords = ReturnType<typeof createWebhookRecords>;
