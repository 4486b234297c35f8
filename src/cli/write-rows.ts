/**
 * Prints a list while it is read, in the format asked for. Tables are for people: a choice of columns, fitted to the
 * terminal; json, jsonl and csv are for programs: every column, every value whole. Waits when the reader is slow, so
 * that a million rows need no memory.
 */
import { once } from 'node:events';
import { type Column, layOutTable } from '../report/render-table.ts';
import { painterFor } from '../report/terminal-text.ts';

export type ListFormat = 'table' | 'json' | 'jsonl' | 'csv';

export interface RowList<Row> {
  rows: AsyncIterable<Row>;
  format: ListFormat;
  /** Names of all columns, in order: the head of a CSV must be there even when no row is. */
  names: readonly (keyof Row & string)[];
  columns: readonly Column<Row>[];
}

/** Rows on which the widths of a table are decided, and rows joined into one write. */
const SAMPLE_ROWS = 200;
const ROWS_A_WRITE = 200;

type Output = NodeJS.WriteStream;

export async function writeRows<Row extends object>(
  list: RowList<Row>,
  out: Output = process.stdout,
): Promise<void> {
  await writePieces(rowPieces(list, out), out);
}

/** The list as text, for `out` to show or for a file. */
export function rowPieces<Row extends object>(list: RowList<Row>, out: Output): AsyncGenerator<string> {
  return FORMATS[list.format](list as unknown as RowList<object>, out);
}

export async function writePieces(
  pieces: AsyncIterable<string>,
  out: Output = process.stdout,
): Promise<void> {
  let pending: string[] = [];
  for await (const piece of pieces) {
    if (pending.push(piece) < ROWS_A_WRITE) continue;
    await write(out, pending.join(''));
    pending = [];
  }
  await write(out, pending.join(''));
}

async function write(out: Output, text: string): Promise<void> {
  if (text !== '' && !out.write(text)) await once(out, 'drain');
}

const FORMATS: Record<ListFormat, (list: RowList<object>, out: Output) => AsyncGenerator<string>> = {
  async *json({ rows }) {
    let before = '[\n';
    for await (const row of rows) {
      yield before + JSON.stringify(row);
      before = ',\n';
    }
    yield before === '[\n' ? '[]\n' : '\n]\n';
  },
  async *jsonl({ rows }) {
    for await (const row of rows) yield `${JSON.stringify(row)}\n`;
  },
  async *csv({ rows, names }) {
    yield `${names.join(',')}\n`;
    for await (const row of rows) {
      yield `${names.map((name) => csvField((row as Record<string, unknown>)[name])).join(',')}\n`;
    }
  },
  async *table({ rows, columns }, out) {
    const width = out.isTTY ? out.columns : null;
    const paint = painterFor(out, process.env);
    const sample: object[] = [];
    let layout: ReturnType<typeof layOutTable<object>> | null = null;
    const begin = () => {
      layout = layOutTable(columns, sample, width, paint);
      return [layout.head, ...sample.map((row) => layout!.line(row))].map((line) => `${line}\n`).join('');
    };
    for await (const row of rows) {
      if (layout !== null) yield `${(layout as { line(row: object): string }).line(row)}\n`;
      else if (sample.push(row) === SAMPLE_ROWS) yield begin();
    }
    if (layout === null) yield begin();
  },
};

/** RFC 4180: quotes where they are needed, doubled inside. */
function csvField(value: unknown): string {
  if (value === null || value === undefined) return '';
  const text = typeof value === 'object' ? JSON.stringify(value) : String(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
