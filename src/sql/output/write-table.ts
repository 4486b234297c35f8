/**
 * Results as a table drawn with lines, for people. The first chunk decides the widths (its first 1,000 rows), so
 * that rows show as they come. With a width, no line is longer: columns shrink, the widest first, then those in the
 * middle give way. Nothing in a cell can control a terminal.
 */
import type { DuckDBDataChunk } from '@duckdb/node-api';
import { cut, cutInside, pad, printable, showMany, widthOf } from '../../render/terminal-text.ts';
import { itemReader } from './read-item.ts';
import type { ResultColumn, ResultWriter } from './result-format.ts';
import { isNumeric, typeName } from './type-name.ts';
import { textEncoder } from './value-text.ts';
import type { ZonedText } from './zoned-time.ts';

const SAMPLED_ROWS = 1000;
const CHARS_A_PIECE = 64 * 1024;
/** Columns do not shrink below this, as long as others can give way. */
const LEAST_WIDTH = 6;
/** The name of a type alone does not make a column wider than this. */
const WIDEST_TYPE = 24;
/** Without a width: one long value does not move all others. */
const WIDEST_PADDING = 80;
/** Of a value, for each column of the terminal that it may get: some characters take no place. */
const CHARS_A_CELL = 4;
/** Stands for the columns that gave way. */
const GAP = { title: '…', type: '…', width: 1, isRight: false } as const;

interface Shown {
  /** Null: the columns that gave way. */
  place: number | null;
  width: number;
  title: string;
  type: string;
  isRight: boolean;
}

export function tableWriter(
  columns: readonly ResultColumn[],
  lineWidth: number | null,
  zoned: ZonedText,
): ResultWriter {
  const readers = columns.map(({ type }) => itemReader(type));
  const encoders = columns.map(({ type }) => textEncoder(type, zoned));
  let shown: readonly Shown[] | null = null;
  let rows = 0;

  function cellOf(chunk: DuckDBDataChunk, row: number, place: number): string {
    const value = readers[place](chunk.getColumnVector(place), row);
    return value === null ? 'NULL' : onOneLine(encoders[place](value), lineWidth);
  }

  function begin(chunk: DuckDBDataChunk | null): string {
    const sampled = Math.min(SAMPLED_ROWS, chunk?.rowCount ?? 0);
    const natural = columns.map(({ name, type }, place) => {
      let widest = Math.max(1, widthOf(printable(name)), Math.min(WIDEST_TYPE, widthOf(typeName(type))));
      for (let row = 0; row < sampled; row++) widest = Math.max(widest, widthOf(cellOf(chunk!, row, place)));
      return widest;
    });
    const widths =
      lineWidth === null
        ? natural.map((width) => Math.min(width, WIDEST_PADDING))
        : shrinkToFit(natural, lineWidth);
    shown = layOut(columns, widths, lineWidth);
    const names = shown.map(({ title, width }) => cut(title, width));
    const types = shown.map(({ type, width }) => cut(type, width));
    return `${rule(shown, '┌┬┐')}${drawLine(shown, names)}${drawLine(shown, types)}${rule(shown, '├┼┤')}`;
  }

  return {
    *chunk(chunk) {
      if (chunk.rowCount === 0) return;
      let text = shown === null ? begin(chunk) : '';
      for (let row = 0; row < chunk.rowCount; row++) {
        const cells = shown!.map(({ place }) => (place === null ? GAP.title : cellOf(chunk, row, place)));
        text += drawLine(shown!, lineWidth === null ? cells : fitCells(shown!, cells, lineWidth));
        if (text.length < CHARS_A_PIECE) continue;
        yield text;
        text = '';
      }
      rows += chunk.rowCount;
      yield text;
    },
    end() {
      const head = shown === null ? begin(null) : '';
      const hidden = columns.length - shown!.filter(({ place }) => place !== null).length;
      const about = hidden === 0 ? '' : `, ${columns.length} columns (${columns.length - hidden} shown)`;
      return `${head}${rule(shown!, '└┴┘')}${showMany(rows, 'row')}${about}\n`;
    },
  };
}

function onOneLine(text: string, lineWidth: number | null): string {
  const most = lineWidth === null ? Number.POSITIVE_INFINITY : lineWidth * CHARS_A_CELL;
  return text.length > most ? `${printable(text.slice(0, most))}…` : printable(text);
}

/** The frame's lines, and a space on both sides of each cell. */
function lineLength(widths: readonly number[]): number {
  return widths.reduce((sum, width) => sum + width + 3, 1);
}

/** The widest gives first. */
function shrinkToFit(natural: readonly number[], lineWidth: number): number[] {
  const widths = [...natural];
  for (let excess = lineLength(widths) - lineWidth; excess > 0; excess--) {
    const widest = widths.indexOf(Math.max(...widths));
    if (widths[widest] <= LEAST_WIDTH) break;
    widths[widest]--;
  }
  return widths;
}

/** Columns in the middle give way until the line fits: the first and the last ones say the most. */
function layOut(
  columns: readonly ResultColumn[],
  widths: readonly number[],
  lineWidth: number | null,
): Shown[] {
  const all: Shown[] = columns.map(({ name, type }, place) => ({
    place,
    width: widths[place],
    title: printable(name),
    type: printable(typeName(type)),
    isRight: isNumeric(type),
  }));
  if (lineWidth === null) return all;
  let [left, right] = [all, [] as Shown[]];
  const fits = () =>
    lineLength(
      [...left, ...right, ...(left.length + right.length < all.length ? [GAP] : [])].map((c) => c.width),
    ) <= lineWidth;
  if (fits()) return all;
  const half = Math.ceil(all.length / 2);
  [left, right] = [all.slice(0, half), all.slice(half)];
  while (!fits() && left.length + right.length > 1) {
    if (right.length >= left.length) right = right.slice(1);
    else left = left.slice(0, -1);
  }
  const fitting = left.length + right.length === all.length ? [] : [{ ...GAP, place: null }];
  return [...left, ...fitting, ...right];
}

/** A value that is longer than those of the sample stays whole where the line has room for it. */
function fitCells(shown: readonly Shown[], cells: readonly string[], lineWidth: number): string[] {
  const needed = lineLength(cells.map((cell, i) => Math.max(shown[i].width, widthOf(cell))));
  if (needed <= lineWidth) return [...cells];
  // The pages of one site differ in the ends of their URLs.
  return cells.map((cell, i) =>
    /^https?:\/\//.test(cell) ? cutInside(cell, shown[i].width) : cut(cell, shown[i].width),
  );
}

function drawLine(shown: readonly Shown[], cells: readonly string[]): string {
  const padded = cells.map((cell, i) => pad(cell, shown[i].width, shown[i].isRight ? 'right' : 'left'));
  return `│ ${padded.join(' │ ')} │\n`;
}

function rule(shown: readonly Shown[], [left, middle, right]: string): string {
  return `${left}${shown.map(({ width }) => '─'.repeat(width + 2)).join(middle)}${right}\n`;
}
