/**
 * Results as CSV by RFC 4180, with a head. NULL is an empty field and the empty text a pair of quotes. Values stay
 * as they are, also where a spreadsheet would take them for a formula, because programs read them back.
 */

import type { ResultColumn, ResultWriter } from './result-format.ts';
import { textEncoder } from './value-text.ts';
import { createLineCutter } from './write-lines.ts';
import type { ZonedText } from './zoned-time.ts';

const EMPTY = '""';

export function csvWriter(columns: readonly ResultColumn[], zoned: ZonedText): ResultWriter {
  const head = `${columns.map(({ name }) => field(name)).join()}\n`;
  let isBegun = false;
  const begin = () => {
    const text = isBegun ? '' : head;
    isBegun = true;
    return text;
  };
  const cut = createLineCutter({
    types: columns.map(({ type }) => type),
    encoders: columns.map(({ type }) => {
      const encode = textEncoder(type, zoned);
      return (value) => field(encode(value));
    }),
    // Many readers pass over a line that has nothing in it.
    nullText: columns.length === 1 ? EMPTY : '',
    before: columns.map((_, i) => (i === 0 ? '' : ',')),
    after: '\n',
  });
  return {
    *chunk(chunk) {
      for (const text of cut(chunk)) yield begin() + text;
    },
    end: begin,
  };
}

function field(text: string): string {
  if (text === '') return EMPTY;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
