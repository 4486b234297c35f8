/** Messages of live connections: what a client sends over WebSocket, and what it hears over WebSocket and SSE. */
import { z } from 'zod';
import type { LiveEvent } from '../running/live-event.ts';
import { isoTime } from './lists.ts';
import { phase } from './phases.ts';
import { knownBy, pageState, visitOutcome } from './words.ts';

const stamp = {
  project_id: z.string(),
  run: z.int().nullable(),
  seq: z
    .int()
    .meta({ description: 'Grows with each event of the project; a gap means that events were left out.' }),
  at: isoTime,
};

const count = z.int().min(0);

const livePage = z.strictObject({
  id: z.string(),
  url: z.string(),
  state: pageState,
  reason: z.string().nullable(),
  status_code: z.int().nullable(),
  title: z.string().nullable(),
  depth: z.int(),
  content_type: z.string().nullable(),
  links: count,
  bytes: count,
  duration_ms: z.number().nullable(),
  outcome: visitOutcome.nullable(),
  known_by: knownBy.nullable(),
  is_modified: z.boolean(),
  change_detected: z.boolean(),
  change_frequency: z.number(),
  bytes_saved: z.number(),
});

const liveHost = z.strictObject({
  host: z.string(),
  what: z.enum(['robots', 'blocked', 'breaker', 'closed', 'lost', 'distrusted', 'unknown', 'head-differs']),
  detail: z.string(),
  until: z.number().nullable(),
});

const liveChange = z.strictObject({
  page_id: z.string(),
  url: z.string(),
  outcome: z.enum(['new', 'changed', 'gone']),
  known_by: knownBy,
  status_code: z.int().nullable(),
  title: z.string().nullable(),
});

export const liveEvent = z
  .discriminatedUnion('type', [
    z.strictObject({ type: z.literal('started'), ...stamp, phase }),
    z
      .strictObject({ type: z.literal('progress'), ...stamp, phase })
      .meta({ description: 'At most four a second.' }),
    z.strictObject({ type: z.literal('page'), ...stamp, page: livePage, left_out: count }).meta({
      description: 'The newest page; at most ten a second. left_out: settled since the one before.',
    }),
    z.strictObject({ type: z.literal('host'), ...stamp, host: liveHost }),
    z.strictObject({ type: z.literal('change'), ...stamp, change: liveChange, left_out: count }),
    z
      .strictObject({ type: z.literal('completed'), ...stamp, phase })
      .meta({ description: 'Completed or stopped.' }),
    z
      .strictObject({ type: z.literal('failed'), ...stamp, phase })
      .meta({ description: 'Failed or interrupted.' }),
  ])
  .meta({ id: 'LiveEvent', description: 'What happens to a project while it is crawled.' });

/** The schema and the engine mean the same. */
liveEvent satisfies z.ZodType<LiveEvent>;

export const liveRequest = z
  .discriminatedUnion('type', [
    z.strictObject({ type: z.literal('subscribe'), project_id: z.string().max(100) }),
    z.strictObject({ type: z.literal('unsubscribe'), project_id: z.string().max(100) }),
    z.strictObject({ type: z.literal('ping') }),
  ])
  .meta({ id: 'LiveRequest', description: 'What a client sends over WebSocket.' });

export const liveMessage = z
  .union([
    liveEvent,
    z.strictObject({
      type: z.literal('subscribed'),
      ...stamp,
      phase,
    }),
    z.strictObject({ type: z.literal('unsubscribed'), project_id: z.string(), at: isoTime }),
    z.strictObject({ type: z.literal('pong'), at: isoTime }),
    z
      .strictObject({ type: z.literal('reset'), ...stamp, phase })
      .meta({ description: 'Events before it are no longer kept.' }),
    z.strictObject({
      type: z.literal('error'),
      code: z.string(),
      message: z.string(),
      hint: z.string().optional(),
      project_id: z.string().optional(),
    }),
  ])
  .meta({ id: 'LiveMessage', description: 'What a client hears over WebSocket.' });

export type LiveRequest = z.infer<typeof liveRequest>;
export type LiveMessage = z.infer<typeof liveMessage>;
