/**
 * Which state a page may get after which: specification 004 section 4.2, and what runs, redirects and changed lists add
 * to it. One table for every store; each move is checked under the event that makes it, so that what is right for one
 * (a new run queues a page that was read) is not thereby right for another (a settlement never does).
 *
 * Promises: a move that the table does not name throws a plain Error, because only a mistake in this program can make
 * it. Never a SumiError: no operator can help it. Costs one look into a typed array.
 */
import { PAGE_STATES, type PageState, type PageStateCode, pageStateName } from './page-state.ts';

type Moves = Partial<Record<PageState, readonly PageState[]>>;

/** What a rule of the scope may say of a page that was not asked. */
const VERDICTS = ['Discovered', 'Queued', 'Blacklisted', 'Stubbed', 'Skipped', 'DepthExceeded'] as const;
/** How a request, or the refusal to make it, ends. */
const ANSWERS = [
  'Processed',
  'DeadLink',
  'Gone',
  'Unreachable',
  'RateLimited',
  'Failed',
  'ContentMismatch',
] as const;

const TRANSITIONS = {
  /** A URL nobody knew gets its row. */
  found: { Discovered: VERDICTS },
  /** Its host's holder takes it. */
  claimed: { Queued: ['Fetching'] },
  /** Asked, or refused by robots.txt; Queued is a retry, or a page given back unasked. */
  settled: { Fetching: [...ANSWERS, 'Skipped', 'Queued'] },
  /** The host, or the run, takes no more pages. */
  closed: { Queued: ['RateLimited', 'RequestLimitHit', 'Unreachable', 'Skipped', 'Failed'] },
  /** A shorter path, a followed link, a start URL or a redirect leads to a page that the scope had shut out. */
  reopened: { Discovered: VERDICTS, Skipped: VERDICTS, DepthExceeded: VERDICTS },
  /** The chain of redirects that it began has come to nothing. */
  chainFailed: { Processed: ['Failed'], Fetching: ['Failed'], Failed: ['Failed'] },
  /** A new run, or a changed configuration, puts every page that is not in flight before the scope. */
  reconsidered: Object.fromEntries(
    ([...VERDICTS, ...ANSWERS, 'RequestLimitHit'] as const).map((state) => [state, VERDICTS]),
  ) as Moves,
  /** A domain left the blacklist or the stub list, and what was read before it came there still stands. */
  restored: { Blacklisted: ['Processed'], Stubbed: ['Processed'] },
} satisfies Record<string, Moves>;

export type PageEvent = keyof typeof TRANSITIONS;

/** By event, then by the state before: the states after as bits. */
const ALLOWED: Readonly<Record<PageEvent, Uint16Array>> = Object.fromEntries(
  Object.entries(TRANSITIONS).map(([event, moves]: [string, Moves]) => {
    const bits = new Uint16Array(16);
    for (const [from, states] of Object.entries(moves))
      for (const to of states ?? []) bits[PAGE_STATES[from as PageState]] |= 1 << PAGE_STATES[to];
    return [event, bits];
  }),
) as Record<PageEvent, Uint16Array>;

export function isAllowed(event: PageEvent, from: PageStateCode, to: PageStateCode): boolean {
  return ((ALLOWED[event][from] >> to) & 1) === 1;
}

/** Throws unless the table names the move. */
export function checkTransition(event: PageEvent, from: PageStateCode, to: PageStateCode): void {
  if (((ALLOWED[event][from] >> to) & 1) === 0)
    throw new Error(`no page may go from ${pageStateName(from)} to ${pageStateName(to)} by being ${event}`);
}
