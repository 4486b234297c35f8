/**
 * The broken pages of a project for the report: those with most links first, each with a page that links there. The
 * links are those of `sumi links --broken`: through redirects, too. One pass over the pages and one over the links. In
 * larger projects, the first broken pages found, each with the page that it was found on. Memory: about 50 bytes per
 * broken page, up to a limit, and that of broken-links.ts.
 */
import { BROKEN_STATES } from '../frontier/counting-words.ts';
import type { PageState } from '../frontier/page-state.ts';
import type { PageRow, ReadSide } from '../store/read-side.ts';
import { findBrokenPages } from './broken-links.ts';

export interface BrokenPage {
  url: string;
  title: string | null;
  state: PageState;
  statusCode: number | null;
  reason: string | null;
  /** How many links lead to it; null if they were not counted. */
  linkedFrom: number | null;
  /** A page that links to it, or the redirect by which it was found; null if neither is known, as for a start URL. */
  source: { url: string; isRedirect: boolean } | null;
}

export interface BrokenPages {
  total: number;
  /** The first ones. */
  shown: BrokenPage[];
}

type BrokenSide = Pick<ReadSide, 'pages' | 'pageById' | 'graphPages' | 'graphLinks'>;

const SHOWN = 30;
/** The links of more pages take longer to read than the rest of the report. */
const COUNT_UP_TO = 300_000;
const MOST_HELD = 100_000;

export async function readBrokenPages(
  side: BrokenSide,
  project: string,
  knownPages: number,
): Promise<BrokenPages> {
  const links = new Map<number, { count: number; source: number | null; foundOn: number | null }>();
  let total = 0;
  for await (const { id, referrer_id } of side.pages({ project, states: BROKEN_STATES })) {
    if (++total <= MOST_HELD) links.set(id, { count: 0, source: null, foundOn: referrer_id });
  }
  const isCounted = total > 0 && knownPages <= COUNT_UP_TO;
  if (isCounted) {
    const broken = await findBrokenPages(side, project);
    for await (const { from, targets } of side.graphLinks({ project })) {
      if (broken.isLost(from)) continue;
      for (const target of targets) {
        const found = broken.has(target) ? links.get(broken.endOf(target)) : undefined;
        if (found === undefined) continue;
        found.count++;
        found.source ??= from;
      }
    }
  }
  const first = [...links].sort(([a, one], [b, other]) => other.count - one.count || a - b).slice(0, SHOWN);
  const shown: BrokenPage[] = [];
  for (const [id, { count, source, foundOn }] of first) {
    const page = await side.pageById(id);
    if (page === null) continue;
    const fromId = source ?? foundOn;
    const from = fromId === null ? null : await side.pageById(fromId);
    shown.push(asBroken(page, isCounted ? count : null, from));
  }
  return { total, shown };
}

function asBroken(page: PageRow, linkedFrom: number | null, from: PageRow | null): BrokenPage {
  const { url, title, state, status_code: statusCode, reason } = page;
  const source = from === null ? null : { url: from.url, isRedirect: from.redirect_to !== null };
  return { url, title, state, statusCode, reason, linkedFrom, source };
}
