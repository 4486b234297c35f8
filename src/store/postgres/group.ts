/**
 * What is gathered between two commits. Candidates are kept once a URL; links and redirects name them by their place in
 * the list, because their ids are only known once they are found or made (make-urls.ts).
 */
import type { VisitOutcome } from '../../change/visit-record.ts';
import type { Candidate, Claim } from '../../frontier/candidate.ts';
import type { PageStateCode } from '../../frontier/page-state.ts';
import type { PackedChange } from '../change-parts.ts';
import type { HostLease, StoredRobots } from '../host-port.ts';
import type { PageTouch } from '../page-facts.ts';
import type { Settled, Settlement } from '../settlement.ts';
import { PackedRows } from './pack-columns.ts';
import { FETCHED, FETCHED_FACTS, REQUESTS, TEXTS, VISITS } from './packed-rows.ts';

/** A candidate after its row was found or made. */
export interface Resolved {
  id: number;
  hostId: number;
  depth: number;
  state: PageStateCode;
  isNew: boolean;
}

export interface PendingCandidate {
  candidate: Candidate;
  /** Depth as stored: NO_DEPTH where only nofollow links lead. */
  depth: number;
  /** The least depth that any page of the group offers it at. */
  shorterDepth: number;
  referrerId: number | null;
  /** A page that is known already is queued with this priority, if the scope had shut it out for links. */
  reopenPriority: number | null;
}

/** A page's part of the group's links. */
export interface PendingLinks {
  start: number;
  count: number;
  anchors: string[] | null;
}

const FIRST_LINKS = 2048;

/** The links of all pages of a group, one after the other: two arrays a page would be most of what is thrown away. */
export class GatheredLinks {
  /** Page ids, or ~i for the group's candidate i. */
  targets = new Int32Array(FIRST_LINKS);
  flags = new Uint8Array(FIRST_LINKS);
  count = 0;

  /** Makes room for so many, and answers where they begin. */
  reserve(count: number): number {
    const start = this.count;
    this.count += count;
    if (this.count > this.targets.length) {
      const size = Math.max(this.count, 2 * this.targets.length);
      const { targets, flags } = this;
      this.targets = new Int32Array(size);
      this.flags = new Uint8Array(size);
      this.targets.set(targets);
      this.flags.set(flags);
    }
    return start;
  }
}

export interface PendingSettlement {
  lease: HostLease;
  claim: Claim;
  /** The page's depth as its links were offered from it. */
  depth: number;
  state: PageStateCode;
  reason: string | null;
  requeue: Settlement['requeue'];
  /** Where its rows are in the group's lists, counted from 1; 0 for none. */
  factsPlace: number;
  visitPlace: number;
  textPlace: number;
  touch: PageTouch | null;
  outcome: VisitOutcome | null;
  visitedAt: number;
  change: PackedChange | null;
  changeFrequency: number;
  changesDetected: number;
  links: PendingLinks | null;
  /** The page that this one redirects to: an id, or ~i for the group's candidate i. */
  redirect: { candidate: number; maxHops: number } | null;
  /** What its links offered, in the same way. */
  offered: number[];
  countsAsPage: boolean;
  isUnasked: boolean;
  /** What became of it, once it is written. */
  settled: Settled | null;
  /** The page was settled once more in the same group: only the later one counts. */
  isSuperseded: boolean;
}

/** A page claimed and not settled, of which the database has not heard. */
export interface UntoldClaim {
  pageId: number;
  lease: HostLease;
  mark: { isTold: boolean };
}

/** What comes with every page, packed as it will be sent: as objects it would be most of what the garbage collector moves about. */
export interface GatheredRows {
  readonly facts: PackedRows;
  readonly visits: PackedRows;
  readonly texts: PackedRows;
  readonly requests: PackedRows;
}

function newRows(): GatheredRows {
  return {
    facts: new PackedRows(FETCHED, FETCHED_FACTS),
    visits: new PackedRows(VISITS),
    texts: new PackedRows(TEXTS),
    requests: new PackedRows(REQUESTS),
  };
}

function emptied(rows: GatheredRows): GatheredRows {
  for (const list of Object.values(rows) as PackedRows[]) list.clear();
  return rows;
}

export interface Group {
  readonly number: number;
  readonly rows: GatheredRows;
  /** In flight when the group was closed. A page settled after that belongs to the next one, and must not be found waiting. */
  inFlight: UntoldClaim[];
  readonly settlements: PendingSettlement[];
  readonly links: GatheredLinks;
  readonly byPage: Map<number, PendingSettlement>;
  readonly candidates: PendingCandidate[];
  /** Rows of the candidates so far. Holes where only pages of lost hosts offered them. */
  readonly resolved: Resolved[];
  /** All candidates before this one have theirs. */
  resolvedUpTo: number;
  /** Of those that were found or made together, one each: the last that the database wrote. */
  readonly witnesses: Resolved[];
  readonly byUrl: Map<string, number>;
  /** Known pages that may have got a shorter path, by id. */
  readonly shorter: Map<number, number>;
  readonly robots: { hostId: number; robots: StoredRobots }[];
  /** Candidates that nobody's page offered: start URLs. */
  readonly offered: Set<number>;
  readonly dirtyHosts: Set<HostLease>;
  readonly released: HostLease[];
  /** Pages given back. */
  readonly unclaimed: { pageId: number; lease: HostLease }[];
  bytes: number;
}

/** `written` is one that is through: its memory is used again. */
export function newGroup(number: number, written: Group | null): Group {
  return {
    number,
    rows: written === null ? newRows() : emptied(written.rows),
    inFlight: [],
    settlements: [],
    links: new GatheredLinks(),
    byPage: new Map(),
    candidates: [],
    resolved: [],
    resolvedUpTo: 0,
    witnesses: [],
    byUrl: new Map(),
    shorter: new Map(),
    robots: [],
    offered: new Set(),
    dirtyHosts: new Set(),
    released: [],
    unclaimed: [],
    bytes: 0,
  };
}
