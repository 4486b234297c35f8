/** Counts of pages: by value, and by folder. Each number is what the list of pages counts with the filter that is named. */
import { z } from 'zod';
import { pageFilterParams } from './page-query.ts';

export const FACETS = [
  ...(['status', 'state', 'status_code', 'host', 'section', 'depth', 'change', 'reason', 'noindex'] as const),
  'content_type',
] as const;

const count = (about: string) => z.int().min(0).meta({ description: about });

const honesty = {
  total_is_exact: z.boolean().meta({
    description:
      'false: counting ended at 20,000 pages, or the numbers are those kept at the end of a run that is not the last.',
  }),
  as_of_run: z.int().nullable().meta({
    description: 'The run at whose end the numbers were kept; null: they were counted just now.',
  }),
};

export const FacetQuery = z.strictObject({
  ...pageFilterParams,
  by: z
    .enum(FACETS)
    .meta({ description: 'What to count by; each value is one that the filter of this name takes.' }),
});
export type FacetQuery = z.infer<typeof FacetQuery>;

export const FacetValue = z
  .strictObject({
    value: z.string().meta({ description: 'As the filter takes it. Sections and reasons are beginnings.' }),
    count: count('Pages that have it.'),
  })
  .meta({ id: 'FacetValue', description: 'A value and how many pages have it.' });

export const FacetCounts = z
  .strictObject({
    items: z.array(FacetValue).meta({ description: 'Most pages first; at most 1000.' }),
    total: count('Pages that fit the filter, with such a value or without.'),
    ...honesty,
  })
  .meta({ id: 'FacetCounts', description: 'How many pages have each value.' });
export type FacetCounts = z.infer<typeof FacetCounts>;

const { section: _, ...filterParams } = pageFilterParams;

/** `path` names the folder: there is no `section` beside it. */
export const TreeQuery = z.strictObject({
  ...filterParams,
  path: z
    .string()
    .max(2000)
    .refine((text) => !text.includes('\0'), 'Expected a path without NUL.')
    .optional()
    .meta({ description: 'The folder, as /docs/api. Unless said: all pages.' }),
});
export type TreeQuery = z.infer<typeof TreeQuery>;

export const FolderNode = z
  .strictObject({
    path: z.string().meta({ description: 'As the filter `section` takes it; / is all pages.' }),
    name: z.string().meta({ description: 'The last segment of the path.' }),
    pages: count('Pages in it and below.'),
    success: count('Of these, those that were read.'),
    failed: count('Those that were wanted and gave no page.'),
    skipped: count('Those that a rule decided against, or that are not there.'),
    waiting: count('Those that wait.'),
    errors: count('Those that are broken, or were refused for asking too often.'),
    changed: count('Those whose last visit found a change.'),
    words: count('Words of their main texts.'),
    mean_response_ms: z
      .number()
      .nullable()
      .meta({ description: 'Of the pages that answered; null where none did.' }),
  })
  .meta({ id: 'FolderNode', description: 'A folder of paths, and its pages in numbers.' });
export type FolderNode = z.infer<typeof FolderNode>;

export const FolderTree = z
  .strictObject({
    ...FolderNode.shape,
    pages_in: count('Pages directly in it: those that are in none of its folders.'),
    items: z.array(FolderNode).meta({ description: 'Its folders, most pages first; at most 1000.' }),
    ...honesty,
  })
  .meta({ id: 'FolderTree', description: 'A folder with the folders in it.' });
export type FolderTree = z.infer<typeof FolderTree>;
