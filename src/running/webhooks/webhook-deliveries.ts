/** What a webhook was sent and what waits for it, newest first; a test of it; and sending something again. */
import { randomUUID } from 'node:crypto';
import { sumiError } from '../../errors.ts';
import type { StoredRecord } from '../../store/record-port.ts';
import type { PostEvent } from '../../watch/send-webhook.ts';
import type { Room, RoomProject } from '../room.ts';
import type { Delivery } from '../webhook-verbs.ts';
import { newEntry } from './hear-runs.ts';
import { pagePayload, testPayload, type WebhookPayload } from './webhook-payload.ts';
import type { Entry, WebhookRecords } from './webhook-records.ts';

const isoOf = (at: number | null) => (at === null ? null : new Date(at).toISOString());
const PAGE = 200;

function shown(webhookId: string, entry: Entry): Delivery {
  return {
    ...{ id: entry.id, webhook_id: webhookId, event: entry.event, run: entry.run, state: entry.state },
    ...{ attempts: entry.attempts, status_code: entry.statusCode, error: entry.error },
    created_at: new Date(entry.createdAt).toISOString(),
    delivered_at: isoOf(entry.deliveredAt),
    next_try_at: isoOf(entry.nextTryAt),
  };
}

export function createDeliveries(room: Pick<Room, 'side' | 'store'>, records: WebhookRecords) {
  const now = () => room.store.clock.now();

  /** The newest one with this id. */
  async function find(project: RoomProject, webhookId: string, id: string): Promise<StoredRecord<Entry>> {
    for (let key: string | null = null; ; ) {
      const page: StoredRecord<Entry>[] = await records.before(project.uid, webhookId, key, PAGE);
      const found = page.find(({ value }) => value.id === id);
      if (found !== undefined) return found;
      key = page.at(-1)?.key ?? null;
      if (key === null || page.length < PAGE) throw sumiError('delivery-unknown', { id });
    }
  }

  async function payloadOf(project: RoomProject, entry: Entry): Promise<WebhookPayload> {
    if (entry.payload !== null) return entry.payload;
    const { run, page } = entry;
    const filter = { projectId: project.id, fromRun: run!, toRun: run!, pageId: page! };
    for await (const row of room.side.changes(filter)) return pagePayload(project, row);
    throw sumiError('delivery-gone', { id: entry.id });
  }

  return {
    async list(project: RoomProject, webhookId: string, { limit, after }: { limit: number; after?: string }) {
      const key = after === undefined ? null : `${webhookId}/${after}`;
      const page = await records.before(project.uid, webhookId, key, limit + 1);
      const rows = page.slice(0, limit);
      const last = page.length > limit ? rows.at(-1)!.key.slice(webhookId.length + 1) : null;
      return { deliveries: rows.map(({ value }) => shown(webhookId, value)), next: last };
    },
    /** One try, beside everything that waits. */
    async test(project: RoomProject, webhookId: string, post: PostEvent): Promise<Delivery> {
      const createdAt = now();
      const payload = testPayload(project, randomUUID(), new Date(createdAt).toISOString());
      const { status, failure } = await post(payload, new AbortController().signal);
      const entry: Entry = {
        ...newEntry(payload, createdAt),
        ...{ state: failure === null ? 'delivered' : 'failed', attempts: 1, statusCode: status },
        ...{ error: failure?.error ?? null, deliveredAt: failure === null ? now() : null },
      };
      await records.append(project.uid, webhookId, entry);
      return shown(webhookId, entry);
    },
    /** At the end of what waits, with the same id and text. One that waits is only hurried. */
    async again(project: RoomProject, webhookId: string, id: string): Promise<Delivery> {
      const { key, value: entry } = await find(project, webhookId, id);
      if (entry.state === 'waiting') return shown(webhookId, entry);
      const payload = await payloadOf(project, entry);
      const again: Entry = { ...entry, ...newEntry(payload, now()), attempts: entry.attempts };
      await records.append(project.uid, webhookId, again);
      await records.removeEntry(project.uid, key);
      return shown(webhookId, again);
    },
  };
}
