/** One page: its facts, what the site wrote on it, and its text in parts. */
import { z } from 'zod';
import { describePage, NO_CONTENT } from '../../answers/describe-page.ts';
import { findPageByUrl } from '../../answers/find-page-by-url.ts';
import { findPage, readPage } from '../../answers/list-pages.ts';
import { pageUid } from '../../answers/page-uid.ts';
import type { CrawledPage } from '../../contract/pages.ts';
import { sumiError } from '../../errors.ts';
import { type AgentCall, agentTool, projectOf, READS } from '../agent.ts';
import { cleanText } from '../clean-text.ts';
import { fitRow, lengthOf, MOST_CHARACTERS } from '../fit-answer.ts';
import { readOffset, writeOffset } from '../offset-cursor.ts';
import { cursorInput, factsOf, nextCursor, pageFacts, projectId, UNTRUSTED_NOTE } from '../page-facts.ts';

const PARTS = ['text', 'links', 'headers'] as const;
const MOST_LINKS = 200;

const shown = z
  .strictObject({
    ...pageFacts.shape.untrusted.shape,
    text: z
      .string()
      .nullable()
      .describe('The main text, or a part of it; null where none is kept or wanted.'),
    links: z.array(z.string()).nullable().describe('URLs that it links to, at most 200; null unless wanted.'),
    canonical: z.string().nullable(),
    content_type: z.string().nullable(),
    lang: z.string().nullable(),
    etag: z.string().nullable(),
    last_modified: z.string().nullable(),
    cache_control: z.string().nullable(),
  })
  .describe(UNTRUSTED_NOTE);

export const getPageTool = agentTool({
  name: 'get_page',
  title: 'Get a page',
  about: `Answers one page by its page_id or URL: facts, title, and the main text in parts (next_cursor has the next part). ${UNTRUSTED_NOTE}`,
  scope: 'read',
  input: z.strictObject({
    project_id: projectId,
    page_id: z.string().min(1).max(100).optional().describe('From list_pages or search; or give url.'),
    url: z.string().min(1).max(4000).optional().describe('In any spelling.'),
    fields: z
      .array(z.enum(PARTS))
      .max(PARTS.length)
      .optional()
      .describe('What is answered besides the facts; text unless given.'),
    cursor: cursorInput,
  }),
  output: z.strictObject({
    page: z.strictObject({
      ...pageFacts.omit({ untrusted: true }).shape,
      final_url: z.string().nullable(),
      content_length: z.number().nullable(),
      noindex: z.boolean().nullable(),
      changes_detected: z.number(),
      discovered_at: z.string(),
      text_length: z.number().nullable().describe('Characters of the whole text.'),
      links_total: z.number().nullable(),
      untrusted: shown,
    }),
    next_cursor: nextCursor,
  }),
  hints: READS,
  async run({ project_id, page_id, url, fields = ['text'], cursor }, call) {
    const wants = (part: (typeof PARTS)[number]) => fields.includes(part);
    const page = await readOne(call, { project_id, page_id, url }, wants('text') || wants('links'));
    const text = wants('text') && page.content_text !== null ? cleanText(page.content_text) : null;
    const about = [page.id, page.content_hash, text?.length ?? null];
    const offset = cursor === undefined ? 0 : readOffset(cursor, about);
    const { untrusted, ...facts } = factsOf(page);
    const headers = wants('headers');
    const first = {
      ...facts,
      final_url: page.final_url,
      content_length: page.content_length,
      noindex: page.noindex,
      changes_detected: page.changes_detected,
      discovered_at: page.discovered_at,
      text_length: text?.length ?? null,
      links_total: wants('links') ? page.links_found.length : null,
      untrusted: {
        ...untrusted,
        text: text === null ? null : '',
        links: wants('links') ? page.links_found.slice(0, MOST_LINKS) : null,
        canonical: page.canonical,
        content_type: page.content_type,
        lang: page.lang,
        etag: headers ? page.etag : null,
        last_modified: headers ? page.last_modified : null,
        cache_control: headers ? page.cache_control : null,
      },
    };
    const answer = { page: fitRow(first), next_cursor: null as string | null };
    if (text === null) return answer;
    // Room for the cursor itself.
    const part = partThatFits(text, offset, MOST_CHARACTERS - lengthOf(answer) - 300);
    const end = offset + part.length;
    answer.page.untrusted.text = part;
    answer.next_cursor = end < text.length ? writeOffset(end, about) : null;
    return answer;
  },
});

async function readOne(
  call: AgentCall,
  named: { project_id: string; page_id?: string; url?: string },
  withContent: boolean,
): Promise<CrawledPage> {
  const project = await projectOf(call, named.project_id);
  if ((named.page_id === undefined) === (named.url === undefined))
    throw sumiError('request-invalid', {
      reason: 'expected either page_id or url',
      errors: [{ pointer: '/page_id', detail: 'Give either page_id or url.' }],
    });
  const { parts } = call;
  const row =
    named.page_id === undefined
      ? await findPageByUrl(parts, project, String(named.url))
      : await findPage(parts, project, named.page_id);
  return withContent
    ? await readPage(parts, project, pageUid(project.uid, row.id))
    : describePage(row, project.uid, NO_CONTENT);
}

/** As much as fits, which depends on what is in it: a quote takes more characters in JSON than a letter. */
function partThatFits(text: string, offset: number, room: number): string {
  let length = Math.min(text.length - offset, room);
  for (;;) {
    let end = offset + length;
    // No half of a character that takes two units.
    if (end < text.length && /[\ud800-\udbff]/.test(text[end - 1])) end--;
    const part = text.slice(offset, end);
    const taken = lengthOf({ text: part });
    if (taken <= room || part.length <= 1) return part;
    length = Math.max(1, Math.floor((part.length * room) / taken) - 1);
  }
}
