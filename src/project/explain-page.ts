/**
 * Explains a URL: gathers what the store knows about it. How it was found, what decided, what was asked, where it led.
 * The decision of robots.txt is repeated from the stored file; no request is made.
 */

import { productToken } from '../config/user-agent.ts';
import { parseRobotsTxt, rulesFor } from '../politeness/robots-txt.ts';
import type { LoggedRequest, PageRow, ReadSide, VisitRow } from '../store/read-side.ts';
import { explainRevisit, type RevisitExplanation, type RevisitQuestion } from '../watch/explain-revisit.ts';
import { recordedConfig } from './config-of-run.ts';
import { requirePages } from './find-pages.ts';
import type { Reading } from './reading.ts';

export interface Explanation {
  url: string;
  fetch_url: string;
  project: string;
  state: string;
  reason: string | null;
  depth: number | null;
  discovered_run: number;
  discovered_at: string;
  /** From the start page to the page that led here first. */
  referrers: string[];
  status_code: number | null;
  title: string | null;
  visited_at: string | null;
  /** The last run that left the page out, and why; null where none did since the last visit. */
  left_out: { run: number; reason: string; known_from_run: number | null } | null;
  attempts: number;
  retry_at: string | null;
  /** Requests, as the log has them; and visits with what they found, newest last, the last ones only. */
  requests: LoggedRequest[];
  visits: VisitRow[];
  /** How many there are in all. */
  requests_total: number;
  visits_total: number;
  /** Changes a day, and changes seen. */
  change_frequency: number;
  changes_detected: number;
  /** When and why it is visited again; null for a page that is not, by itself. */
  revisit: RevisitExplanation | null;
  /** Where it redirects, hop by hop. */
  redirects: string[];
  final_url: string | null;
  robots: { decision: 'allowed' | 'denied' | 'unknown'; rule: string | null; status: number | null };
}

/** Longer ways than this are no explanation any more; also a guard against a circle. */
const LONGEST_WAY = 100;
/** A page that is watched has thousands. */
const SHOWN_VISITS = 20;

/** `kind` and `visitsPerDay`: as if the project were watched by that rule, with so many visits. */
export interface WhyQuestion extends Pick<RevisitQuestion, 'now' | 'kind' | 'visitsPerDay'> {
  /** Leave the next visit out: for a project without a watch, all its pages would be read. */
  withoutRevisit?: boolean;
}

/** One explanation for each project that knows the URL, in any spelling; a URL that none knows is an error. */
export async function explainUrl(reading: Reading, url: string, asked: WhyQuestion): Promise<Explanation[]> {
  const explained: Explanation[] = [];
  for (const page of await requirePages(reading, url))
    explained.push(await explainPage(reading.side, page, asked));
  return explained;
}

export async function explainPage(side: ReadSide, page: PageRow, asked: WhyQuestion): Promise<Explanation> {
  const [requests, visits] = [await side.requests(page.id), await side.visits(page.id)];
  const projectId = (await side.projects()).find(({ project }) => project === page.project)!.id;
  return {
    url: page.url,
    fetch_url: page.fetch_url,
    project: page.project,
    state: page.state,
    reason: page.reason,
    depth: page.depth,
    discovered_run: page.discovered_run,
    discovered_at: page.discovered_at,
    referrers: (await follow(side, page, (row) => row.referrer_id)).reverse(),
    status_code: page.status_code,
    title: page.title,
    visited_at: page.visited_at,
    left_out: leftOut(page),
    attempts: page.attempts,
    retry_at: page.retry_at,
    requests: requests.slice(-SHOWN_VISITS),
    visits: visits.slice(-SHOWN_VISITS),
    requests_total: requests.length,
    visits_total: visits.length,
    change_frequency: page.change_frequency,
    changes_detected: page.changes_detected,
    revisit: asked.withoutRevisit
      ? null
      : await explainRevisit(side, { ...asked, page: { id: page.id, projectId }, visits }),
    redirects: await follow(side, page, (row) => row.redirect_to),
    final_url: page.final_url,
    robots: await robotsDecision(side, page),
  };
}

function leftOut({ left_run: run, left_reason, visited_run }: PageRow): Explanation['left_out'] {
  if (run === null || left_reason === null || run <= (visited_run ?? 0)) return null;
  return { run, reason: left_reason, known_from_run: visited_run };
}

async function follow(
  side: ReadSide,
  from: PageRow,
  next: (row: PageRow) => number | null,
): Promise<string[]> {
  const way: string[] = [];
  const seen = new Set([from.id]);
  for (let row: PageRow | null = from; row !== null && way.length < LONGEST_WAY; ) {
    const id: number | null = next(row);
    if (id === null || seen.has(id)) break;
    seen.add(id);
    row = await side.pageById(id);
    if (row !== null) way.push(row.fetch_url);
  }
  return way;
}

async function robotsDecision(side: ReadSide, page: PageRow): Promise<Explanation['robots']> {
  const stored = await side.robots(new URL(page.fetch_url).origin);
  if (stored === null) return { decision: 'unknown', rule: null, status: null };
  const { status } = stored;
  if (status === 0 || status === 429 || status >= 500)
    return { decision: 'denied', rule: 'unreachable', status };
  const run = await side.run(page.visited_run ?? page.discovered_run);
  const agent = run === null ? '' : (await recordedConfig(run)).userAgent;
  const { allowed, rule } = rulesFor(parseRobotsTxt(stored.body ?? ''), productToken(agent)).decide(
    page.fetch_url,
  );
  return { decision: allowed ? 'allowed' : 'denied', rule, status };
}
