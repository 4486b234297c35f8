/** What stands before the first request of a run: the start URLs, the name of the project, the stored options, old pages judged anew. */
import { createHash, randomBytes } from 'node:crypto';
import type { Config } from '../../config/load-config.ts';
import { OPTION_NAMES, OPTIONS } from '../../config/option-table.ts';
import { isBareAddress, readStartUrl } from '../../config/start-url.ts';
import { authorizationOf, withoutCredentials, withoutLogin } from '../../config/url-credentials.ts';
import { sumiError } from '../../errors.ts';
import { PAGE_STATES } from '../../frontier/page-state.ts';
import type { KnownPage, Reconsidered, Revision, Verdict } from '../../store/frontier-port.ts';
import type { RunStart } from '../../store/run-port.ts';
import type { NormalizedUrl } from '../../url/normalize.ts';
import { siteOf } from '../../url/site-of.ts';
import { frameOfReason, type LinkDiscovery, UNFOLLOWED_LINK } from '../discover/discover-links.ts';
import { hasToDiscover, isOfferedLater } from '../discover/discover-sitemaps.ts';
import { mayBeQueued } from '../discover/judge-urls.ts';
import type { CrawlParts, StartUrl } from '../parts.ts';
import { leastDepths, readMapGraph } from './compute-depths.ts';
import { CREDENTIALS_KEY, credentialNames } from './credentials.ts';
import { refusedPages } from './judge-known.ts';
import { isAnsweredHere, isCutOff, revisePage } from './revise-page.ts';

/** Pages that are due go before what is found on the way. */
export const DUE_PRIORITY = 0;

/** Known pages that somebody chose: by id, or by a question that each known page is put to. */
export type Due = readonly number[] | ((page: KnownPage) => boolean);

/**
 * Puts known pages before the scope when a new run begins or the configuration changed, then offers the start URLs. Where
 * somebody chose the pages that are due, only these are queued.
 */
export async function prepareRun(
  parts: CrawlParts,
  start: RunStart,
  run: { project: string; configChanged: boolean; due?: Due },
): Promise<void> {
  const judge = listenForLowered(parts);
  const { isStartUrl } = parts;
  const isNewRun = !start.resumed;
  await parts.modes.open(start);
  const { due } = run;
  if (typeof due === 'function') {
    const refused = start.knownUrls > 0 ? await refusedPages(parts, run.project) : NO_REFUSALS;
    await parts.store.frontier.reconsider((row) =>
      due(row) ? revisionOf(row, judge(row), refused.get(row.pageId)) : null,
    );
  } else if (due !== undefined) await parts.store.frontier.requeue(due, DUE_PRIORITY);
  else if (start.knownUrls > 0 && (isNewRun || run.configChanged)) {
    const leastDepth = run.configChanged ? await readLeastDepths(parts, run.project) : null;
    const refused = await refusedPages(parts, run.project);
    const judgeKnown = (row: KnownPage): Revision | null => {
      if (parts.isFetchOnly && !isStartUrl(row.url)) return null;
      if (leastDepth !== null) {
        const { maxHostRequests } = parts.limits;
        const revision = revisePage(row, { judge, leastDepth, maxHostRequests, isNewRun });
        return revision.keepsState ? revision : revisionOf(row, revision, refused.get(row.pageId));
      }
      if (isCutOff(row) || (!isNewRun && isAnsweredHere(row))) return null;
      return revisionOf(row, judge(row), refused.get(row.pageId));
    };
    await parts.store.frontier.reconsider((row) => parts.modes.revise(row, judgeKnown(row)));
  }
  // Depths are worked out at the end; until then no reader may take those of the start URLs for those of an origin.
  if (parts.map !== null && start.knownUrls === 0)
    await parts.store.projects.saveDepths(start.projectId, parts.map.origins, []);
  await offerStartUrls(parts);
  if (!hasToDiscover(parts)) await parts.store.run.knowsNoMore();
}

const NO_REFUSALS: ReadonlyMap<number, string> = new Map();

/** A program may refuse it, now and when a shorter way to it is found. */
function revisionOf(row: KnownPage, verdict: Revision, refusal: string | undefined): Revision {
  if (refusal === undefined || !mayBeQueued(verdict.state, verdict.reason)) return verdict;
  return { depth: row.depth, ...verdict, state: PAGE_STATES.Skipped, reason: refusal };
}

/** Where pages are under the lists of this crawl; null when it makes no map. */
async function readLeastDepths(
  { map }: CrawlParts,
  project: string,
): Promise<((pageId: number) => number | null) | null> {
  if (map === null) return null;
  const side = await map.openSide();
  try {
    const graph = await readMapGraph(side, project, map);
    const least = leastDepths(graph, map);
    return (pageId) => {
      const depth = least[graph.indexOf(pageId)] ?? -1;
      return depth === -1 ? null : depth;
    };
  } finally {
    await side.close();
  }
}

/** Whoever takes part later finds everything judged; only who began it may have died before the first offer. */
export async function prepareToJoin(parts: CrawlParts, start: RunStart): Promise<void> {
  listenForLowered(parts);
  await parts.modes.open(start);
  if (start.knownUrls === 0) await offerStartUrls(parts);
}

