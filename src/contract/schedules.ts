/** The schedule of a project: when it is crawled by itself. */
import { z } from 'zod';

const SCHEDULE_KINDS = ['daily', 'weekly', 'monthly', 'cron', 'continuous'] as const;

const significant = z
  .strictObject({
    new_pages: z.int().min(0).max(1_000_000_000).default(5),
    changed_percent: z.number().min(0).max(100).default(10),
  })
  .meta({
    id: 'Significant',
    description:
      'From how many new pages on, or percent of changed ones among known ones, a run is significant.',
  });

const fields = {
  enabled: z.boolean().meta({ description: 'false: it is kept, and nothing begins.' }),
  kind: z.enum(SCHEDULE_KINDS).meta({
    description: 'continuous: pages are visited again when they have probably changed, within `budget`.',
  }),
  day_of_week: z.int().min(0).max(6).nullable().meta({ description: 'weekly only; 0 is Sunday.' }),
  day_of_month: z.int().min(1).max(28).nullable().meta({ description: 'monthly only.' }),
  time: z
    .string()
    .max(5)
    .nullable()
    .meta({ description: 'HH:MM in `timezone`; daily, weekly and monthly.', examples: ['03:30'] }),
  cron: z
    .string()
    .max(200)
    .nullable()
    .meta({ description: 'Five fields; kind cron only.', examples: ['30 3 * * mon-fri'] }),
  timezone: z.string().max(100).meta({ description: 'An IANA name, such as Europe/Berlin.' }),
  budget: z.string().max(50).nullable().meta({
    description:
      'Visits a period, such as 500/day; continuous only. null: as the settings of the project say.',
  }),
  mode: z
    .enum(['full', 'incremental', 'smart'])
    .nullable()
    .meta({ description: 'null: as the settings of the project say. A continuous schedule has none.' }),
  notify_on_changes: z
    .boolean()
    .meta({ description: 'true: webhooks hear of significant runs (crawl.significant).' }),
  significant,
};

/** What is left out has its default: a PUT says all. */
export const ScheduleChange = z
  .strictObject({
    enabled: fields.enabled.default(true),
    kind: fields.kind,
    day_of_week: fields.day_of_week.default(null),
    day_of_month: fields.day_of_month.default(null),
    time: fields.time.default(null),
    cron: fields.cron.default(null),
    timezone: fields.timezone.default('UTC'),
    budget: fields.budget.default(null),
    mode: fields.mode.default(null),
    notify_on_changes: fields.notify_on_changes.default(false),
    significant: significant.default({ new_pages: 5, changed_percent: 10 }),
  })
  .meta({ id: 'ScheduleChange', description: 'All of it is replaced; what is left out has its default.' });

export const Schedule = z
  .strictObject({
    ...fields,
    significant: z
      .strictObject({ new_pages: z.int(), changed_percent: z.number() })
      .meta({ description: 'As in ScheduleChange.' }),
    project_id: z.string(),
    next_runs: z
      .array(z.string())
      .meta({ description: 'The next five begins, ISO 8601 in UTC; none where it is off or continuous.' }),
    last_run_at: z.string().nullable().meta({ description: 'When it last began a run.' }),
    updated_at: z.string().nullable().meta({ description: 'null where none was ever set.' }),
    version: z.int(),
  })
  .meta({ id: 'Schedule', description: 'When the project is crawled by itself.' });
