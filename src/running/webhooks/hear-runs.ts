/**
 * What webhooks are told of runs: an entry for each webhook that wants the event. Events of pages of a first run are not
 * told, since all of it is new. Noted by webhook is the newest run that it was told of: what ended in a moment when
 * nobody could tell it is told at the next start.
 */
import type { Phase } from '../phase.ts';
import type { Room, RoomProject, RunBegun, RunOver } from '../room.ts';
import { UNSET } from '../schedule/check-schedule.ts';
import type { ScheduleRecords } from '../schedule/schedule-records.ts';
import type { WebhookEventName } from '../webhook-verbs.ts';
import {
  type CrawlEventName,
  crawlPayload,
  type Significance,
  significantPayload,
  type WebhookPayload,
} from './webhook-payload.ts';
import type { Entry, WebhookRecords } from './webhook-records.ts';

export interface RunsHeard {
  onBegun(begun: RunBegun): Promise<void>;
  onOver(over: RunOver): Promise<void>;
  /** Runs that ended while nobody could tell it. */
  catchUp(project: RoomProject): Promise<void>;
}

const OVER: Readonly<Partial<Record<Phase['state'], CrawlEventName>>> = {
  completed: 'crawl.completed',
  stopped: 'crawl.completed',
  failed: 'crawl.failed',
  interrupted: 'crawl.failed',
};

export const newEntry = (payload: WebhookPayload, createdAt: number): Entry => ({
  ...{ id: payload.id, event: payload.type, run: payload.run, state: 'waiting', payload, page: null },
  ...{ attempts: 0, statusCode: null, error: null, createdAt, deliveredAt: null, nextTryAt: null },
});

export function createRunsHeard(
  room: Room,
  records: WebhookRecords,
  schedules: Pick<ScheduleRecords, 'get'>,
  wake: (project: RoomProject, webhookId: string) => void,
): RunsHeard {
  const now = () => room.store.clock.now();

  const scheduleOf = async ({ uid }: RoomProject) =>
    (await schedules.get(uid))?.schedule.value.settings ?? UNSET;

  async function wantedBy(project: RoomProject) {
    const all = await records.ofProject(project.uid);
    return all.filter(({ value }) => value.enabled);
  }

  /** In this order, for each webhook those that it wants. */
  async function tell(
    project: RoomProject,
    entries: readonly Entry[],
    heard: (webhookId: string) => Promise<void>,
  ): Promise<void> {
    for (const { key: id, value } of await wantedBy(project)) {
      for (const entry of entries)
        if (value.events.includes(entry.event as WebhookEventName))
          await records.append(project.uid, id, entry);
      await heard(id);
      wake(project, id);
    }
  }

  async function significanceOf(project: RoomProject, phase: Phase): Promise<Significance | null> {
    const { notify_on_changes, significant } = await scheduleOf(project);
    const { statistics } = phase;
    if (!notify_on_changes || statistics === null) return null;
    const { new: added, changed, gone, unchanged } = statistics;
    const known = changed + gone + unchanged;
    const percent = known === 0 ? 0 : (100 * changed) / known;
    const isSignificant =
      (added > 0 && added >= significant.new_pages) ||
      (changed > 0 && percent >= significant.changed_percent);
    const changed_percent = Math.round(percent * 100) / 100;
    return isSignificant
      ? { new: added, changed, gone, unchanged, changed_percent, significant: { ...significant } }
      : null;
  }

  async function entriesOf({ project, run, type, phase }: RunOver): Promise<Entry[]> {
    const event = OVER[phase.state];
    if (event === undefined) return [];
    // A watch leaves its first crawl when its budget is spent, and goes on with it later.
    const { enabled, kind } = await scheduleOf(project);
    if (phase.state === 'interrupted' && enabled && kind === 'continuous') return [];
    const at = phase.completed_at ?? new Date(now()).toISOString();
    const entries = [newEntry(crawlPayload(project, event, { run, phase, at }), now())];
    if (type === 'initial' || event === 'crawl.failed') return entries;
    const data = await significanceOf(project, phase);
    if (data !== null) entries.push(newEntry(significantPayload(project, { run, at, data }), now()));
    // All of its pages, made of the history when it is their turn.
    const payload = { id: `${project.uid}-${run}-pages`, type: 'page.changed' as const, run };
    const stamp = { project_id: project.uid, project: project.name, at, data: {} };
    entries.push({ ...newEntry({ ...payload, ...stamp }, now()), payload: null });
    return entries;
  }

  async function onOver(over: RunOver): Promise<void> {
    const { project, run } = over;
    await tell(project, await entriesOf(over), async (id) => {
      const heard = await records.heard(project.uid, id);
      await records.putHeard(project.uid, id, { ...heard, over: Math.max(heard.over, run) });
    });
  }

  return {
    async onBegun({ project, run, phase, isResumed }) {
      if (isResumed) return;
      const at = phase.started_at ?? new Date(now()).toISOString();
      const entry = newEntry(crawlPayload(project, 'crawl.started', { run, phase, at }), now());
      await tell(project, [entry], async (id) => {
        const heard = await records.heard(project.uid, id);
        await records.putHeard(project.uid, id, { ...heard, begun: Math.max(heard.begun, run) });
      });
    },
    onOver,
    async catchUp(project) {
      const webhooks = await wantedBy(project);
      if (webhooks.length === 0) return;
      const last = await room.side.lastRun(project.id);
      // One that was interrupted may go on.
      if (last === null || last.finished_at === null || !/^(?:completed|failed|stopped)$/.test(last.status))
        return;
      const endedAt = Date.parse(last.finished_at);
      const missing: string[] = [];
      for (const { key, value } of webhooks)
        if (value.createdAt <= endedAt && (await records.heard(project.uid, key)).over < last.run)
          missing.push(key);
      if (missing.length === 0) return;
      const phase = await room.runs.phase(project.uid);
      if (phase.run !== last.run || OVER[phase.state] === undefined) return;
      const over = { project, run: last.run, type: phase.type ?? 'manual', phase, summary: null };
      const entries = await entriesOf(over);
      for (const { key: id, value } of webhooks) {
        if (!missing.includes(id)) continue;
        for (const entry of entries)
          if (value.events.includes(entry.event as WebhookEventName))
            await records.append(project.uid, id, entry);
        await records.putHeard(project.uid, id, {
          ...(await records.heard(project.uid, id)),
          over: last.run,
        });
      }
    },
  };
}
