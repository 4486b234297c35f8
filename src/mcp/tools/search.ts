/** Pages by words of title, text and URL, with the place in the text where they stand. */
import { z } from 'zod';
import { listPages } from '../../answers/list-pages.ts';
import { pageNumberOf } from '../../answers/page-uid.ts';
import { agentTool, projectOf, READS } from '../agent.ts';
import { cleanText } from '../clean-text.ts';
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

const AROUND = 150;

const found = z.strictObject({
  ...pageFacts.shape,
  untrusted: pageFacts.shape.untrusted.extend({
    excerpt: z
      .string()
      .nullable()
      .describe('The text around the first of the words; null where it has none.'),
  }),
});

export const searchTool = agentTool({
  name: 'search',
  title: 'Search pages',
  about: `Finds pages whose title, text or URL has the words. Text is searched once the project has full text, which is built at the end of a run. ${UNTRUSTED_NOTE}`,
  scope: 'read',
  input: z.strictObject({
    project_id: projectId,
    query: z.string().min(1).max(500).describe('Words (all of them), or a part of a URL.'),
    limit: limitInput,
    cursor: cursorInput,
  }),
  output: z.strictObject({ pages: z.array(found), next_cursor: nextCursor }),
  hints: READS,
  async run({ project_id, query, limit, cursor }, call) {
    const project = await projectOf(call, project_id);
    const { side } = call.parts;
    const words = query.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
    const { items, next_cursor } = await fitList({
      limit,
      read: (most) => listPages(call.parts, project, { q: query, limit: most, cursor }),
      async toRow(page) {
        const { untrusted, ...facts } = factsOf(page);
        const number = pageNumberOf(project.uid, facts.page_id);
        const text = number === null || words.length === 0 ? null : await side.pageText(number);
        return {
          ...facts,
          untrusted: { ...untrusted, excerpt: text === null ? null : excerptOf(text, words) },
        };
      },
    });
    return { pages: items, next_cursor };
  },
});

function excerptOf(text: string, words: readonly string[]): string | null {
  const lower = text.toLowerCase();
  const places = words.map((word) => lower.indexOf(word)).filter((place) => place !== -1);
  if (places.length === 0) return null;
  const at = Math.min(...places);
  const from = Math.max(0, at - AROUND);
  const part = cleanText(text.slice(from, at + AROUND))
    .replace(/\s+/g, ' ')
    .trim();
  return `${from > 0 ? '…' : ''}${part}${at + AROUND < text.length ? '…' : ''}`;
}
