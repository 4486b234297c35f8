/** Puts rows into an Appender, column by column as the plan says. Knows nothing of transactions. */
import type { DuckDBAppender } from '@duckdb/node-api';
import { appendExtracted } from './append-extracted.ts';
import { createBodyReader } from './body-text.ts';
import { appendColumn } from './columns.ts';
import type { CrawlRow } from './crawl-row.ts';
import type { PlannedColumn } from './target-plan.ts';

/** One value for each rule, in their order. */
export type ExtractValues = (row: CrawlRow) => readonly unknown[];

export type FillRow = (appender: DuckDBAppender, row: CrawlRow) => void;

type Fill = (appender: DuckDBAppender, row: CrawlRow, extracted: readonly unknown[]) => void;

const NOTHING: readonly unknown[] = [];

/** A default that is always the same, which the Appender knows; it would work out any other one only once. */
export function hasConstantDefault({ defaultExpression }: PlannedColumn): boolean {
  if (defaultExpression === null) return true;
  return /^(-?\d+(\.\d+)?|'([^']|'')*'|CAST\('([^']|'')*' AS [\w ]+\))$/.test(defaultExpression);
}

/** A row without a value gets the column's default: NULL is not allowed there. */
export function fallsBack({ isNullable, defaultExpression }: PlannedColumn): boolean {
  return !isNullable && defaultExpression !== null;
}

/** `usesDefaults`: the appender is one of the table itself. */
export function createRowFiller(
  columns: readonly PlannedColumn[],
  usesDefaults: boolean,
  extract: ExtractValues | undefined,
): FillRow {
  const readBody = createBodyReader();
  const fills = columns.map((column): Fill => {
    const { source, type } = column;
    const appendNothing = (appender: DuckDBAppender) =>
      usesDefaults && (source.from === 'other' || fallsBack(column))
        ? appender.appendDefault()
        : appender.appendNull();
    if (source.from === 'other') return appendNothing;
    if (source.from === 'row') {
      const append = appendColumn(source.column, type, readBody);
      return (appender, row) => {
        if (!append(appender, row)) appendNothing(appender);
      };
    }
    return (appender, _, extracted) => {
      if (!appendExtracted(appender, extracted[source.at], type)) appendNothing(appender);
    };
  });
  const extracts = columns.some(({ source }) => source.from === 'extract');
  return (appender, row) => {
    const extracted = extracts && extract !== undefined ? extract(row) : NOTHING;
    for (const fill of fills) fill(appender, row, extracted);
    appender.endRow();
  };
}
