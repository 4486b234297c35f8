/** The filters of links as a program writes them, as those of the store. */
import type { PageState } from '../frontier/page-state.ts';
import type { StatusClass } from '../store/list-queries.ts';
import type { LinksQuestion } from './read-site.ts';

export interface AskedLinks {
  to_state?: readonly PageState[];
  to_status?: readonly string[];
  broken?: boolean;
}

export function readLinksQuestion({
  to_state: toStates,
  to_status,
  broken,
}: AskedLinks): Pick<LinksQuestion, 'toStates' | 'toStatusClasses' | 'broken'> {
  const toStatusClasses = to_status?.map((name) => Number(name[0]) as StatusClass);
  return { toStates, toStatusClasses, broken };
}
