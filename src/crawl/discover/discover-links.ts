/**
 * From a parsed page to link targets: every href becomes the id of a known page (through the href cache, without
 * making a string) or a candidate, normalized and judged. After the settlement gave the candidates their ids,
 * `remember` teaches the cache.
 */
import type { Candidate } from '../../frontier/candidate.ts';
import { PAGE_STATES } from '../../frontier/page-state.ts';
import {
  FRAME_FLAGS,
  type FrameKind,
  frameKind,
  LINK_FLAGS,
  type LinkList,
} from '../../parse/parsed-page.ts';
import type { LinkKind, Scope } from '../../scope/classify.ts';
import { type LinkTargets, UNFOLLOWED } from '../../store/settlement.ts';
import { type HrefCache, MISS, NO_PAGE, PENDING } from '../../url/href-cache.ts';
import type { NormalizedUrl, Normalizer } from '../../url/normalize.ts';

export interface DiscoverOptions {
  cache: HrefCache;
  normalizer: Normalizer;
  scope: Scope;
  respectNofollow: boolean;
  followCanonical: boolean;
  followFrames: 'none' | 'frameset' | 'all';
  keepAnchors: boolean;
  /** Why links are recorded and none is queued; null where they are followed. */
  unfollowed: string | null;
}

/** Pages are found by sitemaps alone. */
export const UNFOLLOWED_LINK = 'scope: links are not followed';

const FRAME_REASONS: Readonly<Record<FrameKind, string>> = {
  frame: 'frame: frames are not followed',
  iframe: 'frame: iframes are not followed',
};

/** The kind of link by which a page was found that has this reason. */
export function frameOfReason(reason: string | null): FrameKind | null {
  if (reason === FRAME_REASONS.frame) return 'frame';
  return reason === FRAME_REASONS.iframe ? 'iframe' : null;
}

/** The hrefs that the cache did not know, one a candidate: it is told what they mean once the candidates have ids. */
export interface Misses {
  /** The number that the first one is pending by; each next one's is one less. */
  readonly first: number;
  /** Where the cache keeps them. */
  readonly slots: readonly number[];
}

export const NO_MISSES: Misses = { first: PENDING, slots: [] };

export interface Discovery {
  links: LinkTargets;
  candidates: Candidate[];
  misses: Misses;
}

export interface LinkDiscovery {
  readonly followsCanonical: boolean;
  readonly keepsAnchors: boolean;
  /** A number for the rules by which an href becomes a link: other rules, another number. */
  readonly rulesMark: number;
  /** Links are not followed, what sitemaps name is. */
  readonly isBySitemap: boolean;
  /** The links are valid until the next call. */
  discover(list: LinkList, baseUrl: string, depth: number, pageIsNofollow: boolean): Discovery;
  remember(misses: Misses, candidateIds: number[]): void;
  judge(
    found: NormalizedUrl,
    depth: number,
    kind: LinkKind,
    isNofollow: boolean,
    isStart: boolean,
  ): Candidate;
}

const SLASH = 0x2f;
const QUESTION = 0x3f;
const COLON = 0x3a;
const AMPERSAND = 0x26;
const SPACE = 0x20;
const MAX_FOLDERS = 10_000;
/** The cache keeps numbers of 32 bits. */
const LAST_PENDING = -(2 ** 30);
/** Verdicts on hrefs whose pages have no ids yet: a shared store gives them with its next commit, some hundred pages later. */
const RECENT_VERDICTS = 1 << 14;

