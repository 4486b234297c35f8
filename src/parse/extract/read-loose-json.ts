/**
 * Reads JSON as web pages have it. First as JSON; if that fails, with what people leave in: comments, commas too many,
 * line ends inside of strings, a wrapping comment or CDATA, a semicolon at the end. Never guesses at missing quotes or
 * brackets: then, and for data nested more than `DEEPEST_JSON` deep, the answer is `undefined`.
 */

export type JsonValue = string | number | boolean | null | JsonValue[] | { [key: string]: JsonValue };

export const DEEPEST_JSON = 200;

export function readLooseJson(written: string): JsonValue | undefined {
  const text = unwrap(written);
  const value = text === '' ? undefined : read(text);
  return value !== undefined && MAY_BE_UNSTORABLE.test(text) ? storable(value) : value;
}

/** Halves of characters, and NUL: databases do not take them. */
const MAY_BE_UNSTORABLE = /\\u(?:d[89a-f]|0000)/i;
const UNSTORABLE = /[\0\p{Surrogate}]/gu;

function storable(value: JsonValue): JsonValue {
  if (typeof value === 'string') return value.replace(UNSTORABLE, '\ufffd');
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(storable);
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [key.replace(UNSTORABLE, '\ufffd'), storable(inner)]),
  );
}

function read(text: string): JsonValue | undefined {
  if (!isTooDeep(text)) {
    try {
      return JSON.parse(text) as JsonValue;
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error;
    }
  }
  try {
    return readLoosely(text);
  } catch (error) {
    if (error instanceof Unreadable) return undefined;
    throw error;
  }
}

class Unreadable extends Error {}

function unwrap(written: string): string {
  return written
    .trim()
    .replace(/^(?:\/\/|\/\*)?\s*(?:<!--|<!\[CDATA\[)\s*(?:\*\/)?/, '')
    .replace(/(?:\/\/|\/\*)?\s{0,20}(?:-->|\]\]>)(?:\*\/)?$/, '')
    .trim();
}

/** Brackets in strings count, too: the other reader knows better. */
function isTooDeep(text: string): boolean {
  let depth = 0;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code === 0x5b || code === 0x7b) {
      if (++depth > DEEPEST_JSON) return true;
    } else if (code === 0x5d || code === 0x7d) depth--;
  }
  return false;
}

/** Also what is no JSON white space, but looks like it. */
const SPACE = /[\s\ufeff]*/y;
const LINE_COMMENT = /\/\/[^\n\r]*/y;
const WORD = /(?:true|false|null)(?![\w$])|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?(?![\w$.])/y;
// biome-ignore lint/suspicious/noControlCharactersInRegex: JSON has none in strings, pages have.
const CONTROL = /[\0-\x1f]/g;
/** An escape that JSON does not have: the character stands for itself. */
const ESCAPE = /\\(?:(["\\/bfnrt]|u[0-9a-fA-F]{4})|([\s\S]))/g;

const escapeControl = (character: string) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;

function readLoosely(text: string): JsonValue {
  let at = 0;
  const value = readValue(0);
  skip();
  while (text[at] === ';') {
    at++;
    skip();
  }
  if (at < text.length) throw new Unreadable();
  return value;

  function take(pattern: RegExp): string {
    pattern.lastIndex = at;
    const found = pattern.exec(text)?.[0] ?? '';
    at += found.length;
    return found;
  }

  function skip(): void {
    for (;;) {
      take(SPACE);
      if (text[at] !== '/') return;
      if (text[at + 1] === '*') {
        const end = text.indexOf('*/', at + 2);
        if (end < 0) throw new Unreadable();
        at = end + 2;
      } else if (take(LINE_COMMENT) === '') return;
    }
  }

  function readString(): string {
    const start = at++;
    while (text[at] !== '"') {
      at += text[at] === '\\' ? 2 : 1;
      if (at >= text.length) throw new Unreadable();
    }
    const clean = text
      .slice(start, ++at)
      .replace(ESCAPE, (whole, known: string | undefined, other: string | undefined) =>
        known !== undefined ? whole : (other as string),
      )
      .replace(CONTROL, escapeControl);
    return parse(clean) as string;
  }

  function readValue(depth: number): JsonValue {
    skip();
    const first = text[at];
    if (first === '"') return readString();
    if (first === '{' || first === '[') {
      if (depth >= DEEPEST_JSON) throw new Unreadable();
      at++;
      return first === '{' ? readObject(depth + 1) : readList(depth + 1);
    }
    const word = take(WORD);
    if (word === '') throw new Unreadable();
    return parse(word);
  }

  /** True at the end of an object or list, after commas. */
  function isAtEnd(bracket: string): boolean {
    skip();
    while (text[at] === ',') {
      at++;
      skip();
    }
    if (text[at] !== bracket) return false;
    at++;
    return true;
  }

  function expectComma(bracket: string): void {
    skip();
    if (text[at] !== ',' && text[at] !== bracket) throw new Unreadable();
  }

  function readObject(depth: number): JsonValue {
    const entries: [string, JsonValue][] = [];
    while (!isAtEnd('}')) {
      if (text[at] !== '"') throw new Unreadable();
      const key = readString();
      skip();
      if (text[at++] !== ':') throw new Unreadable();
      entries.push([key, readValue(depth)]);
      expectComma('}');
    }
    return Object.fromEntries(entries);
  }

  function readList(depth: number): JsonValue {
    const values: JsonValue[] = [];
    while (!isAtEnd(']')) {
      values.push(readValue(depth));
      expectComma(']');
    }
    return values;
  }
}

function parse(text: string): JsonValue {
  try {
    return JSON.parse(text) as JsonValue;
  } catch (error) {
    if (error instanceof SyntaxError) throw new Unreadable();
    throw error;
  }
}
