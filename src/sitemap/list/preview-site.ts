/**
 * What a crawl would find of a site, from robots.txt, the home page and the sitemaps alone. Every request is as polite as one
 * of a crawl: the host is leased, each takes its next slot, robots.txt is obeyed. Nothing is kept but what the host's clock
 * learned and its robots.txt. What could not be learned in time, or at all, is said and not thrown.
 */
import { guessedPaths } from '../../config/guessed-paths.ts';
import type { Config } from '../../config/load-config.ts';
import type { CrawlParts, StartUrl } from '../../crawl/parts.ts';
import { readStartUrls } from '../../crawl/run/prepare-run.ts';
import { judgeLinks } from '../../crawl/visit/list-links.ts';
import { type Extensions, wireNormalizer, wireParts } from '../../crawl/wire.ts';
import { createEventHub } from '../../events/event-hub.ts';
import type { Candidate } from '../../frontier/candidate.ts';
import { pageStateName } from '../../frontier/page-state.ts';
import type { RobotsRules } from '../../politeness/robots-txt.ts';
import { newWorkerName } from '../../primitives/worker-name.ts';
import type { StoredRobots } from '../../store/host-port.ts';
import type { Store } from '../../store/store-port.ts';
import { findEntries, type WebAnswer } from '../find-entries.ts';
import { HEAD_BYTES, sitemapLinks } from '../sitemap-links.ts';
import { openPoliteWeb, type PoliteWeb } from './polite-web.ts';

export interface PreviewedLink {
  url: string;
  foundIn: 'home' | 'sitemap';
  /** Null: it would be fetched. */
  rule: string | null;
}

export interface PreviewedHome {
  url: string;
  statusCode: number | null;
  title: string | null;
  contentType: string | null;
  redirectsTo: string | null;
  links: number;
  problem: string | null;
}

export interface SitePreview {
  websiteUrl: string;
  robots: {
    url: string;
    status: number;
    allowed: boolean;
    rule: string | null;
    crawlDelay: number | null;
    sitemaps: string[];
  };
  home: PreviewedHome;
  sitemaps: { url: string; entries: number; problem: string | null }[];
  /** The first ones of the home page, then the first ones of the sitemaps. */
  links: PreviewedLink[];
  /** URLs that would be fetched, the home page included, as far as they were counted. */
  wanted: number;
  /** Everything that was named was looked at. */
  isWhole: boolean;
  problems: string[];
}

export interface PreviewRequest {
  store: Store;
  egress: Extensions['egress'];
  /** Aborted: what is known by then is answered. */
  signal: AbortSignal;
  mostLinks: number;
  /** Entries of sitemaps that are judged. */
  mostEntries: number;
}

const MOST_HOME_BYTES = 5 * 1024 * 1024;

export async function previewSite(
  config: Config,
  url: string,
  request: PreviewRequest,
): Promise<SitePreview> {
  const { store, egress, signal } = request;
  const normalizer = wireNormalizer(config);
  const [start] = readStartUrls([url], (text) => normalizer.normalize(text));
  const failures: unknown[] = [];
  const session = await store.withoutRun(newWorkerName());
  const parts = wireParts({
    ...{ config, slots: undefined, startUrls: [start], extensions: { egress }, clock: session.clock },
    ...{ store: session, bodies: null, events: createEventHub(session.clock), normalizer },
  });
  const web = openPoliteWeb(parts, {
    ...{ maxBytes: config.maxSitemapBytes, isLogged: false, signal },
    onWait() {},
    onFailure: (error) => void failures.push(error),
  });
  try {
    const preview = await look(config, start, { parts, web, request });
    if (failures.length > 0) throw failures[0];
    return preview;
  } finally {
    parts.lag.stop();
    await parts.fetcher.close();
    await web.close();
    await session.leave();
  }
}

interface Looking {
  parts: CrawlParts;
  web: PoliteWeb;
  request: PreviewRequest;
}

async function look(config: Config, start: StartUrl, looking: Looking): Promise<SitePreview> {
  const preview = emptyPreview(start);
  try {
    const rules = await lookAtRobots(preview, start, looking);
    if (rules === null) return preview;
    const found = createFindings(preview, rules, looking);
    const named = await lookAtHome(preview, start, found, looking);
    if (config.discover.includes('sitemap'))
      await lookAtSitemaps(preview, config, { start, named }, found, looking);
    else preview.isWhole = false;
  } catch (error) {
    if (!looking.request.signal.aborted) throw error;
    preview.isWhole = false;
    preview.problems.push('The time for the preview was over before everything was read.');
  }
  return preview;
}

function emptyPreview({ fetchUrl }: StartUrl): SitePreview {
  return {
    websiteUrl: fetchUrl,
    robots: {
      ...{ url: new URL('/robots.txt', fetchUrl).href, status: 0, allowed: false },
      ...{ rule: null, crawlDelay: null, sitemaps: [] },
    },
    home: {
      ...{ url: fetchUrl, statusCode: null, title: null, contentType: null },
      ...{ redirectsTo: null, links: 0, problem: 'It was not requested.' },
    },
    ...{ sitemaps: [], links: [], wanted: 0, isWhole: true, problems: [] },
  };
}