export function createLinkDiscovery(options: DiscoverOptions): LinkDiscovery {
  const { cache, normalizer } = options;
  const { judge, follows } = createJudge(options);
  const basesFor = createBases(cache);
  const recent = createRecentVerdicts();
  /** The number that the next new href is pending by. Larger ones are of pages before. */
  let nextPending = PENDING;
  const links: LinkTargets = {
    count: 0,
    targets: new Int32Array(256),
    flags: new Uint8Array(256),
    anchors: null,
  };

  /** Null for one that leads to no page. */
  function judgeHref(
    list: LinkList,
    at: number,
    baseUrl: string,
    depth: number,
    linkFlags: number,
  ): Candidate | null {
    const found = normalizer.normalize(list.hrefText(at), baseUrl);
    if (found === null) return null;
    return judge(found, depth, linkKindOf(linkFlags), (linkFlags & LINK_FLAGS.nofollow) !== 0, false);
  }

  function discover(list: LinkList, baseUrl: string, depth: number, pageIsNofollow: boolean): Discovery {
    const candidates: Candidate[] = [];
    try {
      return discoverInto(candidates, list, baseUrl, depth, pageIsNofollow);
    } finally {
      // Also where a link throws: the cache knows by these numbers what was found before it.
      nextPending -= candidates.length;
      if (nextPending < LAST_PENDING) {
        cache.clear();
        nextPending = PENDING;
      }
    }
  }

  function discoverInto(
    candidates: Candidate[],
    list: LinkList,
    baseUrl: string,
    depth: number,
    pageIsNofollow: boolean,
  ): Discovery {
    const { count, bytes, hrefStart, hrefEnd, hrefHash, flags } = list;
    if (links.targets.length < count) {
      links.targets = new Int32Array(count * 2);
      links.flags = new Uint8Array(count * 2);
    }
    const anchors: string[] | null = options.keepAnchors ? [] : null;
    const first = nextPending;
    const slots: number[] = [];
    const bases = basesFor(baseUrl, list.charset);
    let kept = 0;
    /** The flags by which each candidate was judged: a link with others is judged anew. */
    const judgedBy: number[] = [];
    /** The first link of the page to itself: `#part` may stand there a thousand times. */
    let self = -1;
    for (let i = 0; i < count; i++) {
      let linkFlags = pageIsNofollow ? flags[i] | LINK_FLAGS.nofollow : flags[i];
      if (linkFlags & LINK_FLAGS.nofollow && options.respectNofollow) linkFlags |= UNFOLLOWED;
      if (linkFlags & LINK_FLAGS.canonical && !options.followCanonical) continue;
      if (linkFlags >= FRAME_FLAGS.frame && !follows(linkKindOf(linkFlags))) linkFlags |= UNFOLLOWED;
      const isSelf = hrefStart[i] === hrefEnd[i];
      const base = isSelf ? 0 : baseFor(bases, bytes, hrefStart[i], hrefEnd[i]);
      let target = base === 0 ? MISS : cache.find(base, bytes, hrefStart[i], hrefEnd[i], hrefHash[i]);
      if (target === NO_PAGE) continue;
      let verdict: Candidate | null = null;
      if (target <= MISS) {
        const index = isSelf ? self : first - target;
        if (target < MISS && index < 0) verdict = recent.find(target, depth, linkFlags);
        target = index >= 0 && judgedBy[index] === linkFlags ? -index - 1 : MISS;
      }
      if (target === MISS) {
        verdict ??= judgeHref(list, i, baseUrl, depth, linkFlags);
        if (verdict === null) {
          if (base !== 0) cache.put(base, bytes, hrefStart[i], hrefEnd[i], hrefHash[i], NO_PAGE);
          continue;
        }
        const index = candidates.length;
        candidates.push(verdict);
        judgedBy.push(linkFlags);
        if (isSelf) self = index;
        const slot =
          base === 0 ? -1 : cache.put(base, bytes, hrefStart[i], hrefEnd[i], hrefHash[i], first - index);
        slots.push(slot);
        recent.put(first - index, depth, linkFlags, verdict);
        target = -index - 1;
      }
      links.targets[kept] = target;
      links.flags[kept] = linkFlags;
      if (anchors !== null) anchors.push(list.anchorText(i));
      kept++;
    }
    links.count = kept;
    links.anchors = anchors;
    return { links, candidates, misses: { first, slots } };
  }

  return {
    followsCanonical: options.followCanonical,
    keepsAnchors: options.keepAnchors,
    rulesMark: markOf(rulesOf(options)),
    isBySitemap: options.unfollowed === UNFOLLOWED_LINK,
    judge,
    discover,
    remember({ first, slots }, candidateIds) {
      for (let i = 0; i < slots.length; i++) {
        // 0: the store will only know the id when it commits, and tells it with a later page.
        if (candidateIds[i] !== 0) cache.settle(slots[i], first - i, candidateIds[i]);
      }
    },
  };
}

/** Says of a URL what becomes of it, by the scope and by the kind of link that leads to it. */
function createJudge({ scope, unfollowed, followFrames }: DiscoverOptions) {
  function judge(
    found: NormalizedUrl,
    linkDepth: number,
    linkKind: LinkKind,
    isNofollow: boolean,
    isStart: boolean,
  ): Candidate {
    const { url, fetchUrl, host } = found;
    // However far the page that links it is: depth is counted from here.
    const depth = scope.isOrigin(host) ? 0 : linkDepth;
    const verdict = scope.classify({ url, fetchUrl, host, depth, isStart, isNofollow, linkKind });
    const state = PAGE_STATES[verdict.state];
    const isOfPage = linkKind === 'link' || linkKind === 'frame' || linkKind === 'iframe';
    if (state === PAGE_STATES.Queued && !isStart && isOfPage) {
      if (unfollowed !== null)
        return candidate(found, depth, verdict.priority, PAGE_STATES.Discovered, unfollowed);
      // A link that is followed opens it.
      if (!follows(linkKind)) {
        const { priority } = verdict;
        const unopened = candidate(found, depth, priority, PAGE_STATES.Skipped, FRAME_REASONS[linkKind]);
        unopened.onlyNofollow = true;
        return unopened;
      }
    }
    const judged = candidate(found, depth, verdict.priority, state, verdict.reason);
    judged.onlyNofollow = isNofollow && verdict.reason?.startsWith('nofollow') === true;
    return judged;
  }

  function follows(kind: LinkKind): kind is Exclude<LinkKind, FrameKind> {
    if (kind === 'iframe') return followFrames === 'all';
    return kind !== 'frame' || followFrames !== 'none';
  }

  return { judge, follows };
}

