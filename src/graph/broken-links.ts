/**
 * The links that lead to something broken, each with the page that has it: one pass over the pages, to know which are
 * broken or redirect to a broken one, then one over the links. Reads only.
 *
 * Promises: links through redirects count, and name both the redirect and its broken target. Links of pages that do not
 * exist any more do not count. Memory: two bits per known page, 12 bytes per redirect, 10,000 facts.
 */
import { BROKEN_STATES } from '../frontier/counting-words.ts';
import type { PageState } from '../frontier/page-state.ts';
import { PageSet } from '../store/page-set.ts';
import type { LinkFilter, PageRow, ReadSide } from '../store/read-side.ts';
import { growingNumbers } from './growing-numbers.ts';

export interface BrokenLink {
  from_url: string;
  /** The target of the link: a redirect, or the broken page itself. */
  to_url: string;
  /** Null unless the crawl kept the text of links. */
  anchor: string | null;
  broken_url: string;
  state: PageState;
  status_code: number | null;
  reason: string | null;
  nofollow: number;
  rel: string;
  discovered_run: number;
  project: string;
}

export interface BrokenLinkFilter extends LinkFilter {
  /** Only links from or to one of these pages. */
  pageIds?: readonly number[];
}

type BrokenSide = Pick<ReadSide, 'graphPages' | 'linksTo' | 'pageById'>;

const MOST_HOPS = 20;
const MOST_FACTS = 10_000;
const IS_BROKEN: ReadonlySet<PageState> = new Set(BROKEN_STATES);
/** Their links are kept, but nobody can follow them. */
const IS_LOST: ReadonlySet<PageState> = new Set<PageState>(['DeadLink', 'Gone']);

export async function* findBrokenLinks(
  side: BrokenSide,
  { project, limit, pageIds }: BrokenLinkFilter,
): AsyncGenerator<BrokenLink> {
  let left = limit ?? Number.POSITIVE_INFINITY;
  if (left <= 0) return;
  const pages = await findBrokenPages(side, project);
  const factsOf = rememberPages(side);
  for await (const link of side.linksTo(pages, { project })) {
    if (pages.isLost(link.from_id)) continue;
    const end = pages.endOf(link.to_id);
    if (pageIds !== undefined && ![link.from_id, link.to_id, end].some((id) => pageIds.includes(id)))
      continue;
    const broken = await factsOf(end);
    // Deleted since the pages were read.
    if (broken === null) continue;
    const { from_url, to_url, anchor, nofollow, rel, discovered_run } = link;
    yield {
      ...{ from_url, to_url, anchor, broken_url: broken.url },
      ...{ state: broken.state, status_code: broken.status_code, reason: broken.reason },
      ...{ nofollow, rel, discovered_run, project: broken.project },
    };
    if (--left <= 0) return;
  }
}

interface BrokenTargets {
  /** The page is broken, or redirects to a broken one. */
  has(id: number): boolean;
  /** The broken page, for a page that `has`. */
  endOf(id: number): number;
  isLost(id: number): boolean;
}

export async function findBrokenPages(
  side: Pick<ReadSide, 'graphPages'>,
  project: string | undefined,
): Promise<BrokenTargets> {
  const [broken, lost] = [new PageSet(), new PageSet()];
  const redirects = growingNumbers(Int32Array);
  const targets = growingNumbers(Int32Array);
  for await (const batch of side.graphPages({ project })) {
    for (const { id, state, redirect_to } of batch) {
      if (IS_BROKEN.has(state)) broken.add(id);
      if (IS_LOST.has(state)) lost.add(id);
      // A broken page may have been a redirect when it was last read, but is none now.
      if (redirect_to === null || IS_BROKEN.has(state)) continue;
      // In growing order, because pages come by id.
      redirects.push(id);
      targets.push(redirect_to);
    }
  }
  const [ids, next] = [redirects.view(), targets.view()];
  const endOf = (id: number): number => {
    let end = id;
    for (let hops = 0; hops < MOST_HOPS; hops++) {
      const at = placeOf(ids, end);
      if (at === -1) return broken.has(end) ? end : id;
      end = next[at];
    }
    return id;
  };
  const has = (id: number) => broken.has(id) || (placeOf(ids, id) !== -1 && broken.has(endOf(id)));
  return { has, endOf, isLost: (id) => lost.has(id) };
}

/** In sorted ids; -1 if it is missing. */
function placeOf(ids: Int32Array, id: number): number {
  let [low, high] = [0, ids.length - 1];
  while (low <= high) {
    const middle = (low + high) >>> 1;
    if (ids[middle] === id) return middle;
    if (ids[middle] < id) low = middle + 1;
    else high = middle - 1;
  }
  return -1;
}

type Facts = Pick<PageRow, 'url' | 'state' | 'status_code' | 'reason' | 'project'>;

function rememberPages(side: BrokenSide): (id: number) => Promise<Facts | null> {
  const known = new Map<number, Facts | null>();
  return async (id) => {
    const found = known.get(id);
    if (found !== undefined) return found;
    const page = await side.pageById(id);
    const facts =
      page === null
        ? null
        : {
            ...{ url: page.url, state: page.state, project: page.project },
            ...{ status_code: page.status_code, reason: page.reason },
          };
    if (known.size >= MOST_FACTS) known.clear();
    known.set(id, facts);
    return facts;
  };
}
