/** A run of a project as programs are told of it: type and change_summary first, then its figures. */
import { z } from 'zod';
import type { PhaseState, RunType } from '../running/phase.ts';
import type { RunLogType } from '../running/run-log.ts';
import { listSchema } from './lists.ts';

export const RUN_TYPES = ['initial', 'scheduled', 'manual'] as const satisfies readonly RunType[];

/** What a stored run can be; `queued` and `pending` are states of a phase only. */
export const RUN_STATES = [
  'running',
  'paused',
  'completed',
  'stopped',
  'interrupted',
  'failed',
] as const satisfies readonly PhaseState[];
export type RunState = (typeof RUN_STATES)[number];

export const ChangeSummary = z
  .strictObject({
    new: z.int(),
    changed: z.int(),
    unchanged: z.int(),
    gone: z.int(),
    failed: z.int(),
  })
  .meta({ id: 'ChangeSummary', description: 'Visits of the run by what they found.' });
export type ChangeSummary = z.infer<typeof ChangeSummary>;

export const RunStatistics = z
  .strictObject({
    pages: z.int().describe('Pages with a final answer.'),
    requests: z.int(),
    bytes: z.number().describe('Bytes over the wire.'),
    left_out: z.int().describe('Known pages that it ended without asking for.'),
    duration_ms: z.number().nullable().describe('Until now while it is under way.'),
    pages_per_second: z.number().nullable(),
  })
  .meta({ id: 'RunStatistics', description: 'The figures of a run.' });

export const Run = z
  .strictObject({
    run: z.int().describe('Its number: unique in the store.'),
    project_id: z.string().describe("The project's UUID."),
    type: z.enum(RUN_TYPES).describe('initial: the first of the project. scheduled: begun by its schedule.'),
    status: z.enum(['in_progress', 'completed', 'failed']),
    state: z.enum(RUN_STATES).describe('Finer than the status.'),
    mode: z.enum(['full', 'incremental']).nullable().describe('How known pages were visited again.'),
    mode_reason: z.string().nullable(),
    started_at: z.string(),
    completed_at: z.string().nullable(),
    error: z.string().nullable(),
    meta: z.record(z.string(), z.string()).nullable().describe('Notes that were given at its start.'),
    change_summary: ChangeSummary.nullable().describe(
      'null where more than 20,000 visits would have to be counted; the run by itself has it always.',
    ),
    statistics: RunStatistics,
  })
  .meta({ id: 'Run', description: 'One crawl of a project.' });
export type Run = z.infer<typeof Run>;

const LOG_TYPES: Record<RunLogType, true> = {
  ...{ started: true, resumed: true, paused: true, adjusted: true, mode: true, host: true, sitemap: true },
  ...{ fault: true, refused: true, completed: true, stopped: true, failed: true, interrupted: true },
};

export const RunLogEntrySchema = z
  .strictObject({
    nth: z.int().describe('1 for the first entry of the run.'),
    at: z.string(),
    type: z.enum(Object.keys(LOG_TYPES) as [RunLogType, ...RunLogType[]]),
    message: z.string().describe('One sentence.'),
    detail: z.record(z.string(), z.unknown()).describe('What the sentence is made of.'),
  })
  .meta({ id: 'RunLogEntry', description: 'A kept event of a run.' });

export const RunList = listSchema(Run).meta({ id: 'RunList' });
export const RunLogList = listSchema(RunLogEntrySchema).meta({ id: 'RunLogList' });
