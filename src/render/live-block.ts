/**
 * A few lines at the bottom of a terminal, redrawn in place. Printed lines scroll above the block. When it ends,
 * nothing of it is left. It never wraps, because a wrapped line would make the count of lines to go back wrong.
 */
import { cut, type TextStream } from './terminal-text.ts';

export interface LiveBlock {
  draw(lines: readonly string[]): void;
  /** Prints a line above the block. */
  print(line: string): void;
  clear(): void;
}

export function createLiveBlock(stream: TextStream): LiveBlock {
  let drawn: readonly string[] = [];
  const erase = () => (drawn.length === 0 ? '' : `\r\x1b[${drawn.length}A\x1b[J`);
  const fitted = (lines: readonly string[]) =>
    lines.map((line) => cutPlain(line, (stream.columns ?? 80) - 1));
  return {
    draw(lines) {
      const next = fitted(lines);
      stream.write(`${erase()}${next.join('\n')}\n`);
      drawn = next;
    },
    print(line) {
      stream.write(`${erase()}${line}\n${drawn.map((old) => `${old}\n`).join('')}`);
    },
    clear() {
      if (drawn.length > 0) stream.write(erase());
      drawn = [];
    },
  };
}

/** Colours have no width: a coloured line is cut only if its plain text is too long, and then loses its colours. */
function cutPlain(line: string, width: number): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the escape sequences that painterFor makes
  const plain = line.replace(/\x1b\[\d+m/g, '');
  const short = cut(plain, width);
  return short === plain ? line : short;
}
