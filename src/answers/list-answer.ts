/** A list of the store as a list of the wire: the same cursors, the total only for who asks. */
import { ITEMS_UNLESS_SAID, type ListAnswer } from '../contract/lists.ts';
import { SumiError } from '../errors.ts';
import type { ListFilter, ListName, ListQuery, ListRow, Results } from '../store/list-queries.ts';
import type { ReadSide } from '../store/read-side.ts';

/** What every list is asked with. */
export interface PageOfList {
  limit?: number;
  cursor?: string;
  count?: boolean;
}

/** One answer of the store. */
export async function readResults<Name extends ListName>(
  side: Pick<ReadSide, 'list'>,
  name: Name,
  query: Omit<ListQuery<Name>, 'limit' | 'cursor'>,
  { limit = ITEMS_UNLESS_SAID, cursor }: PageOfList,
): Promise<Results<ListRow<Name>>> {
  try {
    return await side.list(name, { ...query, limit, cursor });
  } catch (error) {
    throw error instanceof SumiError && error.code.startsWith('cursor-') ? withPointer(error) : error;
  }
}

/** Says which parameter is wrong. */
function withPointer({ code, details, message }: SumiError): SumiError {
  return new SumiError(code, { ...details, errors: [{ pointer: '/cursor', detail: message }] });
}

export async function totalOf<Name extends ListName>(
  side: Pick<ReadSide, 'count'>,
  name: Name,
  filter: ListFilter<Name>,
  { count, sort }: PageOfList & { sort?: string },
): Promise<Pick<ListAnswer<unknown>, 'total' | 'total_is_exact'>> {
  if (count !== true) return {};
  const counted = await side.count(name, filter, sort);
  return { total: counted.count, total_is_exact: counted.isExact };
}

export function listAnswer<Item>(
  items: Item[],
  { next, previous }: Pick<Results<unknown>, 'next' | 'previous'>,
): ListAnswer<Item> {
  return { items, next_cursor: next, prev_cursor: previous };
}

/** Rows to be looked at for a total that only walking along can tell. */
const MOST_COUNTED = 20_000;
const ROWS_A_CALL = 1000;

/** Counts what `read` leaves of each page of results; not exact where too many would have to be read. */
export async function countByReading(
  read: (place: PageOfList) => Promise<ListAnswer<unknown>>,
): Promise<Pick<ListAnswer<unknown>, 'total' | 'total_is_exact'>> {
  let total = 0;
  let cursor: string | undefined;
  for (let looked = 0; looked < MOST_COUNTED; looked += ROWS_A_CALL) {
    const { items, next_cursor } = await read({ limit: ROWS_A_CALL, cursor });
    total += items.length;
    if (next_cursor === null) return { total, total_is_exact: true };
    cursor = next_cursor;
  }
  return { total, total_is_exact: false };
}
