/** Pages of a project, filtered and sorted as over REST. */
import { z } from 'zod';
import { listPages } from '../../answers/list-pages.ts';
import { PAGE_SORTS, PageQuery } from '../../contract/page-query.ts';
import { agentTool, projectOf, READS } from '../agent.ts';
import { checkedWith } from '../check-input.ts';
import { fitList } from '../fit-answer.ts';
import {
  cursorInput,
  factsOf,
  limitInput,
  nextCursor,
  pageFacts,
  projectId,
  UNTRUSTED_NOTE,
} from '../page-facts.ts';

const text = (about: string) => z.string().min(1).max(4000).optional().describe(about);

const filters = {
  status: text('Some of success, failed, skipped, separated by commas.'),
  state: text(
    'Finer than the status, as Processed, DeadLink, Gone, Skipped, Failed, Queued; separated by commas.',
  ),
  status_code: text('HTTP status: codes and classes, as 404,5xx.'),
  host: text('Host names, separated by commas.'),
  section: text('First segments of the path: /docs is /docs itself and what is below it.'),
  depth: text('Links from the start: 2, 1-3, 2- or -3.'),
  change: text('What the last visit found: some of new, changed, unchanged, gone, failed.'),
  reason: text('How the reason begins, as robots or exclude.'),
  noindex: z.boolean().optional().describe('Whether the page asks not to be indexed.'),
  content_type: text('Media types, as text/html, separated by commas.'),
  q: text('A part of the URL; with full text also words of title and text. The tool search is for words.'),
  sort: z.enum(PAGE_SORTS).optional().describe('Unless given: the order of discovery.'),
  order: z.enum(['asc', 'desc']).optional(),
};

export const listPagesTool = agentTool({
  name: 'list_pages',
  title: 'List pages',
  about: `Lists the pages (URLs) of a project with status, state and the reason for it. ${UNTRUSTED_NOTE}`,
  scope: 'read',
  input: z.strictObject({ project_id: projectId, ...filters, limit: limitInput, cursor: cursorInput }),
  output: z.strictObject({ pages: z.array(pageFacts), next_cursor: nextCursor }),
  hints: READS,
  async run({ project_id, limit, cursor, noindex, ...given }, call) {
    const project = await projectOf(call, project_id);
    const query = checkedWith(PageQuery, {
      ...given,
      ...(noindex !== undefined && { noindex: String(noindex) }),
    });
    const { items, next_cursor } = await fitList({
      limit,
      read: (most) => listPages(call.parts, project, { ...query, limit: most, cursor }),
      toRow: factsOf,
    });
    return { pages: items, next_cursor };
  },
});
