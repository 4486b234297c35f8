/** How rows of a CRAWL become rows of its table: plain data, made before any request, read by both threads. */
import type { ColumnName } from './columns.ts';

/** Where the value of a column comes from; `other`: from its default, and a row that is replaced keeps it. */
export type ColumnSource =
  | { readonly from: 'row'; readonly column: ColumnName }
  | { readonly from: 'extract'; readonly at: number }
  | { readonly from: 'other' };

export interface PlannedColumn {
  readonly name: string;
  readonly type: string;
  readonly source: ColumnSource;
  /** Null without one. */
  readonly defaultExpression: string | null;
  readonly isNullable: boolean;
}

export interface TargetPlan {
  readonly catalog: string;
  readonly schema: string;
  readonly table: string;
  /** All three, quoted. */
  readonly qualified: string;
  /** For people, and for what is kept of the table elsewhere: without the catalog of the session's file and without `main`. */
  readonly name: string;
  readonly isNew: boolean;
  /** In the order of the table, generated ones left out. */
  readonly columns: readonly PlannedColumn[];
  /** Columns that the table lacks. */
  readonly missing: readonly string[];
  readonly wantsBody: boolean;
  readonly wantsText: boolean;
  readonly wantsHeaders: boolean;
  /** The type of the whole row as DuckDB writes it: shows whether the table was altered. */
  readonly shape: string;
}

export function findColumn(plan: TargetPlan, wanted: ColumnName): PlannedColumn | undefined {
  return plan.columns.find(({ source }) => source.from === 'row' && source.column === wanted);
}
