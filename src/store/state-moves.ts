/** What a judge of known pages may say, and how many pages his word moved: the same for every adapter. */
import { PAGE_STATES, type PageStateCode } from '../frontier/page-state.ts';
import { checkTransition } from '../frontier/page-transitions.ts';
import type { KnownPage } from './frontier-port.ts';
import type { StateMove } from './project-port.ts';

/** Throws unless a page in this state may be given that one; what was never read is not given back as read. */
export function checkRevision(
  { state: from, wasRead }: { state: PageStateCode; wasRead: KnownPage['wasRead'] | number },
  to: PageStateCode,
): void {
  checkTransition(to === PAGE_STATES.Processed ? 'restored' : 'reconsidered', from, to);
  if (to === PAGE_STATES.Processed && !wasRead)
    throw new Error('a page that was never read is not Processed');
}

const STATES = 16;

/** Pages by the states they left and got; those that stayed are left out. */
export function createMoves() {
  const counts = new Float64Array(STATES * STATES);
  return {
    add(from: PageStateCode, to: PageStateCode): void {
      if (from !== to) counts[from * STATES + to]++;
    },
    list(): StateMove[] {
      const moves: StateMove[] = [];
      for (const [at, pages] of counts.entries()) {
        if (pages === 0) continue;
        moves.push({
          from: Math.floor(at / STATES) as PageStateCode,
          to: (at % STATES) as PageStateCode,
          pages,
        });
      }
      return moves;
    },
  };
}