/** Null: nothing more may be requested. */
async function lookAtRobots(
  preview: SitePreview,
  { fetchUrl }: StartUrl,
  { parts, web }: Looking,
): Promise<RobotsRules | null> {
  const { origin } = new URL(fetchUrl);
  const rules = await web.robots(fetchUrl);
  const stored: StoredRobots | null = await parts.store.hosts.robots(origin);
  if (stored !== null) preview.robots.status = stored.status;
  if ('refused' in rules) {
    preview.robots.rule = rules.refused;
    preview.problems.push(`robots.txt cannot be read (${rules.refused}): nothing is requested.`);
    preview.isWhole = false;
    return null;
  }
  const { allowed, rule } = rules.decide(fetchUrl);
  Object.assign(preview.robots, {
    allowed,
    rule,
    crawlDelay: rules.delaySeconds,
    sitemaps: [...rules.sitemaps],
  });
  return rules;
}

interface Findings {
  /** Each URL counts once. */
  add(candidate: Candidate, foundIn: PreviewedLink['foundIn']): void;
}

function createFindings(preview: SitePreview, rules: RobotsRules, { parts, request }: Looking): Findings {
  const seen = new Set<string>();
  const { origin } = new URL(preview.websiteUrl);
  /** The robots.txt of other hosts is not requested for a preview. */
  function ruleOf({ state, reason, fetchUrl }: Candidate): string | null {
    const name = pageStateName(state);
    if (name !== 'Queued') return reason ?? name;
    if (parts.policy.robots === null || new URL(fetchUrl).origin !== origin) return null;
    const { allowed, rule } = rules.decide(fetchUrl);
    return allowed ? null : `robots: ${rule}`;
  }
  return {
    add(candidate, foundIn) {
      if (seen.has(candidate.url)) return;
      seen.add(candidate.url);
      const rule = ruleOf(candidate);
      if (rule === null) preview.wanted++;
      const room = foundIn === 'home' ? request.mostLinks / 2 : request.mostLinks - preview.links.length;
      const shown = preview.links.filter((link) => link.foundIn === foundIn).length;
      if (foundIn === 'home' ? shown < room : room > 0)
        preview.links.push({ url: candidate.fetchUrl, foundIn, rule });
    },
  };
}

/** Answers the sitemaps that the page names. */
async function lookAtHome(
  preview: SitePreview,
  start: StartUrl,
  found: Findings,
  { parts, web }: Looking,
): Promise<string[]> {
  const { home } = preview;
  found.add(parts.discovery.judge(start, 0, 'link', false, true), 'home');
  const answer = await web.get(start.fetchUrl, 'given');
  if ('refused' in answer) {
    home.problem = answer.refused;
    home.statusCode = Number(/^http (\d{3})/.exec(answer.refused)?.[1] ?? Number.NaN) || null;
    preview.problems.push(`The home page cannot be read: ${answer.refused}.`);
    return [];
  }
  home.statusCode = 200;
  home.contentType = answer.contentType;
  home.redirectsTo = answer.url === start.fetchUrl ? null : answer.url;
  const body = await readUpTo(answer, MOST_HOME_BYTES);
  home.problem = (await answer.cutBy())?.refused ?? null;
  const essence = answer.contentType?.split(';', 1)[0].trim().toLowerCase() ?? null;
  if (!parts.policy.wantsType(essence)) {
    home.problem = `type: ${essence} is not wanted`;
    return [];
  }
  const page = parts.parsePage({
    ...{ bytes: body, length: body.length, contentType: answer.contentType },
    ...{ xRobotsTag: null, agentToken: parts.agentToken },
  });
  home.title = page.title;
  const base =
    page.baseHref !== null && URL.canParse(page.baseHref, answer.url)
      ? new URL(page.baseHref, answer.url).href
      : answer.url;
  const links = judgeLinks(page.links, base, 1, page.robots.nofollow, parts);
  home.links = links.length;
  for (const link of links) found.add(link, 'home');
  return sitemapLinks(body.subarray(0, HEAD_BYTES), answer.link).flatMap((link) =>
    URL.canParse(link, answer.url) ? [new URL(link, answer.url).href] : [],
  );
}

async function readUpTo({ pieces }: WebAnswer, most: number): Promise<Uint8Array> {
  const read: Uint8Array[] = [];
  let length = 0;
  for await (const piece of pieces) {
    read.push(piece.slice());
    length += piece.length;
    if (length >= most) break;
  }
  return Buffer.concat(read).subarray(0, most);
}

async function lookAtSitemaps(
  preview: SitePreview,
  config: Config,
  { start, named }: { start: StartUrl; named: string[] },
  found: Findings,
  { parts, web, request }: Looking,
): Promise<void> {
  const entries = new Map<string, number>();
  let judged = 0;
  let isOver = false;
  const batches = findEntries(start.fetchUrl, {
    web,
    paths: guessedPaths(config.sitemapPaths),
    maxBytes: config.maxSitemapBytes,
    pageLinks: async () => named,
    onSitemap({ url, entries: count, problem, isMiss, isPage }) {
      if (isMiss || isPage) return;
      entries.delete(url);
      preview.sitemaps.push({ url, entries: count, problem });
      if (problem !== null) preview.isWhole = false;
    },
  });
  try {
    for await (const batch of batches) {
      for (const { entry, sitemap } of batch) {
        entries.set(sitemap, (entries.get(sitemap) ?? 0) + 1);
        const url = parts.normalizer.normalize(entry.url);
        if (url !== null) found.add(parts.discovery.judge(url, 1, 'sitemap', false, false), 'sitemap');
      }
      judged += batch.length;
      if (judged < request.mostEntries) continue;
      preview.isWhole = false;
      preview.problems.push(`Only the first ${judged} entries of the sitemaps were read.`);
      return;
    }
    isOver = true;
  } finally {
    // Of those that were not read to their end.
    for (const [url, count] of isOver ? [] : entries)
      preview.sitemaps.push({ url, entries: count, problem: 'It was not read to its end.' });
  }
}
