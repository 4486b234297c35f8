/**
 * The link graph by host: one node per host, and a link if any page of one links to a page of another, weighted by the
 * number of links. Links inside a host are counted separately, because they would outweigh all others. Memory: 16 bytes
 * per pair of linked hosts, and 4 per page while it is built.
 */
import { LINK_FLAGS } from '../parse/parsed-page.ts';
import type { Digraph } from './digraph.ts';
import { growingNumbers } from './growing-numbers.ts';
import type { LinkGraph } from './link-graph.ts';

export interface DomainGraph extends Digraph {
  readonly weights: Uint32Array;
  /** How many of the links in a weight are nofollow. */
  readonly nofollow: Uint32Array;
  /** Links between pages of the same host. */
  readonly internalLinks: Uint32Array;
  readonly hosts: readonly string[];
}

export function buildDomainGraph(graph: LinkGraph): DomainGraph {
  const { hosts, hostOf, offsets: linkOffsets, targets: linkTargets, flags } = graph;
  const nodeCount = hosts.length;
  const { pages, firsts } = pagesByHost(graph);
  const offsets = new Uint32Array(nodeCount + 1);
  const targets = growingNumbers(Int32Array);
  const weights = growingNumbers(Uint32Array);
  const nofollow = growingNumbers(Uint32Array);
  const internalLinks = new Uint32Array(nodeCount);
  // Counts of the current host, by target; only the used ones are cleared.
  const counts = new Uint32Array(nodeCount);
  const nofollowCounts = new Uint32Array(nodeCount);
  for (let host = 0; host < nodeCount; host++) {
    const touched: number[] = [];
    for (let at = firsts[host]; at < firsts[host + 1]; at++) {
      const page = pages[at];
      for (let link = linkOffsets[page]; link < linkOffsets[page + 1]; link++) {
        const other = hostOf[linkTargets[link]];
        if (counts[other]++ === 0) touched.push(other);
        nofollowCounts[other] += flags[link] & LINK_FLAGS.nofollow;
      }
    }
    for (const other of touched.sort((a, b) => a - b)) {
      if (other === host) internalLinks[host] = counts[other];
      else {
        targets.push(other);
        weights.push(counts[other]);
        nofollow.push(nofollowCounts[other]);
      }
      counts[other] = 0;
      nofollowCounts[other] = 0;
    }
    offsets[host + 1] = targets.length;
  }
  return {
    nodeCount,
    offsets,
    targets: targets.view(),
    weights: weights.view(),
    nofollow: nofollow.view(),
    internalLinks,
    hosts,
  };
}

/** Page indexes sorted by host: those of host h begin at firsts[h]. */
function pagesByHost({ nodeCount, hostOf, hosts }: LinkGraph) {
  const firsts = new Uint32Array(hosts.length + 1);
  for (let page = 0; page < nodeCount; page++) firsts[hostOf[page] + 1]++;
  for (let host = 0; host < hosts.length; host++) firsts[host + 1] += firsts[host];
  const next = firsts.slice(0, hosts.length);
  const pages = new Int32Array(nodeCount);
  for (let page = 0; page < nodeCount; page++) pages[next[hostOf[page]]++] = page;
  return { pages, firsts };
}
