/**
 * From a chunk of columns to lines, one a row, in pieces. Columns are read one after the other, because a vector is
 * fast to walk along, and each value is put behind its row's text, so that there is no object a row. Pieces stay
 * near one size: how many rows that is, the rows before tell.
 */
import type { DuckDBDataChunk, DuckDBType } from '@duckdb/node-api';
import { itemReader } from './read-item.ts';
import type { Encode } from './value-text.ts';

const CHARS_A_PIECE = 64 * 1024;
const FIRST_ROWS = 64;

export interface LineFormat {
  /** One a column. */
  encoders: readonly Encode[];
  types: readonly DuckDBType[];
  nullText: string;
  /** Before the value of a column. */
  before: readonly string[];
  after: string;
}

export function createLineCutter({ encoders, types, nullText, before, after }: LineFormat) {
  const readers = types.map(itemReader);
  let rowsAPiece = FIRST_ROWS;

  function readRows(chunk: DuckDBDataChunk, from: number, to: number): string[] {
    const rows = new Array<string>(to - from).fill('');
    for (let column = 0; column < encoders.length; column++) {
      const vector = chunk.getColumnVector(column);
      const [read, encode, lead] = [readers[column], encoders[column], before[column]];
      for (let row = from; row < to; row++) {
        const value = read(vector, row);
        rows[row - from] += lead + (value === null ? nullText : encode(value));
      }
    }
    return rows;
  }

  return function* cutLines(chunk: DuckDBDataChunk): Generator<string> {
    const count = chunk.rowCount;
    for (let from = 0; from < count; ) {
      const to = Math.min(count, from + rowsAPiece);
      const text = readRows(chunk, from, to).join(after) + after;
      const fitting = Math.floor((CHARS_A_PIECE * (to - from)) / Math.max(1, text.length));
      // At most twice as many: the rows so far may have been short ones.
      rowsAPiece = Math.max(1, Math.min(fitting, rowsAPiece * 2));
      from = to;
      yield text;
    }
  };
}
