/**
 * The webhooks of all projects: what doors set and see of them, and who sends. A secret is shown once, when the webhook is
 * made; of its URL only the origin is ever shown, since the path may be a password. Both are kept encrypted.
 */
import { randomUUID } from 'node:crypto';
import { loadConfig } from '../../config/load-config.ts';
import { sumiError } from '../../errors.ts';
import type { PostEvent } from '../../watch/send-webhook.ts';
import type { Room, RoomPart, RoomProject } from '../room.ts';
import { createScheduleRecords } from '../schedule/schedule-records.ts';
import type { Webhook, WebhookVerbs } from '../webhook-verbs.ts';
import { checkWebhook, newSecret } from './check-webhook.ts';
import { createRunsHeard } from './hear-runs.ts';
import { createDeliveries } from './webhook-deliveries.ts';
import { createWebhookRecords, NOTHING_SENT, type StoredWebhook } from './webhook-records.ts';
import { createWebhookSecrets } from './webhook-secrets.ts';
import { createSender, type WebhookSender } from './webhook-sender.ts';

const MOST_WEBHOOKS = 20;
/** What another service left is found after this time. */
const LOOK_AGAIN_MS = 30_000;

const isoOf = (at: number | null) => (at === null ? null : new Date(at).toISOString());

export function createWebhooks(room: Room): RoomPart<WebhookVerbs> {
  const { clock, report } = room;
  const records = createWebhookRecords(room.records);
  const deliveries = createDeliveries(room, records);
  const secrets = createWebhookSecrets(room);
  const now = () => room.store.clock.now();
  const senders = new Map<string, WebhookSender>();
  let userAgent = '';
  let hasEnded = false;

  async function posterToSend(projectUid: string, webhookId: string): Promise<PostEvent | null> {
    const webhook = (await records.get(projectUid, webhookId))?.value;
    if (webhook === undefined || !webhook.enabled) return null;
    const post = await secrets.poster({ projectUid, id: webhookId }, webhook, userAgent);
    if (post === null) report(secrets.unreadable());
    return post;
  }

  function senderOf(project: RoomProject, webhookId: string): WebhookSender {
    const known = senders.get(webhookId);
    if (known !== undefined) return known;
    const poster = () => posterToSend(project.uid, webhookId);
    const made = createSender({ room, records, project, webhookId, poster });
    senders.set(webhookId, made);
    return made;
  }

  /** What is set has changed: what is under way begins again with it. */
  async function restart(project: RoomProject, webhookId: string): Promise<void> {
    const before = senders.get(webhookId);
    senders.delete(webhookId);
    await before?.end();
    if (!hasEnded) senderOf(project, webhookId).wake(true);
  }

  const wake = (project: RoomProject, webhookId: string) => {
    if (!hasEnded) senderOf(project, webhookId).wake();
  };
  const runs = createRunsHeard(room, records, createScheduleRecords(room.records), wake);

  async function find(projectUid: string, webhookId: string) {
    const project = await room.project(projectUid);
    const found = await records.get(projectUid, webhookId);
    if (found === null) throw sumiError('webhook-unknown', { id: webhookId });
    return { project, webhook: found.value, version: found.version };
  }

  async function shown(
    projectUid: string,
    id: string,
    { value, version }: { value: StoredWebhook; version: number },
  ): Promise<Webhook> {
    const { failingSince, lastDeliveryAt } = (await records.sent(projectUid, id))?.value ?? NOTHING_SENT;
    return {
      ...{ id, project_id: projectUid, url: value.origin, events: [...value.events], enabled: value.enabled },
      created_at: new Date(value.createdAt).toISOString(),
      updated_at: new Date(value.updatedAt).toISOString(),
      ...{ failing_since: isoOf(failingSince), last_delivery: isoOf(lastDeliveryAt), version },
    };
  }

  const verbs: WebhookVerbs = {
    async list(uid) {
      await room.project(uid);
      return Promise.all((await records.ofProject(uid)).map((record) => shown(uid, record.key, record)));
    },
    async get(uid, id) {
      const { webhook, version } = await find(uid, id);
      return shown(uid, id, { value: webhook, version });
    },
    async create(uid, { url, events, secret = newSecret(), enabled = true }) {
      await room.project(uid);
      await checkWebhook(room.egress, { url, events, secret });
      const count = (await records.ofProject(uid)).length;
      if (count >= MOST_WEBHOOKS) throw sumiError('webhooks-most', { count });
      const [id, at] = [randomUUID(), now()];
      const value: StoredWebhook = {
        ...{ events: [...new Set(events)], enabled, createdAt: at, updatedAt: at },
        ...{
          origin: new URL(url).origin,
          sealed: await secrets.seal({ projectUid: uid, id }, { url, secret }),
        },
      };
      const version = (await records.put(uid, id, value, 0))!;
      return { ...(await shown(uid, id, { value, version })), secret };
    },
    async change(uid, id, change, ifVersion) {
      await checkWebhook(room.egress, change);
      for (;;) {
        const { project, webhook, version } = await find(uid, id);
        if (ifVersion !== undefined && ifVersion !== version)
          throw sumiError('record-changed', { what: 'webhook', version });
        const { url, secret, events = webhook.events, enabled = webhook.enabled } = change;
        const value = { ...webhook, events: [...new Set(events)], enabled, updatedAt: now() };
        if (url !== undefined || secret !== undefined) {
          // What cannot be read any more has to be given again, both together.
          const named = { projectUid: uid, id };
          const changed = await secrets.change(named, webhook, { url, secret });
          value.origin = new URL(changed.url).origin;
          value.sealed = await secrets.seal(named, changed);
        }
        const written = await records.put(uid, id, value, version);
        // Somebody else has written since: the change is made to what it is now.
        if (written === null) continue;
        await restart(project, id);
        return shown(uid, id, { value, version: written });
      }
    },
    async remove(uid, id) {
      await find(uid, id);
      const sender = senders.get(id);
      senders.delete(id);
      await sender?.end();
      await records.remove(uid, id);
    },
    async test(uid, id) {
      const { project, webhook } = await find(uid, id);
      const post = await secrets.poster({ projectUid: uid, id }, webhook, userAgent);
      if (post === null) throw secrets.unreadable();
      return deliveries.test(project, id, post);
    },
    async deliveries(uid, id, page) {
      const { project } = await find(uid, id);
      return deliveries.list(project, id, page);
    },
    async redeliver(uid, id, deliveryId) {
      const { project } = await find(uid, id);
      const delivery = await deliveries.again(project, id, deliveryId);
      senderOf(project, id).wake(true);
      return delivery;
    },
  };

  /** Goes on with what waits, also of services that died. */
  async function wakeAll(): Promise<void> {
    const projects = new Map((await room.projects()).map((project) => [project.uid, project]));
    for (const { scope, key: id } of await records.everywhere()) {
      const project = projects.get(scope);
      if (project !== undefined && !hasEnded) senderOf(project, id).wake();
    }
  }

  let cancelLook = () => {};
  function lookLater(): void {
    if (hasEnded) return;
    cancelLook = clock.after(LOOK_AGAIN_MS, () => void wakeAll().catch(report).then(lookLater));
  }

  /** One after another, so that what is told of a run is in its order. */
  let hearing: Promise<void> = Promise.resolve();
  const inOrder = (work: () => Promise<void>): Promise<void> => {
    hearing = hearing.then(work).catch(report);
    return hearing;
  };

  let stopHearing = () => {};
  return {
    verbs,
    async begin() {
      await secrets.check();
      ({ userAgent } = await loadConfig({ env: {}, options: {} }));
      const withWebhooks = new Set((await records.everywhere()).map(({ scope }) => scope));
      for (const project of await room.projects())
        if (withWebhooks.has(project.uid) && !project.isDeleted) await runs.catchUp(project);
      stopHearing = room.hear({
        onBegun: (begun) => inOrder(() => runs.onBegun(begun)),
        onOver: (over) => inOrder(() => runs.onOver(over)),
      });
      await wakeAll();
      lookLater();
    },
    async end() {
      await hearing;
      hasEnded = true;
      stopHearing();
      cancelLook();
      await Promise.all([...senders.values()].map((sender) => sender.end()));
    },
  };
}
