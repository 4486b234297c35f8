/**
 * Results as a table in Markdown (GitHub's), for reports and issues. What Markdown would read as its own is
 * escaped.
 */
import { printable } from '../../render/terminal-text.ts';
import type { ResultColumn, ResultWriter } from './result-format.ts';
import { isNumeric } from './type-name.ts';
import { textEncoder } from './value-text.ts';
import { createLineCutter } from './write-lines.ts';
import type { ZonedText } from './zoned-time.ts';

export function markdownWriter(columns: readonly ResultColumn[], zoned: ZonedText): ResultWriter {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |\n`;
  const head =
    line(columns.map(({ name }) => cellText(name))) +
    line(columns.map(({ type }) => (isNumeric(type) ? '---:' : '---')));
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
      return (value) => cellText(encode(value));
    }),
    nullText: 'NULL',
    before: columns.map((_, i) => (i === 0 ? '| ' : ' | ')),
    after: ' |\n',
  });
  return {
    *chunk(chunk) {
      for (const text of cut(chunk)) yield begin() + text;
    },
    end: begin,
  };
}

/** A backslash counts only before punctuation; a cell has one line. */
function cellText(text: string): string {
  const marked = text.replace(/\\(?=[!-/:-@[-`{-~]|$)/g, '\\\\').replace(/[|<`*]/g, '\\$&');
  return marked
    .split(/\r\n|\r|\n/)
    .map(printable)
    .join('<br>');
}
