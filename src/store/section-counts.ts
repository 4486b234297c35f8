/**
 * Counts of a project's pages by value and by folder, made in one pass over its pages. A folder is the beginning of a path
 * with some page below it; a page whose path is that of a folder belongs to it, as `section` has it.
 *
 * Memory: the values and folders, at most MOST_FOLDERS of these, and eight bytes a page. Where a project has more folders,
 * those that lie deepest are left out, and `deepest` says so.
 */
import { CRAWLED_PAGES_STATUS, ERROR_STATES } from '../frontier/counting-words.ts';
import { type PageState, type PageStateCode, pageStateName } from '../frontier/page-state.ts';
import { type FacetName, type FolderCounts, NO_COUNTS } from './facet-names.ts';
import { NO_DEPTH } from './settlement.ts';

/** What a page is counted by, as both stores give it. */
export type CountedPage = readonly [
  id: number,
  url: string,
  host: string,
  state: PageStateCode,
  depth: number,
  reason: string | null,
  statusCode: number | null,
  change: string | null,
  noindex: number | null,
  contentType: string | null,
  wordCount: number | null,
  responseMs: number | null,
];
export const COUNTED_COLUMNS = `u.id, u.url, h.name, u.state, u.depth, u.reason, f.status_code, f.change, f.noindex,
  f.content_type, f.word_count, f.response_ms`;

const MOST_FOLDERS = 100_000;
const DEEPEST = 12;
const ERRORS: ReadonlySet<PageState> = new Set(ERROR_STATES);

export const isDenied = (reason: string | null) => reason?.startsWith('robots:') === true;

/** The rule's first words: up to the colon, else the first one. */
export function ruleOf(reason: string): string {
  const colon = reason.indexOf(':');
  if (colon >= 0) return reason.slice(0, colon + 1);
  const space = reason.indexOf(' ');
  return space < 0 ? reason : reason.slice(0, space);
}

/** The path of a URL, without its query. */
export function pathOf(url: string): string {
  const host = url.indexOf('//') + 2;
  const from = url.indexOf('/', host);
  if (from < 0) return '';
  const query = url.indexOf('?', from);
  return query < 0 ? url.slice(from) : url.slice(from, query);
}

/** Hash of a text, 32 bits: equal ones are told apart by the text itself. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  return hash;
}

export interface SectionCounter {
  add(page: CountedPage): void;
  /** Ids of pages that may be a folder's own; give them to `addOwn`. */
  ownPages(): number[];
  addOwn(page: CountedPage): void;
  readonly values: ReadonlyMap<FacetName, ReadonlyMap<string, number>>;
  readonly folders: ReadonlyMap<string, FolderCounts>;
  /** Folders have at most so many segments. */
  readonly deepest: number;
  readonly pages: number;
}

export function createSectionCounter(mostFolders = MOST_FOLDERS): SectionCounter {
  const values = new Map<FacetName, Map<string, number>>();
  const folders = new Map<string, FolderCounts>([['', { ...NO_COUNTS }]]);
  const leafHashes: number[] = [];
  const leafIds: number[] = [];
  let deepest = DEEPEST;
  let pages = 0;

  function count(facet: FacetName, value: string | number | null): void {
    if (value === null) return;
    const of = values.get(facet) ?? new Map<string, number>();
    if (of.size === 0) values.set(facet, of);
    const text = String(value);
    of.set(text, (of.get(text) ?? 0) + 1);
  }

  function addTo(folder: FolderCounts, page: CountedPage): void {
    const [, , , state, , reason, , change, , , words, responseMs] = page;
    const name = pageStateName(state);
    const status = CRAWLED_PAGES_STATUS[name];
    folder.pages++;
    if (status === null) folder.waiting++;
    else folder[status === 'failed' && isDenied(reason) ? 'skipped' : status]++;
    if (ERRORS.has(name)) folder.errors++;
    if (change === 'changed') folder.changed++;
    folder.words += words ?? 0;
    if (responseMs !== null) {
      folder.answered++;
      folder.milliseconds += responseMs;
    }
  }

  /** Those that lie deepest go. */
  function cutFolders(): void {
    deepest--;
    for (const path of folders.keys()) if (path.split('/').length - 1 > deepest) folders.delete(path);
  }

  function folderOf(path: string): FolderCounts {
    const folder = folders.get(path) ?? { ...NO_COUNTS };
    if (folder.pages === 0) folders.set(path, folder);
    return folder;
  }

  function countValues(page: CountedPage, path: string): void {
    const [, , host, state, depth, reason, statusCode, change, noindex, contentType] = page;
    const name = pageStateName(state);
    const status = CRAWLED_PAGES_STATUS[name];
    count('state', name);
    count('status', status === 'failed' && isDenied(reason) ? 'skipped' : status);
    count('host', host);
    count('depth', depth === NO_DEPTH ? null : depth);
    count('reason', reason === null || reason === '' ? null : ruleOf(reason));
    count('status_code', statusCode);
    count('change', change);
    count('noindex', noindex === null ? null : noindex === 1 ? 'true' : 'false');
    count('content_type', contentType === null ? null : mediaTypeOf(contentType));
    const end = path.indexOf('/', 1);
    if (path.length > 1) count('section', end < 0 ? path : path.slice(0, end));
  }

  return {
    values,
    folders,
    get deepest() {
      return deepest;
    },
    get pages() {
      return pages;
    },
    add(page) {
      pages++;
      const path = pathOf(page[1]);
      countValues(page, path);
      addTo(folders.get('')!, page);
      let segments = 0;
      for (let at = path.indexOf('/', 1); at > 0 && ++segments <= deepest; at = path.indexOf('/', at + 1))
        addTo(folderOf(path.slice(0, at)), page);
      if (path.length > 1 && segments < deepest) {
        leafHashes.push(hashOf(path));
        leafIds.push(page[0]);
      }
      while (folders.size > mostFolders && deepest > 0) cutFolders();
    },
    ownPages() {
      const hashes = new Set([...folders.keys()].map(hashOf));
      return leafIds.filter((_, i) => hashes.has(leafHashes[i]));
    },
    addOwn(page) {
      const path = pathOf(page[1]);
      const folder = path.length > 1 ? folders.get(path) : undefined;
      if (folder !== undefined) addTo(folder, page);
    },
  };
}

/** As the filter of content types has it. */
export const mediaTypeOf = (contentType: string) =>
  contentType
    .split(';', 1)[0]
    .replace(/^ +| +$/g, '')
    .replace(/[A-Z]+/g, (letters) => letters.toLowerCase());

/** Whether so many pages of a project have been visited that counting all of them anew costs little beside. */
export function isWorthCounting(known: number, visited: number): boolean {
  return known <= 5000 || visited * 8 >= known;
}
