/** What the routes of one page, and of changes, take. */
import { z } from 'zod';
import { CHANGE_PART_NAMES, RUN_DIFFERENCE_NAMES } from './changes.ts';
import { flagParam, integerParam, listParams, projectParams } from './lists.ts';
import { pageListParams } from './page-query.ts';
import { FieldList } from './pages.ts';
import { RUN_STATES } from './runs.ts';
import { GRAPH_SUBJECTS, MOST_NODES } from './site.ts';
import { PAGE_STATE_NAMES, VISIT_OUTCOME_NAMES } from './words.ts';

/** The highest number of a run. */
const MOST_RUN = 2 ** 31 - 1;
const LATEST_MS = 8_640_000_000_000_000;

export const pageParams = projectParams.extend({
  pageId: z.string().meta({ description: 'The UUID of the page.' }),
});
export const runParams = projectParams.extend({
  run: z.string().meta({ description: 'The number of the run.' }),
});
export const viewParams = projectParams.extend({
  viewId: z.string().meta({ description: 'The UUID of the view.' }),
});

/** `a,b`: some of these names, each once. */
export function someOf<const Name extends string>(names: readonly Name[], about: string) {
  return z
    .string()
    .max(1000)
    .transform((text, context) => {
      const given = [...new Set(text.split(',').map((name) => name.trim()))];
      const unknown = given.find((name) => !(names as readonly string[]).includes(name));
      if (unknown === undefined) return given as Name[];
      const message = `There is no "${unknown.slice(0, 40)}"; expected some of ${names.join(', ')}.`;
      context.addIssue({ code: 'custom', message });
      return z.NEVER;
    })
    .meta({ description: `${about} Some of ${names.join(', ')}, separated by commas.` });
}

export const runParam = integerParam(1, MOST_RUN);

/** A time with a date at least; `last`; the number of a run. */
const TIME = /^\d{4}-\d{2}-\d{2}(?:T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(?:Z|[+-]\d{2}:\d{2})?)?$/;

export const sinceParam = z
  .string()
  .max(40)
  .transform((text, context) => {
    if (text === 'last') return { last: true as const };
    if (/^\d{1,10}$/.test(text) && Number(text) >= 1 && Number(text) <= MOST_RUN)
      return { run: Number(text) };
    const isDay = text.length === 10;
    const isZoned = isDay || /(?:Z|[+-]\d{2}:\d{2})$/.test(text);
    const at = TIME.test(text) ? Date.parse(isZoned ? text : `${text}Z`) : Number.NaN;
    if (Math.abs(at) <= LATEST_MS) return { sinceMs: at };
    const message = 'Expected last, the number of a run, or a time such as 2026-02-03T10:00:00Z.';
    context.addIssue({ code: 'custom', message });
    return z.NEVER;
  })
  .meta({
    description:
      'last (unless said): the last run; a number: all runs after that one; ISO 8601: all visits since then.',
  });

export const pageListQuery = z.strictObject({ ...pageListParams, fields: FieldList.optional() });
export const plainListQuery = z.strictObject(listParams);
export const noQuery = z.strictObject({});

export const pageLinksQuery = z.strictObject({
  ...listParams,
  direction: z.enum(['in', 'out']).optional().meta({
    description: 'out (unless said): links that stand on the page; in: links that lead to it.',
  }),
});

export const pageDiffQuery = z.strictObject({
  from: runParam.optional().meta({ description: 'A run; unless said, the one that visited it before `to`.' }),
  to: runParam.optional().meta({ description: 'A run; unless said, the one that visited it last.' }),
});

export const pageBodyQuery = z.strictObject({
  as: z.enum(['raw', 'text', 'headers']).optional().meta({
    description:
      'text (unless said): the stored main text. raw: the bytes as a file. headers: what is kept of them.',
  }),
});

export const runListQuery = z.strictObject({
  ...listParams,
  state: someOf(RUN_STATES, 'How the run stands or ended.').optional(),
});

export const changeParams = {
  outcome: someOf(VISIT_OUTCOME_NAMES, 'Unless said: changed, new, gone.').optional(),
  part: someOf(CHANGE_PART_NAMES, 'Only where one of these changed.').optional(),
};

export const changesQuery = z.strictObject({
  ...listParams,
  ...changeParams,
  since: sinceParam.optional(),
  format: z.enum(['json', 'atom']).optional(),
});

export const runChangesQuery = z.strictObject({ ...listParams, ...changeParams });

export const compareQuery = z.strictObject({
  ...listParams,
  from: runParam,
  to: runParam,
  outcome: someOf(RUN_DIFFERENCE_NAMES, 'Unless said: all of them.').optional(),
  part: changeParams.part,
});

const classesParam = someOf(['1xx', '2xx', '3xx', '4xx', '5xx'], 'Class of the HTTP status of the target.');

export const linkFilterParams = {
  to_state: someOf(PAGE_STATE_NAMES, 'State of the target.').optional(),
  to_status: classesParam.optional(),
  broken: flagParam.optional().meta({
    description: 'true: links to what is not there or failed, on pages that are there themselves.',
  }),
};

export const linksQuery = z.strictObject({
  ...listParams,
  ...linkFilterParams,
  from: z.string().max(100).optional().meta({ description: 'The UUID of the page they stand on.' }),
  to: z.string().max(100).optional().meta({ description: 'The UUID of the page they lead to.' }),
});

export const graphQuery = z.strictObject({
  of: z.enum(GRAPH_SUBJECTS).optional(),
  most: integerParam(1, MOST_NODES).optional().meta({ description: 'Nodes at most; 300 unless given.' }),
});

export const auditQuery = z.strictObject({
  run: runParam.optional().meta({ description: 'Unless said: all runs of the project.' }),
});

export const whyQuery = z.strictObject({
  url: z.string().min(1).max(8000).meta({ description: 'In any spelling; the scheme may be left out.' }),
});
