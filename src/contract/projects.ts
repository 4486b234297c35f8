/** A project: a site, how it is crawled, and how that stands. */
import { z } from 'zod';
import { flagParam, isoTime, listParams, orderParam } from './lists.ts';
import { phase } from './phases.ts';
import { Run } from './runs.ts';
import { settings, settingsPatch } from './settings.ts';

/** Trimmed; one line that can be read. */
const projectName = z
  .string()
  .transform((text) => text.trim())
  .pipe(
    z
      .string()
      .min(1, 'expected 1 to 200 characters')
      .max(200, 'expected 1 to 200 characters')
      .refine((text) => !/\p{Cc}/u.test(text), 'expected a name without control characters'),
  )
  .meta({ description: 'Unique among all projects, 1 to 200 characters.' });

export const websiteUrl = z
  .string()
  .min(1)
  .max(2000)
  .meta({ description: 'Where the crawl begins; https:// is put before it where there is no scheme.' });

export const newProject = z
  .strictObject({ name: projectName, website_url: websiteUrl, settings: settingsPatch.optional() })
  .meta({ id: 'NewProject' });

export const projectChange = z
  .strictObject({
    name: projectName.optional(),
    website_url: websiteUrl.optional(),
    settings: settingsPatch.optional(),
  })
  .meta({
    id: 'ProjectChange',
    description: 'What is given is changed; a setting of null goes back to its default.',
  });

const count = z.int().min(0);

export const projectCounts = z
  .strictObject({
    pages: count.meta({ description: 'Known URLs.' }),
    success: count,
    failed: count,
    skipped: count,
    waiting: count,
    is_exact: z.boolean().meta({ description: 'false: there are at least so many.' }),
  })
  .meta({ id: 'ProjectCounts', description: 'Pages of the project by status.' });

export const project = z
  .strictObject({
    id: z.string().meta({ description: 'A UUID.' }),
    name: z.string(),
    website_url: z
      .string()
      .nullable()
      .meta({ description: 'null for a project of a command that began elsewhere.' }),
    settings,
    phase,
    last_run: Run.nullable(),
    next_run_at: isoTime.nullable(),
    counts: projectCounts,
    created_at: isoTime,
    updated_at: isoTime,
    deleted_at: isoTime.nullable(),
  })
  .meta({ id: 'Project' });
export type Project = z.infer<typeof project>;

const PROJECT_SORTS = ['created_at', 'updated_at', 'name'] as const;

export const projectListQuery = z.strictObject({
  q: z.string().min(1).max(200).optional().meta({ description: 'A part of the name or of website_url.' }),
  state: z.enum(['active', 'deleted', 'all']).optional().meta({ description: 'active unless given.' }),
  sort: z.enum(PROJECT_SORTS).optional(),
  order: orderParam.optional(),
  ...listParams,
});

export const deleteQuery = z.strictObject({
  purge: flagParam
    .optional()
    .meta({ description: 'true: everything of it is deleted for good, in the background.' }),
});
