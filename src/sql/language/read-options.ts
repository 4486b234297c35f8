/**
 * Reads the list of WITH: `key value` or `key = value`. Keys are checked here, where their place is known; values
 * stay as they were written, for resolve-options.ts.
 */
import type { Token } from './lex.ts';
import { findOption, isSameOption, whyNoOption } from './option-names.ts';
import type { Place } from './place.ts';
import { shown, type TokenCursor } from './token-cursor.ts';

/** A list is in brackets; null is the word NULL. All else is text. */
export type WrittenValue = string | null | readonly string[];

export interface OptionEntry {
  /** The name in option-names.ts, which may have been written in another way. */
  name: string;
  /** As it was written. */
  written: string;
  value: WrittenValue;
  /** A plain word, not a text in quotes: `none` takes a limit away. */
  isWord: boolean;
  /** Of the key and of the value in the statement; null for what a program gave. */
  place: Place | null;
  valuePlace: Place | null;
}

const ADVICE =
  'Write WITH (name value, …), for example WITH (threads 8, follow_links true). docs/sql.md lists the names.';

export function readOptions(cursor: TokenCursor): OptionEntry[] {
  cursor.needSymbol('(', 'after WITH', ADVICE);
  const entries: OptionEntry[] = [];
  cursor.list(
    () => {
      const key = cursor.peek();
      const entry = readEntry(cursor);
      const same = entries.find(({ name }) => isSameOption(name, entry.name));
      if (same !== undefined)
        throw cursor.error(
          key,
          same.written === entry.written
            ? `${entry.written} stands in WITH twice; expected it once`
            : `${same.written} and ${entry.written} set the same; expected one of them`,
          'Take one of the two away.',
        );
      entries.push(entry);
    },
    'the name of an option',
    ADVICE,
  );
  return entries;
}

function readEntry(cursor: TokenCursor): OptionEntry {
  const key = cursor.peek()!;
  const written = readKey(cursor);
  const name = findOption(written);
  if (name === null) {
    const { problem, advice } = whyNoOption(written);
    throw cursor.error(key, problem, advice);
  }
  cursor.skipSymbol('=');
  const token = cursor.peek();
  if (token === undefined || token.text === ',' || token.text === ')')
    throw cursor.error(key, `${written} has no value; expected one behind it`, ADVICE);
  const isWord = token.kind === 'word';
  const place = cursor.placeOf(key);
  const valuePlace = cursor.placeOf(token);
  return { name, written, value: readValue(cursor), isWord, place, valuePlace };
}

/** Names of options may have hyphens, with no space around them. */
function readKey(cursor: TokenCursor): string {
  const first = cursor.peek()!;
  if (first.kind !== 'word' && first.kind !== 'identifier')
    throw cursor.unexpected('in WITH', 'the name of an option', ADVICE);
  let key = first.kind === 'word' ? first.text : first.value;
  cursor.take();
  const touches = (token: Token | undefined) => token?.start === cursor.last()?.end;
  while (
    cursor.isSymbol('-') &&
    touches(cursor.peek()) &&
    /^(word|number)$/.test(cursor.peek(1)?.kind ?? '')
  ) {
    cursor.take();
    // `threads-1` is a name with a mistake in it as well.
    if (!touches(cursor.peek())) throw cursor.unexpected(`after ${key}-`, 'the rest of the name', ADVICE);
    key += `-${cursor.take().text}`;
  }
  return key;
}

function readValue(cursor: TokenCursor): WrittenValue {
  if (cursor.isSymbol('[') || cursor.isSymbol('(')) return readList(cursor);
  if (cursor.isWord('NULL')) {
    cursor.take();
    return null;
  }
  const text = readText(cursor);
  const next = cursor.peek();
  if (next === undefined || next.text === ',' || next.text === ')') return text;
  throw cursor.error(
    next,
    `found ${shown(next)} after the value ${text}; expected a comma or )`,
    "A value is a number, a word, a text in quotes, or a list as in ['a', 'b'].",
  );
}

function readList(cursor: TokenCursor): readonly string[] {
  const closing = cursor.take().text === '[' ? ']' : ')';
  const items: string[] = [];
  if (cursor.skipSymbol(closing)) return items;
  do items.push(readText(cursor));
  while (cursor.skipSymbol(','));
  cursor.needSymbol(closing, 'in a list', `Write a list as in ['a', 'b'].`);
  return items;
}

/** A text in quotes, a word, or a number, perhaps with its sign before it and its unit behind it (10MB). */
function readText(cursor: TokenCursor): string {
  const sign = cursor.isSymbol('-') || cursor.isSymbol('+') ? cursor.take().text : '';
  const token = cursor.peek();
  if (token?.kind === 'number') {
    cursor.take();
    const unit = cursor.peek();
    const hasUnit = unit?.kind === 'word' && unit.start === token.end;
    if (hasUnit) cursor.take();
    const digits = token.text.replaceAll('_', '');
    return `${sign.replace('+', '')}${isPlain(digits) ? digits : String(Number(digits))}${hasUnit ? unit.text : ''}`;
  }
  if (sign === '' && (token?.kind === 'word' || token?.kind === 'string' || token?.kind === 'identifier')) {
    cursor.take();
    return token.kind === 'word' ? token.text : token.value;
  }
  throw cursor.unexpected(
    `after ${cursor.last()?.text}`,
    'a value',
    "A value is a number, a word, a text in quotes, or a list as in ['a', 'b'].",
  );
}

/** Not 1e3 or 0xff, which validators do not read. */
function isPlain(digits: string): boolean {
  return /^(\d+(\.\d+)?|\.\d+)$/.test(digits);
}
