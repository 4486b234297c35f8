/**
 * Pages that were decided without a visit of their own, such as those of a host that was given up with all that waited
 * there: they get their rows at the end of the statement. Ends of redirect chains are known only then, too.
 */
import type { ReadSide } from '../../store/read-side.ts';
import type { CrawlRow } from '../table/crawl-row.ts';
import type { KnownRows } from './known-rows.ts';
import { rowOfPage } from './row-of-page.ts';

export interface RestRequest {
  side: ReadSide;
  project: string;
  /** The runs of the statement. */
  runIds: ReadonlySet<number>;
  known: KnownRows;
  /** Of the statement's input; absent: all of the project. */
  hosts?: ReadonlySet<string>;
  inputUrlOf: (url: string) => string | null;
  now: number;
}

/** How the chain that begins at a URL ended. */
export interface RedirectChain {
  url: string;
  finalUrl: string | null;
  redirectCount: number;
  /** Null where it led to a page. */
  error: string | null;
}

const CHAINS_AT_ONCE = 1000;

/** Rows for what was given up. */
export async function* findGivenUp(request: RestRequest): AsyncIterable<CrawlRow> {
  const { side, project, known, hosts, inputUrlOf, now } = request;
  for await (const page of side.pages({ project, states: ['Failed', 'Unreachable', 'RateLimited'] }))
    if (hosts?.has(new URL(page.url).host) !== false && known.standing(page.url) === 'new')
      yield rowOfPage(page, inputUrlOf(page.url), now);
}

/** Redirects of these runs that did not end at their next hop. */
export async function* findChains({ side, project, runIds }: RestRequest): AsyncIterable<RedirectChain[]> {
  let chains: RedirectChain[] = [];
  for await (const page of side.pages({ project, statusCodes: [301, 302, 303, 307, 308] })) {
    const { url, final_url: finalUrl, redirect_count: redirectCount, state, reason } = page;
    const isRead = state === 'Processed';
    if (!runIds.has(page.visited_run ?? 0) || (isRead && redirectCount < 2)) continue;
    chains.push({ url, finalUrl, redirectCount, error: isRead ? null : (reason ?? state) });
    if (chains.length < CHAINS_AT_ONCE) continue;
    yield chains;
    chains = [];
  }
  if (chains.length > 0) yield chains;
}
