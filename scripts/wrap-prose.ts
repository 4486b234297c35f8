// Breaks the lines of prose in Markdown. Promises: only paragraphs and list items that have a line over MOST_LETTERS
// change; tables, code blocks, headings, comments and generated lists of columns stay as they are. Code in backticks is
// never broken, and no line begins with a sign that would make it a list item.
const MOST_LETTERS = 120;
const WANTED_LETTERS = 118;

const FENCE = /^\s*```/;
const NO_PROSE = /^(?:[|#]|<!--|!\[|Columns: )/;
const INDENTED_CODE = /^ {4}/;
const LIST_ITEM = /^(\s*(?:[-*]|\d+\.) )(.*)$/;
const UNIT = /^(?:s|ms|µs|ns|h|min|KB|kB|MB|GB|TB|KiB|MiB|%)[.,;:)]*$/;
const WOULD_BE_A_MARK = /^(?:[-+*#|>]|\d+[.)])$/;

/** A paragraph or a list item: consecutive lines, the first with the item's mark. */
interface Block {
  mark: string;
  lines: string[];
}

export function wrapProse(markdown: string): string {
  const out: string[] = [];
  let block: Block | null = null;
  let isCode = false;
  const flush = () => {
    if (block !== null) out.push(...wrapBlock(block));
    block = null;
  };
  for (const line of markdown.split('\n')) {
    const isFence = FENCE.test(line);
    if (isFence) isCode = !isCode;
    const item = isCode || isFence ? null : LIST_ITEM.exec(line);
    const isIndentedCode = block === null && item === null && INDENTED_CODE.test(line);
    if (isCode || isFence || isIndentedCode || line.trim() === '' || NO_PROSE.test(line)) {
      flush();
      out.push(line);
    } else if (item !== null) {
      flush();
      block = { mark: item[1], lines: [line] };
    } else if (block === null) block = { mark: '', lines: [line] };
    else block.lines.push(line);
  }
  flush();
  return out.join('\n');
}

function wrapBlock({ mark, lines }: Block): string[] {
  if (lines.every((line) => line.length <= MOST_LETTERS)) return lines;
  const text = lines.map((line) => line.trim()).join(' ');
  const indent = mark === '' ? (/^\s*/.exec(lines[0])?.[0] ?? '') : ' '.repeat(mark.length);
  const out: string[] = [];
  let current = mark === '' ? indent : mark;
  let isEmpty = true;
  for (const word of unbreakable(text.slice(mark.trim().length).trim())) {
    if (isEmpty || current.length + 1 + word.length <= WANTED_LETTERS || WOULD_BE_A_MARK.test(word)) {
      current += isEmpty ? word : ` ${word}`;
    } else {
      out.push(current);
      current = indent + word;
    }
    isEmpty = false;
  }
  return [...out, current];
}

/** Words, with code in backticks as one word, and numbers together with their unit. */
function unbreakable(text: string): string[] {
  const words: string[] = [];
  let isOpen = false;
  for (const word of text.split(/\s+/)) {
    const last = words.at(-1);
    const isUnit = UNIT.test(word) && last !== undefined && /\d$/.test(last);
    if (isOpen || isUnit) words[words.length - 1] = `${last} ${word}`;
    else words.push(word);
    if (((word.match(/`/g)?.length ?? 0) & 1) === 1) isOpen = !isOpen;
  }
  return words;
}
