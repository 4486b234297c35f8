/**
 * Prints rows in columns. On a terminal a row takes one line: columns that may shrink share the rest of the width, and
 * cut values have a …. Elsewhere values stay complete. The first rows decide the widths, so that a list of any length
 * can be printed while it is read.
 */
import { cut, cutInside, type Paint, pad, printable, widthOf } from './terminal-text.ts';

export interface Column<Row> {
  title: string;
  value: (row: Row) => string | number | null | undefined;
  align?: 'left' | 'right';
  /** The column may be cut to about this width on a narrow terminal. */
  shrinksTo?: number;
  /** Cut inside instead of at the end: for URLs. */
  keepsEnd?: boolean;
  colour?: (row: Row) => Parameters<Paint>[0] | null;
}

export interface TableLayout<Row> {
  head: string;
  line(row: Row): string;
}

const GAP = '  ';
/** If nothing is cut, a column gets no more padding than this, so that one long value does not move all others. */
const WIDEST_PADDING = 80;

export function layOutTable<Row>(
  columns: readonly Column<Row>[],
  sample: readonly Row[],
  terminalWidth: number | null,
  paint: Paint,
): TableLayout<Row> {
  const cell = (column: Column<Row>, row: Row) => printable(String(column.value(row) ?? ''));
  const natural = columns.map((column) =>
    Math.max(column.title.length, ...sample.map((row) => widthOf(cell(column, row)))),
  );
  const widths =
    terminalWidth === null
      ? natural.map((w) => Math.min(w, WIDEST_PADDING))
      : shrinkToFit(columns, natural, terminalWidth);
  const compose = (texts: string[], colours: (Parameters<Paint>[0] | null)[]) =>
    texts
      .map((text, i) => {
        const shorten = columns[i].keepsEnd ? cutInside : cut;
        const shown = terminalWidth === null ? text : shorten(text, widths[i]);
        const isLast = i === texts.length - 1 && columns[i].align !== 'right';
        const padded = isLast ? shown : pad(shown, widths[i], columns[i].align);
        return colours[i] === null ? padded : paint(colours[i]!, padded);
      })
      .join(GAP)
      .trimEnd();
  return {
    head: compose(
      columns.map(({ title }) => title),
      columns.map(() => 'bold'),
    ),
    line: (row) =>
      compose(
        columns.map((column) => cell(column, row)),
        columns.map(({ colour }) => colour?.(row) ?? null),
      ),
  };
}

/** Shrinks the widest column first, so that short values stay complete as long as possible. */
function shrinkToFit<Row>(
  columns: readonly Column<Row>[],
  natural: readonly number[],
  terminalWidth: number,
): number[] {
  const widths = [...natural];
  let excess = widths.reduce((sum, width) => sum + width, GAP.length * (widths.length - 1)) - terminalWidth;
  while (excess > 0) {
    let widest = -1;
    for (const [i, { shrinksTo }] of columns.entries()) {
      if (shrinksTo === undefined || widths[i] <= shrinksTo) continue;
      if (widest === -1 || widths[i] > widths[widest]) widest = i;
    }
    if (widest === -1) break;
    widths[widest]--;
    excess--;
  }
  return widths;
}
