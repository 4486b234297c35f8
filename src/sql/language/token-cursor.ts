/**
 * Walks over the tokens of one statement, for the readers of the grammar. Every mistake becomes an error at the token
 * that stands there, which says what was found and what was expected.
 */
import type { Token } from './lex.ts';
import { type Place, placeOf, syntaxError, type TextPart } from './place.ts';

export interface TokenCursor {
  /** The token that is next, or one behind it. */
  peek(ahead?: number): Token | undefined;
  /** The token before the next one. */
  last(): Token | undefined;
  take(): Token;
  /** True when the next token is a word; by name, in capitals. */
  isWord(word: string, ahead?: number): boolean;
  isSymbol(symbol: string, ahead?: number): boolean;
  /** Takes the next token when it is this word. */
  skipWord(word: string): boolean;
  skipSymbol(symbol: string): boolean;
  /** Takes the word or fails. */
  needWord(word: string, where: string, advice: string): Token;
  needSymbol(symbol: string, where: string, advice: string): Token;
  /** Behind an opening bracket: items between commas, up to the closing one. */
  list(readItem: () => void, expected: string, advice: string): void;
  /** The text from one token to another, both included. */
  part(first: Token, last: Token): TextPart;
  placeOf(token: Token | undefined): Place;
  /** `found X where; expected Y`, at the next token. */
  unexpected(where: string, expected: string, advice: string): Error;
  error(token: Token | undefined, problem: string, advice: string): Error;
}

export function createTokenCursor(text: string, tokens: readonly Token[]): TokenCursor {
  let next = 0;
  const end = tokens.at(-1)?.end ?? 0;

  const cursor: TokenCursor = {
    peek: (ahead = 0) => tokens[next + ahead],
    last: () => tokens[next - 1],
    take: () => tokens[next++],
    isWord(word, ahead = 0) {
      const token = tokens[next + ahead];
      return token?.kind === 'word' && token.value === word;
    },
    isSymbol(symbol, ahead = 0) {
      const token = tokens[next + ahead];
      return token?.kind === 'symbol' && token.text === symbol;
    },
    skipWord(word) {
      const isThere = cursor.isWord(word);
      if (isThere) next++;
      return isThere;
    },
    skipSymbol(symbol) {
      const isThere = cursor.isSymbol(symbol);
      if (isThere) next++;
      return isThere;
    },
    needWord(word, where, advice) {
      if (!cursor.isWord(word)) throw cursor.unexpected(where, word, advice);
      return cursor.take();
    },
    needSymbol(symbol, where, advice) {
      if (!cursor.isSymbol(symbol)) throw cursor.unexpected(where, symbol, advice);
      return cursor.take();
    },
    list(readItem, expected, advice) {
      for (;;) {
        if (cursor.isSymbol(')') || cursor.isSymbol(',') || cursor.peek() === undefined)
          throw cursor.unexpected(`after ${cursor.last()?.text}`, expected, advice);
        readItem();
        if (cursor.skipSymbol(')')) return;
        if (!cursor.skipSymbol(','))
          throw cursor.unexpected(`after ${cursor.last()?.text}`, 'a comma or )', advice);
      }
    },
    part: (first, last) => ({ text: text.slice(first.start, last.end), start: first.start }),
    placeOf: (token) => placeOf(text, token?.start ?? end),
    unexpected: (where, expected, advice) =>
      cursor.error(cursor.peek(), `found ${shown(cursor.peek())} ${where}; expected ${expected}`, advice),
    error: (token, problem, advice) => syntaxError(cursor.placeOf(token), problem, advice),
  };
  return cursor;
}

export function shown(token: Token | undefined): string {
  if (token === undefined) return 'the end';
  return token.text.length > 40 ? `${token.text.slice(0, 39)}…` : token.text;
}

const PAIRS: Readonly<Record<string, string>> = { '(': ')', '[': ']', '{': '}' };
const CLOSING = new Set(Object.values(PAIRS));

/** Refuses brackets that have no partner, at the place of the one that lacks it. */
export function checkBrackets(cursor: TokenCursor, tokens: readonly Token[]): void {
  const open: Token[] = [];
  for (const token of tokens) {
    if (token.kind !== 'symbol') continue;
    if (token.text in PAIRS) open.push(token);
    else if (CLOSING.has(token.text)) {
      const opening = open.pop();
      const closing = opening === undefined ? 'an opening one before it' : PAIRS[opening.text];
      if (closing === token.text) continue;
      throw cursor.error(
        token,
        `the bracket ${token.text} closes nothing; expected ${closing}`,
        'Take it away, or write the bracket that it belongs to.',
      );
    }
  }
  const unclosed = open.at(-1);
  if (unclosed === undefined) return;
  throw cursor.error(
    unclosed,
    `the bracket ${unclosed.text} is never closed; expected ${PAIRS[unclosed.text]}`,
    `Write ${PAIRS[unclosed.text]} where it ends.`,
  );
}
