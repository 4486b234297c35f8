/**
 * A list's keys as one table has them, in the order of one of its indexes. Rows that do not fit are seen too: that is how
 * a walk knows how much it has looked at. The batch is cut from the table alone; what a condition needs besides is joined
 * to the batch.
 */
import type { Cut, Key, KeyValue } from './list-cursor.ts';
import type { ListDatabase } from './list-database.ts';
import type { SortOrder } from './list-queries.ts';
import type { Seen, Track } from './walk-list.ts';

export interface Condition {
  sql: string;
  values: readonly unknown[];
}

export interface TableTrack {
  /** A table, or a question that stands for one, with its values. */
  table: string;
  tableValues?: readonly unknown[];
  /** The name by which conditions and joins know the table. */
  alias: string;
  /** Columns of the table's index, which are unique together. */
  key: readonly string[];
  order: SortOrder;
  /** Conditions on the table's own columns that an index serves. */
  within: readonly Condition[];
  joins: string;
  fits: readonly Condition[];
}

export const condition = (sql: string, ...values: readonly unknown[]): Condition => ({ sql, values });

/** The comparison that leads on from a cut, and the direction in which SQL sorts. */
export function onward(
  order: SortOrder,
  cut: Cut | null,
  direction: 'forward' | 'back',
): { sign: string; sorted: string } {
  const grows = (order === 'asc') === (direction === 'forward');
  // Behind a cut in the walk's own direction stands the row itself where the cut is on its near side.
  const isIncluded = cut !== null && (cut.side === 'before') === (direction === 'forward');
  return { sign: `${grows ? '>' : '<'}${isIncluded ? '=' : ''}`, sorted: grows ? 'ASC' : 'DESC' };
}

const allOf = (conditions: readonly Condition[]) => conditions.map(({ sql }) => `(${sql})`).join(' AND ');
const valuesOf = (conditions: readonly Condition[]) => conditions.flatMap(({ values }) => values);

export function createTableTrack(db: ListDatabase, asked: TableTrack): Track {
  const { table, alias, key, order, joins, fits } = asked;
  const own = (prefix: string) => key.map((column) => `${prefix}${column}`);
  const chosen = own(`${alias}.`).map((column, i) => `${column} AS k${i}`);
  const isFit = fits.length === 0 ? '1' : `CASE WHEN ${allOf(fits)} THEN 1 ELSE 0 END`;
  return {
    keyLength: key.length,
    async step(from, direction, size) {
      const { sign, sorted } = onward(order, from, direction);
      const marks = key.map(() => '?').join(', ');
      const within = [...asked.within];
      if (from !== null) within.push(condition(`(${own('').join(', ')}) ${sign} (${marks})`, ...from.key));
      const where = within.length === 0 ? '' : `WHERE ${allOf(within)}`;
      const orderBy = (prefix: string) =>
        own(prefix)
          .map((column) => `${column} ${sorted}`)
          .join(', ');
      const rows = await db.ask<Record<string, KeyValue>>(
        `SELECT ${chosen.join(', ')}, ${isFit} AS fits
         FROM (SELECT * FROM ${table} ${alias} ${where} ORDER BY ${orderBy('')} LIMIT ?) ${alias} ${joins}
         ORDER BY ${orderBy(`${alias}.`)}`,
        [...valuesOf(fits), ...(asked.tableValues ?? []), ...valuesOf(within), size],
      );
      return rows.map((row): Seen => ({ key: key.map((_, i) => row[`k${i}`]), fits: row.fits === 1 }));
    },
  };
}

/** A list that is known to be empty. */
export const emptyTrack = (keyLength: number): Track => ({ keyLength, step: async () => [] });

/** `read` gives rows in any order. */
export function inOrderOf<Row>(keys: readonly Key[], rows: Iterable<Row>, keyOf: (row: Row) => Key): Row[] {
  const byKey = new Map<string, Row>();
  for (const row of rows) byKey.set(keyOf(row).join(' '), row);
  return keys.flatMap((key) => byKey.get(key.join(' ')) ?? []);
}
