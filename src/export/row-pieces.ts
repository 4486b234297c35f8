/**
 * A list as text while it is read, in the format asked for. Tables are for people: a choice of columns, fitted to the
 * terminal; json, jsonl and csv are for programs: every column, every value whole. Memory holds a few rows at a time.
 */
import { BYTE_ORDER_MARK, csvField } from '../primitives/csv-field.ts';
import { type Column, layOutTable } from '../render/render-table.ts';
import type { Paint } from '../render/terminal-text.ts';

export type ListFormat = 'table' | 'json' | 'jsonl' | 'csv';

export interface RowList<Row> {
  /** Several at once where they are read so: waiting for each costs as much as making it. */
  rows: AsyncIterable<Row | readonly Row[]>;
  format: ListFormat;
  /** Names of all columns, in order: the head of a CSV must be there even when no row is. */
  names: readonly (keyof Row & string)[];
  /** Of the table. */
  columns: readonly Column<Row>[];
  /** Begin CSV with a byte order mark. */
  bom?: boolean;
}

/** Where a table is shown. */
export interface Screen {
  paint: Paint;
  /** Columns of the terminal; null where nothing is to be cut. */
  width: number | null;
}

/** A file or a program is no terminal: no colours, nothing cut. */
export const NO_SCREEN: Screen = { paint: (_, text) => text, width: null };

/** Rows on which the widths of a table are decided; what is joined into one piece. */
const SAMPLE_ROWS = 200;
const CHARS_A_PIECE = 16 * 1024;
const ROWS_A_PIECE = 50;

export function rowPieces<Row extends object>(
  list: RowList<Row>,
  screen: Screen = NO_SCREEN,
): AsyncGenerator<string> {
  return FORMATS[list.format](list as unknown as RowList<object>, screen);
}

const FORMATS: Record<ListFormat, (list: RowList<object>, screen: Screen) => AsyncGenerator<string>> = {
  async *json({ rows }) {
    let before = '[\n';
    yield* joined(rows, (row) => {
      const text = before + JSON.stringify(row);
      before = ',\n';
      return text;
    });
    yield before === '[\n' ? '[]\n' : '\n]\n';
  },
  jsonl: ({ rows }) => joined(rows, (row) => `${JSON.stringify(row)}\n`),
  async *csv({ rows, names, bom }) {
    yield `${bom === true ? BYTE_ORDER_MARK : ''}${names.join(',')}\n`;
    yield* joined(rows, (row) => csvLine(row as Record<string, unknown>, names));
  },
  async *table({ rows, columns }, { paint, width }) {
    const sample: object[] = [];
    let layout: ReturnType<typeof layOutTable<object>> | null = null;
    const begin = () => {
      layout = layOutTable(columns, sample, width, paint);
      return [layout.head, ...sample.map((row) => layout!.line(row))].map((line) => `${line}\n`).join('');
    };
    for await (const some of rows) {
      let text = '';
      for (const row of listOf(some)) {
        if (layout !== null) text += `${(layout as { line(row: object): string }).line(row)}\n`;
        else if (sample.push(row) === SAMPLE_ROWS) text += begin();
      }
      if (text !== '') yield text;
    }
    if (layout === null) yield begin();
  },
};

/** Many rows a piece: each piece on its way costs as much as making a row. */
async function* joined(
  rows: RowList<object>['rows'],
  textOf: (row: object) => string,
): AsyncGenerator<string> {
  let text = '';
  let count = 0;
  for await (const some of rows) {
    for (const row of listOf(some)) {
      text += textOf(row);
      count++;
      // Few rows may be as long as all the others.
      if (text.length < CHARS_A_PIECE) continue;
      yield text;
      text = '';
      count = 0;
    }
    if (count < ROWS_A_PIECE) continue;
    yield text;
    text = '';
    count = 0;
  }
  if (text !== '') yield text;
}

const listOf = (some: object | readonly object[]): readonly object[] => (Array.isArray(some) ? some : [some]);

function csvLine(row: Record<string, unknown>, names: readonly string[]): string {
  let line = csvField(row[names[0]]);
  for (let i = 1; i < names.length; i++) line += `,${csvField(row[names[i]])}`;
  return `${line}\n`;
}
