/**
 * Pages of a project as programs get them: a list of chosen fields, or one page whole. Texts and links are read one by one,
 * so that a list brings them only to who asks, and no more of them at once than memory should hold.
 */
import type { ListAnswer } from '../contract/lists.ts';
import type { PageQuery } from '../contract/page-query.ts';
import { type CrawledPage, FIELDS_OF_LISTS, type ListedPage, type PageField } from '../contract/pages.ts';
import { sumiError } from '../errors.ts';
import type { Results } from '../store/list-queries.ts';
import type { PageRow, ProjectRow, ReadSide } from '../store/read-side.ts';
import type { Answering } from './answering.ts';
import { chooseFields, describePage, NO_CONTENT, type PageContent } from './describe-page.ts';
import { listAnswer, type PageOfList, readResults, totalOf } from './list-answer.ts';
import { pageQueryOf } from './page-query.ts';
import { pageNumberOf } from './page-uid.ts';

export interface PagesQuestion extends PageQuery, PageOfList {
  /** Unless said: all but texts and links. */
  fields?: readonly PageField[];
}

type Asked = Pick<Answering, 'side'>;

export async function listPages(
  { side }: Asked,
  project: ProjectRow,
  { limit, cursor, count, fields = FIELDS_OF_LISTS, ...query }: PagesQuestion,
): Promise<ListAnswer<ListedPage>> {
  const wanted = pageQueryOf(query, project.project);
  const read = (most: number | undefined) => readResults(side, 'pages', wanted, { limit: most, cursor });
  const { results, contents } = await readContents(side, fields, await read(limit), read);
  const items = results.rows.map((row) =>
    chooseFields(describePage(row, project.uid, contents.get(row.id) ?? NO_CONTENT), fields),
  );
  return {
    ...listAnswer(items, results),
    ...(await totalOf(side, 'pages', wanted.filter ?? {}, { count, sort: wanted.sort })),
  };
}

/** Characters of texts and links that one answer brings; it has one page at least. */
const MOST_CHARACTERS = 8_000_000;

/** Where texts are too long, fewer pages are answered: they are asked for again, for their own cursors. */
async function readContents(
  side: ReadSide,
  fields: readonly PageField[],
  asked: Results<PageRow>,
  read: (limit: number) => Promise<Results<PageRow>>,
): Promise<{ results: Results<PageRow>; contents: ReadonlyMap<number, PageContent> }> {
  const contents = new Map<number, PageContent>();
  const wants = { text: fields.includes('content_text'), links: fields.includes('links_found') };
  if (!wants.text && !wants.links) return { results: asked, contents };
  let results = asked;
  let left = MOST_CHARACTERS;
  for (const [place, { id }] of asked.rows.entries()) {
    if (left <= 0) {
      results = await read(place);
      break;
    }
    const content = await readContent(side, id, wants);
    contents.set(id, content);
    left -= (content.text?.length ?? 0) + content.links.reduce((sum, url) => sum + url.length, 0);
  }
  for (const { id } of results.rows)
    if (!contents.has(id)) contents.set(id, await readContent(side, id, wants));
  return { results, contents };
}

export async function readContent(
  side: ReadSide,
  id: number,
  wants: { text: boolean; links: boolean },
): Promise<PageContent> {
  return {
    text: wants.text ? await side.pageText(id) : null,
    links: wants.links ? await linksFound(side, id) : [],
  };
}

const LINKS_A_CALL = 1000;
/** Of one page. Pages with more are traps. */
const MOST_LINKS = 20_000;

async function linksFound(side: ReadSide, fromId: number): Promise<string[]> {
  const found: string[] = [];
  let cursor: string | undefined;
  while (found.length < MOST_LINKS) {
    const { rows, next } = await side.list('links', { filter: { fromId }, limit: LINKS_A_CALL, cursor });
    for (const { to_url } of rows) found.push(to_url);
    if (next === null) break;
    cursor = next;
  }
  return found;
}

/** No store gives higher ones. */
const HIGHEST_NUMBER = 2 ** 31 - 1;

/** Null for what can be no page of this project. */
export function pageNumberOfProject({ uid }: Pick<ProjectRow, 'uid'>, pageId: string): number | null {
  const number = pageNumberOf(uid, pageId);
  return number === null || number > HIGHEST_NUMBER ? null : number;
}

/** A page of this project; any other, and what is no UUID, is not there. */
export async function findPage({ side }: Asked, project: ProjectRow, pageId: string): Promise<PageRow> {
  const number = pageNumberOfProject(project, pageId);
  const row = number === null ? null : await side.pageById(number);
  if (row === null || row.project !== project.project)
    throw sumiError('page-unknown', { id: pageId.slice(0, 40) });
  return row;
}

export async function readPage(asked: Asked, project: ProjectRow, pageId: string): Promise<CrawledPage> {
  const row = await findPage(asked, project, pageId);
  const content = await readContent(asked.side, row.id, { text: true, links: true });
  return describePage(row, project.uid, content);
}
