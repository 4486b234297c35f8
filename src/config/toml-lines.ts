/**
 * Says on which line of a TOML text each key, section and item of a list stands, because the parser that reads the
 * values keeps no places. Takes texts that the parser has accepted: it looks for places and never judges the syntax.
 * A path is written as people do: `crawler.max-depth`, `quality[0].seeds[1]`.
 */

export interface TomlLines {
  /** Of the path, or of the nearest thing around it that stands in the text; the last line for what does not. */
  lineOf(path: string): number;
  readonly lastLine: number;
}

export function indexTomlLines(text: string): TomlLines {
  const lines = new Map<string, number>();
  const reader = createReader(text, lines);
  reader.readDocument();
  const lastLine = text.trimEnd().split('\n').length;
  return {
    lastLine,
    lineOf(path) {
      for (let at = path; at !== ''; at = parentOf(at)) {
        const line = lines.get(at);
        if (line !== undefined) return line;
      }
      return lastLine;
    },
  };
}

function parentOf(path: string): string {
  return path.endsWith(']')
    ? path.slice(0, path.lastIndexOf('['))
    : path.slice(0, Math.max(0, path.lastIndexOf('.')));
}

const join = (path: string, key: string) => (path === '' ? key : `${path}.${key}`);

function createReader(text: string, lines: Map<string, number>) {
  /** How many sections [[name]] have been seen, by path. */
  const sections = new Map<string, number>();
  let at = 0;
  let line = 1;

  function note(path: string, onLine: number): void {
    if (!lines.has(path)) lines.set(path, onLine);
  }

  function advance(to: number): void {
    for (; at < to && at < text.length; at++) if (text[at] === '\n') line++;
  }

  /** White space, line ends and comments: inside brackets and between statements all of them mean nothing. */
  function skipBlank(): void {
    for (;;) {
      const blank = /\s+/y;
      blank.lastIndex = at;
      if (blank.test(text)) advance(blank.lastIndex);
      if (text[at] !== '#') return;
      const end = text.indexOf('\n', at);
      advance(end === -1 ? text.length : end);
    }
  }

  function readQuoted(): string {
    const mark = text[at];
    const isLong = text.startsWith(mark.repeat(3), at);
    const fence = isLong ? mark.repeat(3) : mark;
    const start = at + fence.length;
    let end = start;
    while (end < text.length && !text.startsWith(fence, end))
      end += mark === '"' && text[end] === '\\' ? 2 : 1;
    let after = end + fence.length;
    // A long text may end in quotes of its own: the fence is the last three of them.
    while (isLong && text[after] === mark) after++;
    advance(after);
    return text.slice(start, after - fence.length);
  }

  /** The parts of a dotted key; stands behind it afterwards. */
  function readKey(): string[] {
    const parts: string[] = [];
    for (;;) {
      skipBlank();
      if (text[at] === '"' || text[at] === "'") {
        parts.push(readQuoted());
      } else {
        const bare = /[A-Za-z0-9_-]+/y;
        bare.lastIndex = at;
        parts.push(bare.exec(text)?.[0] ?? '');
        advance(at + parts[parts.length - 1].length);
      }
      skipBlank();
      if (text[at] !== '.') return parts;
      advance(at + 1);
    }
  }

  /** Inside [[a]] the section [a.b] belongs to the last a. */
  function place(parts: readonly string[]): string {
    return parts.reduce((path, part) => {
      const whole = join(path, part);
      const count = sections.get(whole);
      return count === undefined ? whole : `${whole}[${count - 1}]`;
    }, '');
  }

  function readHeader(): string {
    const isList = text[at + 1] === '[';
    const startLine = line;
    advance(at + (isList ? 2 : 1));
    const parts = readKey();
    if (isList) {
      const whole = join(place(parts.slice(0, -1)), parts[parts.length - 1]);
      sections.set(whole, (sections.get(whole) ?? 0) + 1);
      note(whole, startLine);
    }
    const path = place(parts);
    note(path, startLine);
    advance(at + (isList ? 2 : 1));
    return path;
  }

  function readStatement(section: string): void {
    const startLine = line;
    const parts = readKey();
    const path = parts.reduce(join, section);
    note(path, startLine);
    advance(at + 1);
    readValue(path);
  }

  function readValue(path: string): void {
    skipBlank();
    const mark = text[at];
    if (mark === '"' || mark === "'") readQuoted();
    else if (mark === '[') readItems(']', (n) => readItem(`${path}[${n}]`));
    else if (mark === '{') readItems('}', () => readStatement(path));
    else {
      const plain = /[^\s,\]}#]+(?: \d[^\s,\]}#]*)?/y;
      plain.lastIndex = at;
      // At least one step, so that a text the parser should have refused cannot hold the program.
      advance(plain.test(text) ? plain.lastIndex : at + 1);
    }
  }

  function readItem(path: string): void {
    note(path, line);
    readValue(path);
  }

  function readItems(end: string, read: (n: number) => void): void {
    advance(at + 1);
    for (let n = 0; ; n++) {
      skipBlank();
      if (at >= text.length) return;
      if (text[at] !== end) read(n);
      skipBlank();
      if (text[at] === ',') advance(at + 1);
      else {
        advance(at + 1);
        return;
      }
    }
  }

  return {
    readDocument(): void {
      for (let section = ''; ; ) {
        skipBlank();
        if (at >= text.length) return;
        if (text[at] === '[') section = readHeader();
        else readStatement(section);
      }
    },
  };
}
