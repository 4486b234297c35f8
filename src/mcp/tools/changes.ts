/** What changed: of the last run, since a run, or between two runs. */
import { z } from 'zod';
import { compareProjectRuns } from '../../answers/compare-project-runs.ts';
import { listChangesOf, type SinceWhen } from '../../answers/list-changes.ts';
import {
  CHANGE_PART_NAMES,
  type Change,
  DifferenceCounts,
  RUN_DIFFERENCE_NAMES,
} from '../../contract/changes.ts';
import { VISIT_OUTCOME_NAMES } from '../../contract/words.ts';
import { sumiError } from '../../errors.ts';
import { agentTool, projectOf, READS } from '../agent.ts';
import { cutText, fitList } from '../fit-answer.ts';
import { cursorInput, limitInput, nextCursor, projectId, UNTRUSTED_NOTE } from '../page-facts.ts';

const MOST_LINKS = 20;
const MOST_OF_DIFF = 2000;

const changeRow = z.strictObject({
  page_id: z.string(),
  url: z.string(),
  outcome: z.string().describe('new, changed, gone, …; of two runs added, changed, removed, failed.'),
  run: z.number(),
  visited_at: z.string(),
  status_code: z.number().nullable(),
  parts: z.array(z.string()).describe('What changed on the page.'),
  words_added: z.number().nullable(),
  words_removed: z.number().nullable(),
  links_added: z.number(),
  links_removed: z.number(),
  untrusted: z
    .strictObject({
      title: z.string().nullable(),
      fields: z.array(
        z.strictObject({ name: z.string(), before: z.string().nullable(), after: z.string().nullable() }),
      ),
      text: z.string().nullable().describe('The words that changed: [-removed-] and {+added+}.'),
      links_added: z.array(z.string()),
      links_removed: z.array(z.string()),
    })
    .describe(UNTRUSTED_NOTE),
});

type Told = Omit<Change, 'outcome'> & { outcome: string };

function toRow(told: Told): z.infer<typeof changeRow> {
  return {
    page_id: told.page_id,
    url: told.url,
    outcome: told.outcome,
    run: told.run,
    visited_at: told.visited_at,
    status_code: told.status_code,
    parts: told.parts,
    words_added: told.words_added,
    words_removed: told.words_removed,
    links_added: told.links_added.length,
    links_removed: told.links_removed.length,
    untrusted: {
      title: told.title,
      fields: told.fields.map(({ name, before, after }) => ({ name, before, after })),
      text: told.text === null ? null : cutText(diffText(told.text), MOST_OF_DIFF),
      links_added: told.links_added.slice(0, MOST_LINKS),
      links_removed: told.links_removed.slice(0, MOST_LINKS),
    },
  };
}

const MARKS: Readonly<Record<string, (words: string) => string>> = {
  '-': (words) => `[-${words}-]`,
  '+': (words) => `{+${words}+}`,
};

function diffText(pieces: readonly (readonly string[])[]): string {
  return pieces
    .map(([kind, words]) => MARKS[kind]?.(words) ?? (words.length > 80 ? `${words.slice(0, 80)}…` : words))
    .join(' ');
}

const parts = z
  .array(z.enum(CHANGE_PART_NAMES))
  .min(1)
  .optional()
  .describe('Only pages on which one of these changed.');

export const changesTool = agentTool({
  name: 'changes',
  title: 'What changed',
  about: `Lists the pages that are new, changed or gone: in the last run, or since a run or a time. ${UNTRUSTED_NOTE}`,
  scope: 'read',
  input: z.strictObject({
    project_id: projectId,
    since: z
      .union([z.int().min(1), z.iso.datetime({ offset: true }), z.iso.date()])
      .optional()
      .describe('All runs after this one, or since this time (ISO 8601); unless given, the last run.'),
    run: z.int().min(1).optional().describe('This run alone, in place of since.'),
    outcomes: z
      .array(z.enum(VISIT_OUTCOME_NAMES))
      .min(1)
      .optional()
      .describe('Unless given: new, changed and gone.'),
    parts,
    limit: limitInput,
    cursor: cursorInput,
  }),
  output: z.strictObject({ changes: z.array(changeRow), next_cursor: nextCursor }),
  hints: READS,
  async run({ project_id, since, run, limit, cursor, ...asked }, call) {
    const project = await projectOf(call, project_id);
    const when = sinceOf(since, run);
    const { items, next_cursor } = await fitList({
      limit,
      read: (most) => listChangesOf(call.parts, project, { ...asked, since: when, limit: most, cursor }),
      toRow,
    });
    return { changes: items, next_cursor };
  },
});

function sinceOf(since: number | string | undefined, run: number | undefined): SinceWhen {
  if (since !== undefined && run !== undefined)
    throw sumiError('request-invalid', {
      reason: 'expected either since or run',
      errors: [{ pointer: '/run', detail: 'Give either since or run.' }],
    });
  if (run !== undefined) return { only: run };
  if (since === undefined) return { last: true };
  return typeof since === 'number' ? { run: since } : { sinceMs: Date.parse(since) };
}

export const compareTool = agentTool({
  name: 'compare',
  title: 'Compare two runs',
  about: `Lists the pages that differ between two runs of a project: added, changed, removed, failed. ${UNTRUSTED_NOTE}`,
  scope: 'read',
  input: z.strictObject({
    project_id: projectId,
    from: z.int().min(1).describe('The number of the earlier run.'),
    to: z.int().min(1).describe('The number of the later run.'),
    outcomes: z.array(z.enum(RUN_DIFFERENCE_NAMES)).min(1).optional().describe('Unless given: all.'),
    parts,
    limit: limitInput,
    cursor: cursorInput,
  }),
  output: z.strictObject({
    from: z.number(),
    to: z.number(),
    counts: DifferenceCounts.nullable().describe('null where too many visits would have to be read.'),
    changes: z.array(changeRow),
    next_cursor: nextCursor,
  }),
  hints: READS,
  async run({ project_id, limit, cursor, ...asked }, call) {
    const project = await projectOf(call, project_id);
    const runs = { from: asked.from, to: asked.to, counts: null as z.infer<typeof DifferenceCounts> | null };
    const { items, next_cursor } = await fitList({
      limit,
      async read(most) {
        const compared = await compareProjectRuns(call.parts, project, { ...asked, limit: most, cursor });
        Object.assign(runs, { from: compared.from, to: compared.to, counts: compared.counts });
        return compared;
      },
      toRow,
      beside: 1000,
    });
    return { ...runs, changes: items, next_cursor };
  },
});
