/**
 * Start URLs that were refused, told in sentences: which rule or status it was, and what can be done. Looked up in the store
 * when a run ends, so that it is the same whichever worker requested the page. Only reads.
 */
import { SumiError } from '../../errors.ts';
import type { RefusedStart } from '../../events/events.ts';
import { parseRobotsTxt, rulesFor } from '../../politeness/robots-txt.ts';
import type { PageRow, ReadSide } from '../../store/read-side.ts';
import type { CrawlParts, StartUrl } from '../parts.ts';

/** Lists of start URLs may be long: the first ones tell what is the matter. */
const MOST_STARTS = 100;
const MOST_HOPS = 20;
/** Nothing is refused there: the page does not exist. */
const MISSING: ReadonlySet<number> = new Set([404, 410]);

export type StartParts = Pick<
  CrawlParts,
  'startUrls' | 'normalizer' | 'agentToken' | 'openSide' | 'carriesHeaders'
>;

/** `isTick`: only start URLs that this run requested, else all. */
export async function findRefusedStarts(
  parts: StartParts,
  project: string,
  { runId, isTick }: { runId: number; isTick: boolean },
): Promise<{ refused: RefusedStart[]; hasPages: boolean }> {
  const none = { refused: [], hasPages: true };
  const side = await openIfThere(parts.openSide);
  if (side === null) return none;
  try {
    const row = (await side.projects()).find((known) => known.project === project);
    if (row === undefined) return none;
    const refused = new Map<string, RefusedStart>();
    for (const start of parts.startUrls.slice(0, MOST_STARTS)) {
      const page = await pageOf(side, row.id, start, parts);
      if (page === null || (isTick && page.visited_run !== runId)) continue;
      const found = await explain(side, inThisRun(page, runId), parts);
      if (found !== null) refused.set(found.url, found);
    }
    return { refused: [...refused.values()], hasPages: refused.size === 0 || (await hasPage(side, project)) };
  } finally {
    await side.close();
  }
}

/** Null while a shared store is away: the end of the run waits for it as long as need be, these sentences do not. */
async function openIfThere(open: () => Promise<ReadSide>): Promise<ReadSide | null> {
  try {
    return await open();
  } catch (error) {
    if (error instanceof SumiError && error.code === 'store-unreachable') return null;
    throw error;
  }
}

/** A page with content: a redirect is none. */
async function hasPage(side: ReadSide, project: string): Promise<boolean> {
  const statusCodes = Array.from({ length: 100 }, (_, i) => 200 + i);
  for await (const _ of side.pages({ project, states: ['Processed'], statusCodes, limit: 1 })) return true;
  return false;
}

/** Where the start URL leads; a bare host may have been requested by http in the end. */
async function pageOf(
  side: ReadSide,
  projectId: number,
  { url, fetchUrl, isBare }: StartUrl,
  { normalizer }: StartParts,
): Promise<PageRow | null> {
  const plain = isBare ? normalizer.normalize(fetchUrl.replace(/^https:/, 'http:')) : null;
  let page =
    (plain === null ? null : await side.page(projectId, plain.url)) ?? (await side.page(projectId, url));
  for (let hops = 0; page !== null && page.redirect_to !== null && leadsOn(page) && hops < MOST_HOPS; hops++)
    page = await side.pageById(page.redirect_to);
  return page;
}

/** One that fails now keeps where it led when it was read last. */
const leadsOn = ({ reason }: PageRow) => reason === null || reason.startsWith('redirect:');

const LEFT_STATES = [
  ['rate-limit:', 'RateLimited'],
  ['egress:', 'Skipped'],
] as const;

/** A known page that the run closed without requesting it is stored as it was before: here it is what the run would have made of it. */
function inThisRun(page: PageRow, runId: number): PageRow {
  const { left_run: leftRun, left_reason: reason } = page;
  if (leftRun !== runId || reason === null) return page;
  const state = LEFT_STATES.find(([start]) => reason.startsWith(start))?.[1] ?? 'Unreachable';
  return { ...page, state, reason, status_code: null };
}

async function explain(side: ReadSide, page: PageRow, parts: StartParts): Promise<RefusedStart | null> {
  const { url, state, reason, status_code, fetch_url } = page;
  const said = await sayWhy(side, page, parts);
  if (said === null) return null;
  return { url: fetch_url || url, state, reason: reason ?? '', status_code, ...said };
}

type Said = Pick<RefusedStart, 'message' | 'advice'>;

