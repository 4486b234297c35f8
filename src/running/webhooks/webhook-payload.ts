/** What a webhook gets: one object an event, the same for every try. */
import { pageUid } from '../../primitives/page-uid.ts';
import type { ChangeRow } from '../../store/read-side.ts';
import { changeEvent } from '../../watch/watch-event.ts';
import type { Phase } from '../phase.ts';
import type { RoomProject } from '../room.ts';
import type { WebhookEventName } from '../webhook-verbs.ts';

export interface WebhookPayload {
  /** Of the event: the same for every try, and for every webhook that gets it. */
  id: string;
  type: WebhookEventName | 'test';
  project_id: string;
  /** Its name. */
  project: string;
  run: number | null;
  /** ISO 8601, in UTC: when it happened. */
  at: string;
  data: object;
}

export type CrawlEventName = Exclude<WebhookEventName, 'page.changed' | 'crawl.significant'>;

/** A run that failed may go on and fail again, so its time is part of the id. */
export function crawlPayload(
  project: RoomProject,
  type: CrawlEventName,
  { run, phase, at }: { run: number; phase: Phase; at: string },
): WebhookPayload {
  const mark = type === 'crawl.failed' ? `failed-${Date.parse(at)}` : type.slice('crawl.'.length);
  return stamped(project, { type, run, at, id: `${project.uid}-${run}-${mark}`, data: { phase } });
}

/** Why a run counts as significant: its figures, and what is expected of one. */
export interface Significance {
  new: number;
  changed: number;
  gone: number;
  unchanged: number;
  /** Of the known pages that were visited. */
  changed_percent: number;
  significant: { new_pages: number; changed_percent: number };
}

export function significantPayload(
  project: RoomProject,
  { run, at, data }: { run: number; at: string; data: Significance },
): WebhookPayload {
  return stamped(project, {
    ...{ type: 'crawl.significant', run, at, data },
    id: `${project.uid}-${run}-significant`,
  });
}

export function pagePayload(project: RoomProject, row: ChangeRow): WebhookPayload {
  const { type: _, id: __, project: ___, run, ...change } = changeEvent(project.name, row);
  return stamped(project, {
    ...{ type: 'page.changed', run, at: row.visited_at },
    id: pageEventId(project, run, row.page_id),
    data: { page_id: pageUid(project.uid, row.page_id), ...change },
  });
}

export const pageEventId = ({ uid }: RoomProject, run: number, page: number) => `${uid}-${run}-${page}`;

export function testPayload(project: RoomProject, id: string, at: string): WebhookPayload {
  return stamped(project, {
    ...{ type: 'test', run: null, at, id },
    data: { message: 'A test of this webhook.' },
  });
}

function stamped(
  { uid, name }: RoomProject,
  { id, type, run, at, data }: Pick<WebhookPayload, 'id' | 'type' | 'run' | 'at' | 'data'>,
): WebhookPayload {
  return { id, type, project_id: uid, project: name, run, at, data };
}
