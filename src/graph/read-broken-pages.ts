/**
 * The broken pages of a project for the report: those that most pages link to first, each with a page that links there.
 * One pass over the pages and one over the links; of projects that are too large for that, the first ones found, each
 * with the page that it was found on. Memory: some 50 bytes a broken page, of so many at most.
 */
import { BROKEN_STATES } from '../frontier/counting-words.ts';
import type { PageState } from '../frontier/page-state.ts';
import type { PageRow, ReadSide } from '../store/read-side.ts';

export interface BrokenPage {
  url: string;
  title: string | null;
  state: PageState;
  statusCode: number | null;
  reason: string | null;
  /** How many pages link to it; null where that was not counted. */
  linkedFrom: number | null;
  /** One of them; null where none is known, as of a start URL. */
  source: string | null;
}

export interface BrokenPages {
  total: number;
  /** The first ones. */
  shown: BrokenPage[];
}

type BrokenSide = Pick<ReadSide, 'pages' | 'pageById' | 'graphLinks'>;

const SHOWN = 30;
/** Links of more pages than these take longer to read than the rest of the report. */
const COUNT_UP_TO = 300_000;
const MOST_HELD = 100_000;

export async function readBrokenPages(
  side: BrokenSide,
  project: string,
  knownPages: number,
): Promise<BrokenPages> {
  const links = new Map<number, { count: number; source: number | null }>();
  let total = 0;
  for await (const { id, referrer_id } of side.pages({ project, states: BROKEN_STATES })) {
    if (++total <= MOST_HELD) links.set(id, { count: 0, source: referrer_id });
  }
  const isCounted = total > 0 && knownPages <= COUNT_UP_TO;
  if (isCounted) {
    for await (const { from, targets } of side.graphLinks({ project })) {
      for (const target of targets) {
        const found = links.get(target);
        if (found === undefined || from === target) continue;
        found.count++;
        found.source ??= from;
      }
    }
  }
  const first = [...links].sort(([a, one], [b, other]) => other.count - one.count || a - b).slice(0, SHOWN);
  const shown: BrokenPage[] = [];
  for (const [id, { count, source }] of first) {
    const page = await side.pageById(id);
    if (page === null) continue;
    const from = source === null ? null : await side.pageById(source);
    shown.push(asBroken(page, isCounted ? count : null, from));
  }
  return { total, shown };
}

function asBroken(page: PageRow, linkedFrom: number | null, from: PageRow | null): BrokenPage {
  const { url, title, state, status_code: statusCode, reason } = page;
  return { url, title, state, statusCode, reason, linkedFrom, source: from?.url ?? null };
}