async function sayWhy(side: ReadSide, page: PageRow, parts: StartParts): Promise<Said | null> {
  const { state, reason, fetch_url: url } = page;
  if (reason === null || state === 'Processed' || state === 'Queued') return null;
  if (reason.startsWith('robots: unreachable'))
    return sayNoRobots(url, reason.slice('robots: unreachable '.length));
  if (reason.startsWith('robots: ')) return sayRobots(side, url, reason.slice('robots: '.length), parts);
  const status = /^http: (\d+)/.exec(reason)?.[1] ?? (state === 'RateLimited' ? '429' : null);
  if (status !== null) return MISSING.has(Number(status)) ? null : sayStatus(url, Number(status), parts);
  if (reason.startsWith('egress: ')) return sayEgress(url, reason.slice('egress: '.length));
  if (reason.startsWith('network: ')) return sayNetwork(url, reason.slice('network: '.length));
  return null;
}

async function sayRobots(
  side: ReadSide,
  url: string,
  rule: string,
  { agentToken }: StartParts,
): Promise<Said> {
  const { host, origin, pathname, search } = new URL(url);
  const stored = await side.robots(origin);
  const line = rulesFor(parseRobotsTxt(stored?.body ?? ''), agentToken).lineOf(url);
  const place = line === null ? '' : ` in line ${line}`;
  return {
    message: `robots.txt of ${host} forbids ${pathname}${search} for ${agentToken} (${rule.replace(' ', ': ')}${place})`,
    advice:
      'Start at a page that it allows, or ask the owner of the site; for a site of your own there is --no-robots.',
  };
}

function sayNoRobots(url: string, why: string): Said {
  // What cannot be connected to has no pages to request either.
  if (!/^\d+$/.test(why)) return sayNetwork(url, why);
  return {
    message: `robots.txt of ${new URL(url).host} answered ${why}, and without it no page of that site may be asked for`,
    advice:
      'Try again later; if the site is meant to be read without it, there is --robots-unreachable allow.',
  };
}

function sayStatus(url: string, status: number, { carriesHeaders }: StartParts): Said {
  const { host, origin } = new URL(url);
  if (status === 401) {
    const isGiven = carriesHeaders(origin);
    return {
      message: isGiven
        ? `${host} does not accept what was given: ${url} answered 401`
        : `${host} asks for a password: ${url} answered 401`,
      advice: isGiven
        ? 'Check user and password (or the header, or the cookie) and the address.'
        : `Give --auth USER:PASSWORD, or --header or --cookie, with ${origin}/ as start URL: they go to its origin only.`,
    };
  }
  if (status === 403) {
    const message = `${host} refuses this crawler: ${url} answered 403`;
    const advice =
      'See in a browser whether the page is public; ask the owner of the site to let the crawler in, or say who you are with --contact-url or --user-agent.';
    return { message, advice };
  }
  if (status === 429)
    return {
      message: `${host} asks to be left alone for now: ${url} answered 429`,
      advice: 'Try again later, with a longer --delay.',
    };
  const message = `${url} answered ${status}`;
  if (status >= 500) return { message, advice: 'The site has trouble: try again later.' };
  return { message, advice: 'See in a browser whether the address is right.' };
}

function sayEgress(url: string, why: string): Said {
  const { hostname } = new URL(url);
  return {
    message: `${url} may not be connected to: ${why}`,
    advice: why.endsWith(' itself')
      ? 'Start at another address: the service never requests its own.'
      : `The service reads public addresses; whoever runs it may add --egress-allow ${hostname}.`,
  };
}

function sayNetwork(url: string, why: string): Said {
  if (isUnknownHost(why))
    return {
      message: `there is no host named ${/ENOTFOUND (\S+)/.exec(why)?.[1] ?? new URL(url).hostname}`,
      advice:
        'Check its spelling; a name of your own network needs its DNS server, or --resolve NAME=ADDRESS.',
    };
  return {
    message: `${url} gave no HTTP answer (${why})`,
    advice: 'Check the address, the network and the proxy.',
  };
}

const isUnknownHost = (why: string) => /^unknown-host\b|\bENOTFOUND\b/.test(why);

/** Of a host that is there and does not answer, or cannot be reached. */
const SILENCE = /^(?:network: (?!unknown-host)|robots: unreachable \D)/;

/** For the run's row: what became of the first one, and how many there are. */
export function summarizeRefused(refused: readonly RefusedStart[], isAnswered: boolean): string | null {
  const told = refused.find(({ reason }) => !SILENCE.test(reason)) ?? refused[0];
  if (told === undefined) return isAnswered ? null : 'no start URL gave any HTTP answer';
  if (!isAnswered && SILENCE.test(told.reason)) return `no start URL gave any HTTP answer (${told.reason})`;
  const more = refused.length === 1 ? '' : ` (and ${refused.length - 1} more start URLs)`;
  return `${told.message}${more}`;
}
