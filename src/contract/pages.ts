/**
 * A page as programs are told of it: the fields of CrawledPage first, then what else the store knows. Names are stable;
 * what a crawl has not learned is null. Texts, titles and URLs are the site's own words and never to be trusted.
 */
import { z } from 'zod';
import { CHANGE_PART_NAMES, DiffPieceSchema, FieldChangeSchema, TextStepSchema } from './changes.ts';
import { listSchema } from './lists.ts';
import { KNOWN_BY_NAMES, PAGE_STATE_NAMES, VISIT_OUTCOME_NAMES } from './words.ts';

export const PAGE_STATUSES = ['success', 'failed', 'skipped'] as const;

export const Uuid = z.string().describe('A UUID.');
export const IsoTime = z.string().describe('ISO 8601, in UTC.');

const count = (about: string) => z.int().min(0).describe(about);

export const CrawledPage = z
  .strictObject({
    id: z.string().describe("The page's UUID (version 8): the same for as long as its project keeps it."),
    project_id: z.string().describe("The project's UUID."),
    url: z.string().describe('The normalized URL: unique in the project.'),
    title: z.string().nullable().describe('Text of the title element, white space folded.'),
    h1: z.string().nullable().describe('Text of the first h1 element, white space folded.'),
    meta_description: z.string().nullable().describe('The first meta description.'),
    content_text: z
      .string()
      .nullable()
      .describe('The main text; null where none is kept. In lists only where `fields` names it.'),
    word_count: z.int().nullable().describe('Words of the main text.'),
    links_found: z
      .array(z.string())
      .describe('URLs that the page links to, each once. In lists only where `fields` names it.'),
    crawled_at: z.string().nullable().describe('When it was visited last; null before the first visit.'),
    status: z
      .enum(PAGE_STATUSES)
      .nullable()
      .describe(
        'success: read. failed: it was wanted and gave no page. skipped: a rule or limit decided against it, or it is not there (404, 410). null: it waits.',
      ),
    error_message: z.string().nullable().describe('Why it is not a success; null where it is, or waits.'),
    state: z.enum(PAGE_STATE_NAMES).describe('Finer than the status.'),
    reason: z.string().nullable().describe('The rule or the answer that decided the state.'),
    status_code: z.int().nullable().describe('HTTP status of the last visit; null where nobody answered.'),
    host: z.string().describe('Host name of the URL.'),
    depth: z.int().nullable().describe('Links from the start; null where no followed link leads to it.'),
    content_type: z.string().nullable().describe('The Content-Type header as sent.'),
    content_length: z.int().nullable().describe('Bytes of the body after decoding.'),
    canonical: z.string().nullable().describe('The canonical URL that the page names.'),
    noindex: z.boolean().nullable().describe('Whether it asks not to be indexed.'),
    nofollow: z.boolean().nullable().describe('Whether it asks that its links are not followed.'),
    lang: z.string().nullable().describe('The lang attribute of the html element.'),
    charset: z.string().nullable().describe('The encoding by which it was read.'),
    change: z.enum(VISIT_OUTCOME_NAMES).nullable().describe('What the last visit found.'),
    change_frequency: z.number().describe('Changes a day, estimated.'),
    changes_detected: count('Changes seen so far.'),
    response_ms: z.number().nullable().describe('Milliseconds from the request to the head of the answer.'),
    fetch_url: z.string().describe('The URL as it is requested.'),
    final_url: z.string().nullable().describe('Where its redirects end; null where it is no redirect.'),
    redirect_count: count('Redirects up to the final URL.'),
    redirect_to: z.string().nullable().describe('The UUID of the page it redirects to.'),
    referrer_id: z.string().nullable().describe('The UUID of the page that led here first.'),
    etag: z.string().nullable().describe('The ETag header of the last answer that had one.'),
    last_modified: z
      .string()
      .nullable()
      .describe('The Last-Modified header of the last answer that had one.'),
    cache_control: z
      .string()
      .nullable()
      .describe('The Cache-Control header of the last answer that had one.'),
    content_hash: z.string().nullable().describe('SHA-256 of the body, in hex.'),
    simhash: z.string().nullable().describe('64-bit simhash of the main text, in hex.'),
    has_body: z.boolean().describe('Whether its bytes were kept: see /body?as=raw.'),
    priority: z.int().describe('Lower is requested first.'),
    attempts: count('Requests that failed and were repeated.'),
    retry_at: z.string().nullable().describe('When a failed request is repeated.'),
    discovered_at: z.string().describe('When the URL was found.'),
    discovered_run: z.int().describe('The run that found it.'),
    visited_run: z.int().nullable().describe('The run that visited it last.'),
    left_run: z.int().nullable().describe('The last run that left it out and kept what was known.'),
    left_reason: z.string().nullable().describe('Why that run left it out.'),
  })
  .meta({
    id: 'CrawledPage',
    description: 'A page: one normalized URL of a project, and what its last visits found.',
  });
export type CrawledPage = z.infer<typeof CrawledPage>;

