/** What both stores do alike with the rows of the link graph: pick pages by state, and give states their names. */
import { PAGE_STATES, pageStateName } from '../frontier/page-state.ts';
import type { GraphFilter, GraphPage } from './read-rows.ts';

export type RawGraphPage = Omit<GraphPage, 'state'> & { state: number };

/** A condition on `url u`; empty when pages of every state are wanted. */
export function inStates({ states }: GraphFilter): string {
  return states === undefined
    ? ''
    : `AND u.state IN (${states.map((state) => PAGE_STATES[state]).join(', ')})`;
}

/** In its place: a graph has many rows. */
export function withStateName(row: RawGraphPage): GraphPage {
  return Object.assign(row, { state: pageStateName(row.state) }) as GraphPage;
}
