/** What changed, as programs are told: the rows of `sumi changes --format json` with the UUID of the page. */
import { z } from 'zod';
import type { ChangePart } from '../change/visit-record.ts';
import { listSchema } from './lists.ts';
import { KNOWN_BY_NAMES, VISIT_OUTCOME_NAMES } from './words.ts';

const PARTS: Record<ChangePart, true> = {
  ...{ status: true, title: true, h1: true, description: true, canonical: true, robots: true, links: true },
  ...{ 'structured-data': true, text: true, redirect: true, template: true, type: true },
};
export const CHANGE_PART_NAMES = Object.keys(PARTS) as unknown as readonly [ChangePart, ...ChangePart[]];

export const RUN_DIFFERENCE_NAMES = ['changed', 'added', 'removed', 'failed'] as const;

export const FieldChangeSchema = z
  .strictObject({
    name: z.enum(CHANGE_PART_NAMES),
    before: z.string().nullable(),
    after: z.string().nullable(),
  })
  .meta({ id: 'FieldChange', description: 'A single value before and after; long ones are cut.' });

export const DiffPieceSchema = z
  .array(z.string())
  .length(2)
  .meta({ id: 'DiffPiece', description: 'A kind and words: = kept, - removed, + added.' });

export const TextStepSchema = z
  .strictObject({
    run: z.int(),
    text: z.array(DiffPieceSchema).nullable(),
    words_added: z.int(),
    words_removed: z.int(),
  })
  .meta({ id: 'TextStep', description: 'The words that one run found changed.' });

const shared = {
  page_id: z.string().describe('The UUID of the page.'),
  url: z.string(),
  known_by: z.enum(KNOWN_BY_NAMES),
  parts: z.array(z.enum(CHANGE_PART_NAMES)),
  fields: z.array(FieldChangeSchema),
  links_added: z.array(z.string()),
  links_removed: z.array(z.string()),
  text: z.array(DiffPieceSchema).nullable(),
  words_added: z.int().nullable(),
  words_removed: z.int().nullable(),
  text_steps: z.array(TextStepSchema),
  status_code: z.int().nullable(),
  title: z.string().nullable(),
  visited_at: z.string(),
  run: z.int(),
  last_modified: z.string().nullable(),
  content_hash: z.string().nullable(),
  text_hash: z.string().nullable(),
  simhash_distance: z.int().nullable(),
  bytes: z.number(),
  bytes_saved: z.number(),
  duration_ms: z.number().nullable(),
};

export const ChangeSchema = z
  .strictObject({ outcome: z.enum(VISIT_OUTCOME_NAMES), ...shared })
  .meta({ id: 'Change', description: 'What became of a page: of several runs, what they come to.' });
export type Change = z.infer<typeof ChangeSchema>;

export const DifferenceSchema = z
  .strictObject({ outcome: z.enum(RUN_DIFFERENCE_NAMES), ...shared })
  .meta({ id: 'Difference', description: 'A page that differs between two runs.' });
export type Difference = z.infer<typeof DifferenceSchema>;

export const DifferenceCounts = z
  .strictObject({
    changed: z.int(),
    added: z.int(),
    removed: z.int(),
    failed: z.int(),
    unchanged: z.int(),
    unvisited: z.int(),
  })
  .meta({ id: 'DifferenceCounts', description: 'Pages by what became of them between two runs.' });

export const ChangeList = listSchema(ChangeSchema).meta({ id: 'ChangeList' });

export const ComparedList = listSchema(DifferenceSchema)
  .extend({
    from: z.int().describe('The earlier run.'),
    to: z.int().describe('The later run.'),
    counts: DifferenceCounts.nullable().describe('null where too many visits would have to be read.'),
  })
  .meta({ id: 'ComparedList', description: 'The pages that differ between two runs.' });
export type ComparedList = z.infer<typeof ComparedList>;
