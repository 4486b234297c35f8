/**
 * The query parameters that choose pages: the same for the list of pages, for facets, the tree and the export. Lists of
 * values are separated by commas, and any of them fits; a page has to fit all parameters that are given.
 */
import { z } from 'zod';
import { flagParam, listParams, orderParam } from './lists.ts';
import { PAGE_STATUSES } from './pages.ts';
import { PAGE_STATE_NAMES, VISIT_OUTCOME_NAMES } from './words.ts';

/** Values of one parameter, at most. */
const MOST_VALUES = 100;
const DEEPEST = 65_534;

export const PAGE_SORTS = [
  'id',
  'visited_at',
  'status_code',
  'depth',
  'word_count',
  'response_ms',
  'content_length',
  'change_frequency',
] as const;

const listOf = (text: string) => [...new Set(text.split(',').map((value) => value.trim()))];

/** `a,b`: some of these names. */
function namesParam<const Name extends string>(names: readonly Name[], about: string) {
  return z
    .string()
    .max(1000)
    .transform((text, context) => {
      const given = listOf(text);
      const unknown = given.find((name) => !(names as readonly string[]).includes(name));
      if (unknown === undefined) return given as Name[];
      const message = `There is no "${unknown.slice(0, 40)}"; expected some of ${names.join(', ')}.`;
      context.addIssue({ code: 'custom', message });
      return z.NEVER;
    })
    .meta({ description: `${about} Some of ${names.join(', ')}, separated by commas.` });
}

const CODE = /^[1-9][0-9]{2}$/;
const CLASS = /^[1-5]xx$/;

const statusCodesParam = z
  .string()
  .max(1000)
  .transform((text, context) => {
    const given = listOf(text);
    const wrong = given.find((value) => !CODE.test(value) && !CLASS.test(value));
    if (wrong === undefined && given.length <= MOST_VALUES)
      return {
        codes: given.filter((value) => CODE.test(value)).map(Number),
        classes: given
          .filter((value) => CLASS.test(value))
          .map((value) => Number(value[0]) as 1 | 2 | 3 | 4 | 5),
      };
    const message = `Expected HTTP status codes or classes such as 404,5xx; found "${(wrong ?? text).slice(0, 40)}".`;
    context.addIssue({ code: 'custom', message });
    return z.NEVER;
  })
  .meta({ description: 'HTTP status of the last visit: codes and classes, as 404,5xx.' });

const depthParam = z
  .string()
  .regex(/^(?:\d{1,5}|\d{1,5}-\d{0,5}|-\d{1,5})$/, 'Expected a depth as 2, or a range as 1-3, 2- or -3.')
  .transform((text, context) => {
    const [least, most = least] = text.split('-');
    const range = { least: least === '' ? 0 : Number(least), most: most === '' ? DEEPEST : Number(most) };
    if (range.least <= range.most && range.most <= DEEPEST) return range;
    context.addIssue({ code: 'custom', message: `Expected a depth from 0 to ${DEEPEST}, the least first.` });
    return z.NEVER;
  })
  .meta({ description: 'Links from the start: 2 is exact, 1-3, 2- and -3 are ranges, both ends included.' });

const someText = (longest: number) =>
  z
    .string()
    .min(1)
    .max(longest)
    .refine((text) => !text.includes('\0'), 'Expected a text without NUL.');

const hostsParam = someText(4000)
  .transform((text) => listOf(text).map((host) => host.toLowerCase()))
  .refine(
    (hosts) => hosts.length <= MOST_VALUES && !hosts.includes(''),
    'Expected hosts, separated by commas.',
  )
  .meta({ description: 'Host names, separated by commas; NAME is all ports, NAME:PORT one.' });

/** What pages can be filtered by. */
export const pageFilterParams = {
  status: namesParam(
    PAGE_STATUSES,
    'success: read. skipped: decided against, or not there. failed: wanted, and gave no page. Waiting pages have none.',
  ).optional(),
  state: namesParam(PAGE_STATE_NAMES, 'Finer than the status.').optional(),
  status_code: statusCodesParam.optional(),
  host: hostsParam.optional(),
  section: someText(2000).optional().meta({
    description: 'First segments of the path: /docs is /docs itself and what is below it.',
  }),
  depth: depthParam.optional(),
  change: namesParam(VISIT_OUTCOME_NAMES, 'What the last visit found.').optional(),
  reason: someText(500).optional().meta({
    description: 'How the reason begins: robots, or robots: Disallow /private/.',
  }),
  noindex: flagParam.optional().meta({ description: 'Whether the page asks not to be indexed.' }),
  content_type: someText(1000)
    .transform((text) => listOf(text.toLowerCase()))
    .optional()
    .meta({ description: 'Media types without parameters, as text/html, separated by commas.' }),
  q: someText(500).optional().meta({
    description:
      'A part of the URL, small and capital letters being equal; once the project has full text, also pages whose title and text have all of the words.',
  }),
};

/** Filters, sort and order. */
export const pageQueryParams = {
  ...pageFilterParams,
  sort: z.enum(PAGE_SORTS).optional().meta({
    description:
      'Unless said: id, the order of discovery. Other sorts list the pages that have a value there.',
  }),
  order: orderParam.optional().meta({
    description: 'Unless said: asc for id, status_code, depth and word_count, else desc.',
  }),
};

export const PageFilterQuery = z.strictObject(pageFilterParams);
export type PageFilterQuery = z.infer<typeof PageFilterQuery>;

/** Without limit, cursor and count: for whoever reads all of them, as the export. */
export const PageQuery = z.strictObject(pageQueryParams);
export type PageQuery = z.infer<typeof PageQuery>;

/** All that `GET pages` takes but `fields`: spread `pageListParams` to add it. */
export const pageListParams = { ...pageQueryParams, ...listParams };