export type PageField = keyof CrawledPage;
export const PAGE_FIELDS = Object.keys(CrawledPage.shape) as PageField[];

/** Read one by one, and long: in lists only for who asks. */
export const FIELDS_ON_REQUEST = ['content_text', 'links_found'] as const satisfies readonly PageField[];
export const FIELDS_OF_LISTS = PAGE_FIELDS.filter(
  (field) => !(FIELDS_ON_REQUEST as readonly PageField[]).includes(field),
);

export const ListedPage = CrawledPage.partial().meta({
  id: 'ListedPage',
  description:
    'A CrawledPage with the fields that were asked for; unless said, all but content_text and links_found.',
});
export type ListedPage = z.infer<typeof ListedPage>;

/** `a,b`: names of fields, each once. */
export const FieldList = z
  .string()
  .max(2000)
  .transform((text, context) => {
    const names = [...new Set(text.split(',').map((name) => name.trim()))].filter((name) => name !== '');
    const unknown = names.find((name) => !(PAGE_FIELDS as string[]).includes(name));
    if (unknown === undefined && names.length > 0) return names as PageField[];
    context.addIssue({
      code: 'custom',
      message:
        unknown === undefined
          ? `Expected names of fields, separated by commas: ${PAGE_FIELDS.join(', ')}.`
          : `There is no field "${unknown.slice(0, 40)}"; expected some of ${PAGE_FIELDS.join(', ')}.`,
    });
    return z.NEVER;
  })
  .describe(`Fields of the answer, separated by commas: ${PAGE_FIELDS.join(', ')}.`);

export const PageVisit = z
  .strictObject({
    run: z.int(),
    visited_at: IsoTime,
    outcome: z.enum(VISIT_OUTCOME_NAMES),
    known_by: z.enum(KNOWN_BY_NAMES).describe('How the outcome was known, cheapest first.'),
    status_code: z.int().nullable(),
    last_modified: z.string().nullable(),
    content_hash: z.string().nullable(),
    text_hash: z.string().nullable(),
    simhash_distance: z.int().nullable(),
    bytes: z.number(),
    bytes_saved: z.number(),
    duration_ms: z.number().nullable(),
    parts: z.array(z.enum(CHANGE_PART_NAMES)).describe('What changed with this visit.'),
  })
  .meta({ id: 'PageVisit', description: 'One visit of a page, as its history keeps it.' });
export type PageVisit = z.infer<typeof PageVisit>;

export const PageLink = z
  .strictObject({
    direction: z.enum(['out', 'in']).describe('out: it stands on the page. in: it leads to the page.'),
    from_id: Uuid,
    from_url: z.string(),
    to_id: Uuid,
    to_url: z.string(),
    anchor: z.string().nullable().describe('The text of the link; null unless the crawl kept it.'),
    nofollow: z.boolean(),
    rel: z.string().describe('Words of rel that were understood, separated by spaces.'),
    discovered_run: z.int(),
    to_state: z.enum(PAGE_STATE_NAMES).describe('The state of the target.'),
    to_status: z.int().nullable().describe('The HTTP status of the target.'),
  })
  .meta({ id: 'PageLink', description: 'A link between two pages of the project.' });
export type PageLink = z.infer<typeof PageLink>;

export const PAGE_DIFFERENCES = ['changed', 'added', 'removed', 'failed', 'unchanged', 'unvisited'] as const;

export const PageDiff = z
  .strictObject({
    page_id: Uuid,
    url: z.string(),
    from: z.int().describe('The earlier run.'),
    to: z.int().describe('The later run.'),
    difference: z
      .enum(PAGE_DIFFERENCES)
      .nullable()
      .describe('What became of the page between the two runs; null where it existed after neither.'),
    parts: z.array(z.enum(CHANGE_PART_NAMES)),
    fields: z.array(FieldChangeSchema),
    text: z
      .array(DiffPieceSchema)
      .nullable()
      .describe('Pieces of the word diff; null where the text is the same.'),
    words_added: z.int().nullable(),
    words_removed: z.int().nullable(),
    text_steps: z.array(TextStepSchema).describe('Where the words are known step by step only.'),
    links_added: z.array(z.string()),
    links_removed: z.array(z.string()),
  })
  .meta({ id: 'PageDiff', description: 'What differs between a page after one run and after another.' });
export type PageDiff = z.infer<typeof PageDiff>;

export const StoredHeaders = z
  .strictObject({
    url: z.string(),
    status_code: z.int().nullable(),
    visited_at: z.string().nullable(),
    headers: z
      .record(z.string(), z.string())
      .describe('Header fields that the store keeps of the last answers, by lower-case name.'),
  })
  .meta({ id: 'StoredHeaders', description: 'What is kept of the head of the answer.' });
export type StoredHeaders = z.infer<typeof StoredHeaders>;

export const PageList = listSchema(ListedPage).meta({ id: 'PageList' });
export const PageVisitList = listSchema(PageVisit).meta({ id: 'PageVisitList' });
export const PageLinkList = listSchema(PageLink).meta({ id: 'PageLinkList' });