/** What was so before frames were followed stays as it was, and so does the mark. */
function rulesOf({ normalizer, respectNofollow, followCanonical, followFrames }: DiscoverOptions): unknown[] {
  const rules = [normalizer.rules, respectNofollow, followCanonical];
  return followFrames === 'frameset' ? rules : [...rules, followFrames];
}

/** As which kind of link the flags of one that was found on a page are judged. */
export function linkKindOf(flags: number): LinkKind {
  return flags & LINK_FLAGS.canonical ? 'canonical' : (frameKind(flags) ?? 'link');
}

function markOf(rules: readonly unknown[]): number {
  let mark = 0;
  for (const byte of Buffer.from(JSON.stringify(rules))) mark = Math.imul(mark ^ byte, 0x01000193);
  return mark;
}

function candidate(
  found: NormalizedUrl,
  depth: number,
  priority: number,
  state: Candidate['state'],
  reason: string | null,
): Candidate {
  return {
    url: found.url,
    fetchUrl: found.fetchUrl,
    host: found.host,
    depth,
    priority,
    state,
    reason,
    onlyNofollow: false,
  };
}

/** What was decided lately, by the number that the href is pending by; at another depth, or with other flags, it must be judged anew. */
function createRecentVerdicts() {
  const verdicts: (Candidate | undefined)[] = new Array(RECENT_VERDICTS);
  const pendings = new Int32Array(RECENT_VERDICTS);
  const depths = new Int32Array(RECENT_VERDICTS);
  const flags = new Int32Array(RECENT_VERDICTS);
  return {
    find(pending: number, depth: number, linkFlags: number): Candidate | null {
      const at = -pending & (RECENT_VERDICTS - 1);
      if (pendings[at] !== pending || depths[at] !== depth || flags[at] !== linkFlags) return null;
      return verdicts[at]!;
    },
    put(pending: number, depth: number, linkFlags: number, verdict: Candidate): void {
      const at = -pending & (RECENT_VERDICTS - 1);
      pendings[at] = pending;
      depths[at] = depth;
      flags[at] = linkFlags;
      verdicts[at] = verdict;
    },
  };
}

interface Bases {
  folder: number;
  origin: number;
  scheme: number;
  anywhere: number;
}

/** The bases of a page's folder, remembered: a crawl stays in a folder for many pages. */
function createBases(cache: HrefCache): (baseUrl: string, charset: string | null) => Bases {
  const byFolder = new Map<string, Bases>();
  const ids = new Map<string, number>();
  const idOf = (base: string): number => {
    let id = ids.get(base);
    if (id === undefined) {
      id = cache.newBase();
      ids.set(base, id);
    }
    return id;
  };
  return (baseUrl, charset) => {
    const query = baseUrl.indexOf('?');
    const folder = baseUrl.slice(0, baseUrl.lastIndexOf('/', query === -1 ? baseUrl.length : query) + 1);
    // Behind a `?` the same letters are other bytes in another charset.
    const mark = charset === null ? '' : `${charset} `;
    let bases = byFolder.get(mark + folder);
    if (bases === undefined) {
      if (byFolder.size >= MAX_FOLDERS) {
        byFolder.clear();
        ids.clear();
      }
      const authority = folder.indexOf('/', folder.indexOf('//') + 2);
      bases = {
        folder: cache.newBase(),
        origin: idOf(mark + folder.slice(0, authority)),
        scheme: idOf(mark + folder.slice(0, folder.indexOf(':') + 1)),
        anywhere: idOf(mark),
      };
      byFolder.set(mark + folder, bases);
    }
    return bases;
  };
}

/**
 * What the meaning of an href that is not empty depends on; 0 when it is the whole URL of the page, which the cache does
 * not serve.
 */
function baseFor(bases: Bases, bytes: Uint8Array, start: number, end: number): number {
  const first = bytes[start];
  if (first === SLASH) return start + 1 < end && bytes[start + 1] === SLASH ? bases.scheme : bases.origin;
  // A reference or a control character may turn out to be a question mark.
  if (first === QUESTION || first === AMPERSAND || first <= SPACE) return 0;
  // "http://…" means the same everywhere; "http:page" and a colon further in ("page?x=a:b") are relative references.
  if (start + 7 < end && (first | 0x20) === 0x68) {
    const colon = bytes[start + 4] === COLON ? start + 4 : start + 5;
    if (bytes[colon] === COLON && bytes[colon + 1] === SLASH && bytes[colon + 2] === SLASH)
      return bases.anywhere;
  }
  return bases.folder;
}
