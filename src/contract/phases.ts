/** How the crawl of a project stands, and how it is started and steered. */
import { z } from 'zod';
import type { Phase } from '../running/phase.ts';
import { isoTime } from './lists.ts';
import { settingsPatch } from './settings.ts';

const count = z.int().min(0);
export const runMode = z.enum(['full', 'incremental', 'smart']);

export const phaseStatistics = z
  .strictObject({
    pages: count,
    requests: count,
    bytes: count,
    duration_ms: z.number().min(0),
    by_state: z.record(z.string(), count),
    known_urls: count,
    read: count,
    broken: count,
    rate_limited: count,
    skipped: count,
    waiting: count,
    left_out: count,
    new: count,
    changed: count,
    unchanged: count,
    gone: count,
    failed: count,
    not_transferred: count,
    bytes_saved: z.number(),
  })
  .meta({ id: 'PhaseStatistics', description: 'The figures of a run at its end.' });

export const phase = z
  .strictObject({
    project_id: z.string(),
    status: z.enum(['pending', 'in_progress', 'completed', 'failed']),
    state: z
      .enum(['pending', 'queued', 'running', 'paused', 'completed', 'stopped', 'interrupted', 'failed'])
      .meta({
        description:
          'Finer than the status: queued, running and paused are in_progress; stopped is completed; interrupted is failed.',
      }),
    run: z.int().nullable().meta({ description: 'The number of the run; null before it has begun.' }),
    type: z.enum(['initial', 'scheduled', 'manual']).nullable(),
    mode: runMode.nullable(),
    progress: z.number().min(0).max(100).meta({
      description:
        'Percent: pages_crawled of estimated_total. Never falls within a run; 100 only at its end.',
    }),
    pages_crawled: count,
    estimated_total: count,
    waiting: count,
    failed: count,
    skipped: count,
    pages_per_second: z.number().min(0),
    seconds_left: z.number().nullable(),
    started_at: isoTime.nullable(),
    completed_at: isoTime.nullable(),
    message: z.string().meta({ description: 'One sentence for people.' }),
    error: z.strictObject({ code: z.string(), message: z.string() }).nullable(),
    statistics: phaseStatistics.nullable(),
  })
  .meta({ id: 'Phase', description: 'How the crawl of a project stands.' });

/** The schema and the engine mean the same. */
phase satisfies z.ZodType<Phase>;

const META_NAME = /^[A-Za-z0-9_.-]{1,64}$/;

export const runRequest = z
  .strictObject({
    mode: runMode
      .optional()
      .meta({ description: 'full: every page; incremental: what may have changed; smart: decides itself.' }),
    max_pages: z
      .int()
      .min(1)
      .max(1_000_000_000)
      .optional()
      .meta({ description: 'For this run; at most the limit that GET /info tells.' }),
    fetch_only_urls: z
      .array(z.string().min(1).max(2000))
      .min(1)
      .max(1000)
      .nullable()
      .optional()
      .meta({ description: 'These URLs and no others; nothing is discovered.' }),
    fresh: z.boolean().optional().meta({ description: 'Delete the pages of the project first.' }),
    meta: z
      .record(
        z.string().regex(META_NAME, 'expected a name of 1 to 64 letters, digits, dots and hyphens'),
        z.string().max(1000),
      )
      .refine((notes) => Object.keys(notes).length <= 50, 'expected at most 50 notes')
      .optional()
      .meta({ description: 'Notes that are stored with the run.' }),
  })
  .meta({ id: 'RunRequest', description: 'What a run may be told; everything may be left out.' });

export const adjustRequest = z.strictObject({ settings: settingsPatch }).meta({
  id: 'AdjustRequest',
  description: 'New settings for the run under way; they are kept with the project.',
});
