/**
 * Fits the hand-written part of help (examples, and what stands below them) into the width of the terminal: examples that
 * are too long have what is said of them on the next line, prose is wrapped. What fits is left as it is. Pure text.
 */

/** Two spaces, an example, at least two spaces, and what it does. */
const EXAMPLE = /^ {2}(\S.*?\S) {2,}(\S.*)$/;
const COMMENT_INDENT = ' '.repeat(6);

export function fitHelp(text: string, width: number): string {
  return blocksOf(text.split('\n'))
    .flatMap((block) => (block.some((line) => line.length > width) ? fitBlock(block, width) : block))
    .join('\n');
}

type Kind = 'example' | 'prose' | 'other';

function kindOf(line: string): Kind {
  if (/^ {2}sumi /.test(line)) return 'example';
  // Titles end with a colon, and empty lines part paragraphs.
  return /^\S.*[^:]$/.test(line) ? 'prose' : 'other';
}

/** Neighbouring lines of one kind: examples are laid out alike, and prose is one paragraph. */
function blocksOf(lines: readonly string[]): string[][] {
  const blocks: string[][] = [];
  let last: Kind | null = null;
  for (const line of lines) {
    const kind = kindOf(line);
    if (kind !== 'other' && kind === last) blocks[blocks.length - 1].push(line);
    else blocks.push([line]);
    last = kind;
  }
  return blocks;
}

function fitBlock(block: readonly string[], width: number): string[] {
  switch (kindOf(block[0])) {
    case 'example':
      return block.flatMap((line) => {
        const [, example, comment] = EXAMPLE.exec(line) ?? [];
        if (comment === undefined) return [line];
        return [`  ${example}`, ...wrap(comment, width, COMMENT_INDENT)];
      });
    case 'prose':
      return wrap(block.join(' '), width, '');
    default:
      // Written by commander, which wraps itself: a word that fits nowhere.
      return [...block];
  }
}

function wrap(text: string, width: number, indent: string): string[] {
  const lines: string[] = [];
  let line = indent;
  for (const word of text.split(' ')) {
    if (line.length > indent.length && line.length + 1 + word.length > width) {
      lines.push(line);
      line = indent;
    }
    line += line.length > indent.length ? ` ${word}` : word;
  }
  return [...lines, line];
}
