/**
 * Which state may follow which. One table for every store. Each move is checked under the event that makes it. Example:
 * a new run may queue a page that was read; a settlement may not.
 *
 * Promises: a move that is not in the table throws a plain Error, because only a mistake in this program can cause it.
 * Never a SumiError, because no operator can help. Costs one access to a typed array.
 */
import { PAGE_STATES, type PageState, type PageStateCode, pageStateName } from './page-state.ts';

type Moves = Partial<Record<PageState, readonly PageState[]>>;

/** The verdicts of the scope on a page that was not requested. */
const VERDICTS = ['Discovered', 'Queued', 'Blacklisted', 'Stubbed', 'Skipped', 'DepthExceeded'] as const;
/** The ends of a request, or of a refusal to send it. */
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
  /** A new URL gets its row. */
  found: { Discovered: VERDICTS },
  /** The holder of its host takes it. */
  claimed: { Queued: ['Fetching'] },
  /** Requested, or refused by robots.txt. Queued means a retry, or a page that was given back without a request. */
  settled: { Fetching: [...ANSWERS, 'Skipped', 'Queued'] },
  /** The host or the run takes no more pages. */
  closed: { Queued: ['RateLimited', 'RequestLimitHit', 'Unreachable', 'Skipped', 'Failed'] },
  /** A shorter path, a followed link, a start URL or a redirect leads to a page that the scope had excluded. */
  reopened: { Discovered: VERDICTS, Skipped: VERDICTS, DepthExceeded: VERDICTS },
  /** The chain of redirects that began here has failed. */
  chainFailed: { Processed: ['Failed'], Fetching: ['Failed'], Failed: ['Failed'] },
  /** A new run, or a changed configuration, judges every page that is not in flight again. */
  reconsidered: Object.fromEntries(
    ([...VERDICTS, ...ANSWERS, 'RequestLimitHit'] as const).map((state) => [state, VERDICTS]),
  ) as Moves,
  /** A domain left the blacklist or the stub list: what was read before is valid again. */
  restored: { Blacklisted: ['Processed'], Stubbed: ['Processed'] },
} satisfies Record<string, Moves>;

export type PageEvent = keyof typeof TRANSITIONS;

/** By event and by the state before: the allowed states after, as bits. */
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

/** Throws if the table does not have the move. */
export function checkTransition(event: PageEvent, from: PageStateCode, to: PageStateCode): void {
  if (((ALLOWED[event][from] >> to) & 1) === 0)
    throw new Error(`no page may go from ${pageStateName(from)} to ${pageStateName(to)} by being ${event}`);
}