function listenForLowered(parts: CrawlParts): (row: Reconsidered) => Verdict {
  const { store, discovery, isStartUrl, urlJudge } = parts;
  const judge = judgeOf(discovery, isStartUrl);
  if (urlJudge === null) store.frontier.onLowered(judge);
  else
    store.frontier.onLowered((row) => {
      const verdict = judge(row);
      const refusal = verdict.state === PAGE_STATES.Queued ? urlJudge.lastRefusalOf(row.url) : null;
      return refusal === null ? verdict : { ...verdict, state: PAGE_STATES.Skipped, reason: refusal };
    });
  return judge;
}

/** The scope's word on a stored page. */
export function judgeOf(
  discovery: Pick<LinkDiscovery, 'judge' | 'isBySitemap'>,
  isStartUrl: (url: string) => boolean,
): (row: Reconsidered) => Verdict {
  return (row) => {
    const isNofollow = row.reason?.startsWith('nofollow') === true;
    // Where links are not followed, what waited or was read before was found otherwise.
    const isLink = !discovery.isBySitemap || row.reason === UNFOLLOWED_LINK;
    const { state, priority, reason } = discovery.judge(
      row,
      row.depth,
      frameOfReason(row.reason) ?? (isLink ? 'link' : 'sitemap'),
      isNofollow,
      isStartUrl(row.url),
    );
    return { state, priority, reason };
  };
}

async function offerStartUrls(parts: CrawlParts): Promise<void> {
  const { store, discovery, startUrls } = parts;
  const known = startUrls.filter((start) => !isOfferedLater(parts, start));
  // A start URL is welcome even where links to it were not.
  await store.frontier.offer(
    known.map((found) => ({ ...discovery.judge(found, 0, 'link', false, true), reopens: true })),
  );
  await store.flush();
}

/** One a page: two spellings of a page are one start URL. */
export function readStartUrls(
  texts: readonly string[],
  normalize: (text: string) => NormalizedUrl | null,
): StartUrl[] {
  const found = new Map<string, StartUrl>();
  for (const text of texts) {
    const given = readStartUrl(text);
    const url = normalize(given.href);
    if (url === null) throw sumiError('url-invalid', { url: withoutCredentials(text) });
    const isBare = isBareAddress(text);
    const authorization = authorizationOf(given) ?? found.get(url.url)?.authorization;
    // With a scheme it is certain.
    if (!found.has(url.url) || !isBare) found.set(url.url, { ...url, isBare });
    if (authorization !== undefined) found.get(url.url)!.authorization = authorization;
  }
  if (found.size === 0) throw sumiError('no-url');
  return [...found.values()];
}

/** The name of a map whose file gives none: its lists may change, and it is the same map still. */
const MAP_PROJECT = 'terrain';

/** An isolated run is a project of its own, under a name that no other has. */
export function projectOf(config: Config, startUrls: NormalizedUrl[], now: number): string {
  const isMap = config.terrain.quality.length > 0;
  const hosts = () => nameOfHosts([...new Set(startUrls.map(siteOf))].sort());
  const name = config.project ?? (isMap ? MAP_PROJECT : hosts());
  if (!config.isolated) return name;
  const moment = new Date(now).toISOString().replace(/[-:]|\..*$/g, '');
  return `${name} ~${moment}-${randomBytes(2).toString('hex')}`;
}

/** What `sumi resume` and workers need to go on without the command's own words, and audit to know since when they hold. */
export function storedOptions(config: Config, startUrls: StartUrl[], now: number): Record<string, unknown> {
  // Passwords stay out of the store: whoever goes on gives them again.
  const values = OPTION_NAMES.filter((name) => OPTIONS[name].ofRun !== false).map((name) => {
    const { secret, default: none = null } = OPTIONS[name];
    return [name, secret ? none : config.sources[name].value];
  });
  const names = credentialNames(config, startUrls);
  return {
    ...Object.fromEntries(values),
    'start-urls': startUrls.map(({ fetchUrl, isBare }) =>
      isBare ? fetchUrl.replace(/^https:\/\//, '') : fetchUrl,
    ),
    terrain: {
      ...config.terrain,
      quality: config.terrain.quality.map(({ domain, seeds }) => ({
        domain,
        seeds: seeds.map(withoutLogin),
      })),
    },
    'configured-at': now,
    // Their names only: whoever goes on without them would see another site.
    ...(names.length > 0 && { [CREDENTIALS_KEY]: names }),
  };
}

/** The notes of `meta` (NAME=VALUE each) as a JSON object; null when there are none. */
export function storedNotes(meta: readonly string[]): string | null {
  if (meta.length === 0) return null;
  const notes = meta.map((text) => {
    const cut = text.indexOf('=');
    return [text.slice(0, cut).trim(), text.slice(cut + 1)];
  });
  return JSON.stringify(Object.fromEntries(notes));
}

const MAX_NAME_CHARS = 500;

/** A list of a thousand hosts is no name: the first ones, how many, and a mark of them all stand for it. */
function nameOfHosts(hosts: string[]): string {
  const all = hosts.join(' ');
  if (all.length <= MAX_NAME_CHARS) return all;
  const mark = createHash('sha256').update(all).digest('hex').slice(0, 12);
  return `${hosts
    .slice(0, 3)
    .join(' ')
    .slice(0, MAX_NAME_CHARS / 2)} and others, ${hosts.length} hosts ${mark}`;
}
