/** The colour of each page state on a terminal. */
import type { PageState } from '../frontier/page-state.ts';

export function stateColour(state: PageState): 'green' | 'yellow' | 'dim' | null {
  if (state === 'Processed') return 'green';
  if (state === 'Skipped' || state === 'Queued' || state === 'Discovered') return 'dim';
  return 'yellow';
}
