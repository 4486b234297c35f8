/** The order in which pages are listed, the same on both databases: as they were found, or by what was asked for. */
import type { PageFilter } from './read-rows.ts';

/** A page's place in a list: its id, or its sort key, URL and id. */
export type PagePlace = readonly [id: number] | readonly [key: number, url: string, id: number];

export interface PageOrder {
  /** What a row is asked for as `key`, beside its own columns. */
  key: string;
  /** As SQL, growing from row to row, as many values as a place has. */
  columns: readonly string[];
  /** Before all pages. */
  first: PagePlace;
  placeOf(row: { key: number; url: string; id: number }): PagePlace;
  /** No index serves a sort key: every batch looks at all pages again, so that there should be few. */
  batch: number;
}

const AS_FOUND: PageOrder = {
  key: 'u.id',
  columns: ['u.id'],
  first: [0],
  placeOf: ({ id }) => [id],
  batch: 1000,
};

/** Where pages that change often are asked for, those that change most come first; else those not visited for longest. */
export function orderOfPages(
  { changingMoreThan, notVisitedSince }: PageFilter,
  urlByBytes: string,
): PageOrder {
  if (changingMoreThan === undefined && notVisitedSince === undefined) return AS_FOUND;
  const [key, first] = changingMoreThan === undefined ? ['f.visited_at', -1] : ['-f.change_frequency', -1e30];
  return {
    key,
    columns: [key, urlByBytes, 'u.id'],
    first: [first, '', 0],
    placeOf: (row) => [row.key, row.url, row.id],
    batch: 10_000,
  };
}
