/**
 * Groups the pages of a site for its picture: into sections (folders of its paths), or the most linked pages one by
 * one. The survey counts links between groups as those between domains. Memory: 4 bytes per page, and the names of up
 * to COUNT_AT_MOST folders.
 */
import { PAGE_STATES } from '../frontier/page-state.ts';
import type { GraphFilter, ReadSide } from '../store/read-side.ts';
import type { LinkGraph } from './link-graph.ts';

/** The link graph with groups instead of hosts. */
export interface GroupedPages {
  links: LinkGraph;
  /** By group: it stands for everything that is not shown separately, and is no node of the picture. */
  isRest: boolean[];
  /** By group: it is another site, and none of its pages was requested. */
  isOutside: boolean[];
  /** The number of all groups, shown or not. */
  total: number;
}

type Pages = Pick<ReadSide, 'graphPages'>;

/** A picture of a few sections says nothing: large ones are split until there are this many. */
const ENOUGH_SECTIONS = 24;
const LARGE_SHARE = 0.12;
const MOST_SECTIONS = 300;
const MOST_OUTSIDE = 60;
const DEEPEST = 3;
const COUNT_AT_MOST = 200_000;

/** Hosts with requested pages; the others are only linked to. */
export function visitedHosts({ hosts, hostOf, states, nodeCount }: LinkGraph): Uint8Array {
  const isVisited = new Uint8Array(hosts.length);
  for (let page = 0; page < nodeCount; page++) if (isAsked(states[page])) isVisited[hostOf[page]] = 1;
  return isVisited;
}

const NOT_ASKED: ReadonlySet<number> = new Set<number>([
  PAGE_STATES.Discovered,
  PAGE_STATES.Queued,
  PAGE_STATES.Fetching,
  PAGE_STATES.Skipped,
  PAGE_STATES.Stubbed,
  PAGE_STATES.Blacklisted,
  PAGE_STATES.DepthExceeded,
  PAGE_STATES.RequestLimitHit,
]);
const isAsked = (state: number) => !NOT_ASKED.has(state);

/** Folders of the visited hosts, and one group for each host that is only linked to. */
export async function groupBySection(
  side: Pages,
  filter: GraphFilter,
  links: LinkGraph,
): Promise<GroupedPages> {
  const isVisited = visitedHosts(links);
  const isSeveral = isVisited.reduce((sum, one) => sum + one, 0) > 1;
  const folders = new Map<string, number>();
  for await (const [index, url] of pagesOf(side, filter, links)) {
    if (isVisited[links.hostOf[index]] === 0) continue;
    for (const folder of foldersOf(url)) {
      const count = folders.get(folder);
      if (count !== undefined || folders.size < COUNT_AT_MOST) folders.set(folder, (count ?? 0) + 1);
    }
  }
  const sections = chooseSections(folders);
  const groups = new Groups(links.nodeCount);
  for await (const [index, url] of pagesOf(side, filter, links)) {
    const host = links.hosts[links.hostOf[index]];
    if (isVisited[links.hostOf[index]] === 0) groups.put(index, host, true);
    else {
      const own = sectionOf(url, sections, folders);
      if (own === null) groups.put(index, SMALLER, false);
      else groups.put(index, nameOf(own, isSeveral), false, own);
    }
  }
  return groups.close(links, MOST_OUTSIDE, sections.total);
}

const SMALLER = 'smaller sections';

/**
 * `https://host/`, `https://host/a/`, `https://host/a/b/`: the host, and the folders of the path, the outermost first.
 */
