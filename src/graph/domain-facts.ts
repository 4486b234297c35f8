/**
 * The totals of a host's pages, collected while the link graph is built: counts, range of depth, class, and the title
 * and status of its home page. About 100 bytes per host and its title; nothing per page.
 */
import { PAGE_STATES, type PageState, pageStateName } from '../frontier/page-state.ts';
import type { GraphPage } from '../store/read-side.ts';
import { PAGE_CLASSES, type PageClass, pageClass } from './page-class.ts';

export interface DomainFacts {
  readonly class: PageClass;
  /** The state of most of its pages; of equal counts, the earlier in the table of states. */
  readonly state: PageState;
  /** Of its home page, if that is known. */
  readonly title: string | null;
  readonly status: number | null;
  readonly pages: number;
  readonly processed: number;
  /** Of the page nearest to any origin, and of the farthest. */
  readonly depth: number | null;
  readonly depthMax: number | null;
  readonly discoveredRun: number;
}

interface Tally {
  classRank: number;
  states: number[];
  title: string | null;
  status: number | null;
  depth: number | null;
  depthMax: number | null;
  discoveredRun: number;
}

export interface DomainTally {
  add(page: GraphPage, host: number, isQuality: boolean): void;
  of(host: number): DomainFacts;
}

export function createDomainTally(): DomainTally {
  const tallies: Tally[] = [];
  return {
    add(page, host, isQuality) {
      tallies[host] ??= emptyTally(page);
      const tally = tallies[host];
      tally.states[PAGE_STATES[page.state]]++;
      // The strictest class of its pages is that of the host.
      const rank = PAGE_CLASSES.indexOf(pageClass(page.state, isQuality));
      tally.classRank = Math.min(tally.classRank, rank);
      if (page.depth !== null) {
        tally.depth = Math.min(tally.depth ?? page.depth, page.depth);
        tally.depthMax = Math.max(tally.depthMax ?? page.depth, page.depth);
      }
      tally.discoveredRun = Math.min(tally.discoveredRun, page.discovered_run);
      if (isHomePage(page.url)) {
        tally.title = page.title ?? tally.title;
        tally.status = page.status_code ?? tally.status;
      }
    },
    of(host) {
      const { states, classRank, ...rest } = tallies[host];
      return {
        ...rest,
        class: PAGE_CLASSES[classRank],
        state: pageStateName(states.indexOf(Math.max(...states))),
        pages: states.reduce((sum, count) => sum + count, 0),
        processed: states[PAGE_STATES.Processed],
      };
    },
  };
}

function emptyTally(page: GraphPage): Tally {
  return {
    classRank: PAGE_CLASSES.length - 1,
    states: Object.keys(PAGE_STATES).map(() => 0),
    title: null,
    status: null,
    depth: null,
    depthMax: null,
    discoveredRun: page.discovered_run,
  };
}

/** Nothing follows the first slash after the host. */
function isHomePage(url: string): boolean {
  return url.indexOf('/', url.indexOf('://') + 3) === url.length - 1;
}
