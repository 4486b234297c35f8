/**
 * The pages of a store and their links as one graph in typed arrays. Pages get dense indexes in the order of their ids;
 * URLs and titles stay in the store. Before it: the streams of the read side. After it: the measures of src/graph.
 *
 * Memory: 25 bytes per page, 5 per link, and the names of the hosts; up to two and a half times that while it is built.
 * Never holds all rows at once. A crawl may go on meanwhile: links to pages found after the pages were read are left
 * out.
 */
import { PAGE_STATES } from '../frontier/page-state.ts';
import type { GraphFilter, GraphPage, ReadSide } from '../store/read-side.ts';
import type { Digraph } from './digraph.ts';
import { growingNumbers } from './growing-numbers.ts';

export interface LinkGraph extends Digraph {
  readonly weights: null;
  /** Beside the targets: LINK_FLAGS and UNFOLLOWED. */
  readonly flags: Uint8Array;
  /** By page index, growing. */
  readonly ids: Int32Array;
  readonly projects: Int32Array;
  /** Codes of PAGE_STATES. */
  readonly states: Uint8Array;
  /** Page index → index in hosts. */
  readonly hostOf: Int32Array;
  /** In the order of their first pages. */
  readonly hosts: readonly string[];
  /** The index of the page that a page redirects to, else -1. */
  readonly redirectTo: Int32Array;
  /** The stored depth, the least over all origins; -1 for none. */
  readonly depths: Int32Array;
  /** The index of a page by its id; -1 for none of this graph. */
  indexOf(id: number): number;
}

export type GraphSource = Pick<ReadSide, 'graphPages' | 'graphLinks'>;

/** `onPage` sees every page once, in order of its index, with the facts that the graph does not keep. */
export async function buildLinkGraph(
  source: GraphSource,
  filter: GraphFilter = {},
  onPage: (page: GraphPage, index: number, host: number) => void = () => {},
): Promise<LinkGraph> {
  const pages = await readPages(source, filter, onPage);
  const { ids, redirects } = pages;
  const indexOf = (id: number) => findIndex(ids, id);
  const redirectTo = redirects.map((id) => (id === 0 ? -1 : indexOf(id)));
  const { offsets, targets, flags } = await readLinks(source, filter, ids.length, indexOf);
  return {
    nodeCount: ids.length,
    offsets,
    targets,
    weights: null,
    flags,
    ids,
    projects: pages.projects,
    states: pages.states,
    hostOf: pages.hostOf,
    hosts: pages.hosts,
    redirectTo,
    depths: pages.depths,
    indexOf,
  };
}

async function readPages(
  source: GraphSource,
  filter: GraphFilter,
  onPage: (page: GraphPage, index: number, host: number) => void,
) {
  const ids = growingNumbers(Int32Array);
  const projects = growingNumbers(Int32Array);
  const states = growingNumbers(Uint8Array);
  const hostOf = growingNumbers(Int32Array);
  const redirects = growingNumbers(Int32Array);
  const depths = growingNumbers(Int32Array);
  const hosts: string[] = [];
  const hostIndexes = new Map<string, number>();
  for await (const batch of source.graphPages(filter)) {
    for (const page of batch) {
      let host = hostIndexes.get(page.host);
      if (host === undefined) {
        host = hosts.push(page.host) - 1;
        hostIndexes.set(page.host, host);
      }
      onPage(page, ids.length, host);
      ids.push(page.id);
      projects.push(page.project_id);
      states.push(PAGE_STATES[page.state]);
      hostOf.push(host);
      redirects.push(page.redirect_to ?? 0);
      depths.push(page.depth ?? -1);
    }
  }
  return {
    hosts,
    ids: ids.view(),
    projects: projects.view(),
    states: states.view(),
    hostOf: hostOf.view(),
    redirects: redirects.view(),
    depths: depths.view(),
  };
}

async function readLinks(
  source: GraphSource,
  filter: GraphFilter,
  nodeCount: number,
  indexOf: (id: number) => number,
) {
  const offsets = new Uint32Array(nodeCount + 1);
  const targets = growingNumbers(Int32Array);
  const flags = growingNumbers(Uint8Array);
  let next = 0;
  for await (const links of source.graphLinks(filter)) {
    const from = indexOf(links.from);
    if (from === -1) continue;
    while (next <= from) offsets[next++] = targets.length;
    for (let i = 0; i < links.targets.length; i++) {
      const to = indexOf(links.targets[i]);
      if (to === -1) continue;
      targets.push(to);
      flags.push(links.flags?.[i] ?? 0);
    }
  }
  while (next <= nodeCount) offsets[next++] = targets.length;
  return { offsets, targets: targets.view(), flags: flags.view() };
}

/** The ids of one project have few gaps. Without gaps the first guess is right. */
function findIndex(ids: Int32Array, id: number): number {
  const guess = id - ids[0];
  if (ids[guess] === id) return guess;
  let low = 0;
  let high = ids.length - 1;
  while (low <= high) {
    const middle = (low + high) >>> 1;
    const found = ids[middle];
    if (found === id) return middle;
    if (found < id) low = middle + 1;
    else high = middle - 1;
  }
  return -1;
}