function foldersOf(url: string): string[] {
  const start = url.indexOf('/', url.indexOf('://') + 3);
  if (start === -1) return [`${url}/`];
  const query = url.slice(start).search(/[?#]/);
  const path = query === -1 ? url : url.slice(0, start + query);
  const folders = [path.slice(0, start + 1)];
  for (let at = path.indexOf('/', start + 1); at !== -1; at = path.indexOf('/', at + 1)) {
    if (folders.length > DEEPEST) break;
    folders.push(path.slice(0, at + 1));
  }
  return folders;
}

interface Sections {
  chosen: ReadonlySet<string>;
  total: number;
}

/** The folders at the top of each host. While there are few, the largest are split into their own folders. */
function chooseSections(folders: ReadonlyMap<string, number>): Sections {
  const children = new Map<string, string[]>();
  const roots: string[] = [];
  let pages = 0;
  for (const [folder, count] of folders) {
    const parent = parentOf(folder);
    if (parent === null) {
      roots.push(folder);
      pages += count;
    } else {
      const siblings = children.get(parent);
      if (siblings === undefined) children.set(parent, [folder]);
      else siblings.push(folder);
    }
  }
  const sections = new Set([...roots, ...roots.flatMap((root) => children.get(root) ?? [])]);
  const parted = new Set(roots);
  while (sections.size < ENOUGH_SECTIONS) {
    const largest = [...sections]
      .filter((folder) => !parted.has(folder) && (children.get(folder)?.length ?? 0) > 1)
      .sort((a, b) => folders.get(b)! - folders.get(a)! || (a < b ? -1 : 1))[0];
    if (largest === undefined || folders.get(largest)! < pages * LARGE_SHARE) break;
    parted.add(largest);
    for (const child of children.get(largest)!) sections.add(child);
  }
  const chosen = [...sections]
    .sort((a, b) => Number(isRoot(b)) - Number(isRoot(a)) || folders.get(b)! - folders.get(a)!)
    .slice(0, MOST_SECTIONS);
  return { chosen: new Set(chosen), total: sections.size };
}

function parentOf(folder: string): string | null {
  return isRoot(folder) ? null : folder.slice(0, folder.lastIndexOf('/', folder.length - 2) + 1);
}

const isRoot = (folder: string) => folder.indexOf('/', folder.indexOf('://') + 3) === folder.length - 1;

/** Null for a page in a folder that is not shown. `/docs` belongs to `/docs/`, if that has pages. */
function sectionOf(url: string, { chosen }: Sections, folders: ReadonlyMap<string, number>): string | null {
  const way = foldersOf(url);
  const asFolder = `${url.replace(/[?#].*$/, '')}/`;
  if (way.length <= DEEPEST && folders.has(asFolder)) way.push(asFolder);
  // A folder that was not chosen does not belong to the top of its host.
  if (way.length > 1 && !chosen.has(way[1])) return null;
  return way.findLast((folder) => chosen.has(folder)) ?? null;
}

function nameOf(folder: string, isSeveral: boolean): string {
  const start = folder.indexOf('://') + 3;
  return readable(isSeveral ? folder.slice(start) : folder.slice(folder.indexOf('/', start)));
}

/** Without characters that control text or are invisible, and without those that have a meaning in a URL. */
const HARMLESS = /^(?:[\p{L}\p{M}\p{N}]|[\x21-\x7e])*$/u;
const MEANS_SOMETHING = /%(?:2f|3f|23|25)/i;

/** As people write it: `/über/`, not `/%C3%BCber/`; unchanged if that would hide something. */
function readable(path: string): string {
  if (!path.includes('%') || MEANS_SOMETHING.test(path)) return path;
  try {
    const text = decodeURIComponent(path);
    return HARMLESS.test(text) ? text : path;
  } catch {
    // Not UTF-8.
    return path;
  }
}

/** The most linked pages one by one, and always the start pages; all others are left out. */
export async function groupByPage(
  side: Pages,
  filter: GraphFilter,
  links: LinkGraph,
  most: number,
): Promise<GroupedPages> {
  const references = new Uint32Array(links.nodeCount);
  for (const target of links.targets) references[target]++;
  const isStart = (page: number) => Number(links.depths[page] === 0);
  const isVisited = visitedHosts(links);
  const isInside = (page: number) => isVisited[links.hostOf[page]];
  const order = Int32Array.from({ length: links.nodeCount }, (_, page) => page).sort(
    (a, b) => isStart(b) - isStart(a) || isInside(b) - isInside(a) || references[b] - references[a] || a - b,
  );
  const isShown = new Uint8Array(links.nodeCount);
  for (const page of order.subarray(0, most)) isShown[page] = 1;
  const isSeveral = isVisited.reduce((sum, one) => sum + one, 0) > 1;
  const groups = new Groups(links.nodeCount);
  for await (const [index, url] of pagesOf(side, filter, links)) {
    const isOutside = isInside(index) === 0;
    if (isShown[index] === 1) groups.put(index, nameOf(url, isSeveral || isOutside), isOutside, url);
  }
  return groups.close(links, Number.POSITIVE_INFINITY, links.nodeCount);
}

async function* pagesOf(
  side: Pages,
  filter: GraphFilter,
  links: LinkGraph,
): AsyncGenerator<[number, string]> {
  for await (const batch of side.graphPages(filter)) {
    for (const { id, url } of batch) {
      const index = links.indexOf(id);
      if (index !== -1) yield [index, url];
    }
  }
}

/** Gives each page the number of its group; other pages belong to the rest. */
class Groups {
  readonly #groupOf: Int32Array;
  readonly #names: string[] = [];
  readonly #isOutside: boolean[] = [];
  readonly #counts: number[] = [];
  readonly #numbers = new Map<string, number>();

  constructor(pages: number) {
    this.#groupOf = new Int32Array(pages).fill(-1);
  }

  put(page: number, name: string, isOutside: boolean, key = `${isOutside} ${name}`): void {
    let group = this.#numbers.get(key);
    if (group === undefined) {
      group = this.#names.push(name) - 1;
      this.#isOutside.push(isOutside);
      this.#counts.push(0);
      this.#numbers.set(key, group);
    }
    this.#counts[group]++;
    this.#groupOf[page] = group;
  }

  /** Shows so many of the other sites: those with most pages. */
  close(links: LinkGraph, mostOutside: number, total: number): GroupedPages {
    const outside = this.#names
      .map((_, group) => group)
      .filter((group) => this.#isOutside[group])
      .sort((a, b) => this.#counts[b] - this.#counts[a] || a - b);
    const left = new Set(outside.slice(mostOutside));
    const rest = this.#names.length;
    const hostOf = this.#groupOf.map((group) => (group === -1 || left.has(group) ? rest : group));
    // Without pages it is no group, and must not get a rank.
    const hosts = [...this.#names];
    const isRest = hosts.map((_, group) => left.has(group));
    const isOutside = [...this.#isOutside];
    if (hostOf.includes(rest)) {
      hosts.push('');
      isRest.push(true);
      isOutside.push(true);
    }
    return {
      links: { ...links, hosts, hostOf },
      isRest,
      isOutside,
      total: total + (mostOutside === Number.POSITIVE_INFINITY ? 0 : outside.length),
    };
  }
}
