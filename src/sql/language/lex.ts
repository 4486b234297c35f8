/**
 * DuckDB's lexical rules: what is a string, a quoted name, a comment, a number, a parameter, a word. Tokens are found
 * one after another, so that a long script needs no list of them. Knows no grammar; keywords are words like all
 * others.
 */
import { placeOf, syntaxError } from './place.ts';

/**
 * word: a plain name or keyword. identifier: a name in double quotes. string: '…', E'…', $tag$…$tag$.
 * blob: x'…', b'…'.
 * symbol: one character of an operator, a bracket, comma or semicolon. comment: only one that never ends.
 */
type TokenKind = 'word' | 'identifier' | 'string' | 'blob' | 'number' | 'parameter' | 'symbol' | 'comment';

export interface Token {
  kind: TokenKind;
  /** Offsets in UTF-16; `end` is behind the last character. */
  start: number;
  end: number;
  /** As it was written. */
  text: string;
  /** A word in capitals, a string or quoted name without quotes and escapes, else the text. */
  value: string;
  /** The text ends before the token does. */
  isOpen: boolean;
}

/** DuckDB takes these spaces of Unicode for plain ones. */
const WIDE_SPACES = '\\u00a0\\u2000-\\u200b\\u202f\\u205f\\u2060\\u3000\\ufeff';
const LETTER = `(?:[A-Za-z_]|(?![${WIDE_SPACES}])[\\u0080-\\uffff])`;

const BLANKS = new RegExp(`[ \\t\\n\\r\\f\\v${WIDE_SPACES}]*`, 'y');
const WORD = new RegExp(`${LETTER}(?:[0-9$]|${LETTER})*`, 'y');
const NUMBER = /0x[\da-f_]+|0b[01_]+|0o[0-7_]+|(?:\d[\d_]*(?:\.[\d_]*)?|\.\d[\d_]*)(?:e[+-]?\d+)?/iy;
const DOLLAR_TAG = new RegExp(`\\$(?:${LETTER}(?:[0-9]|${LETTER})*)?\\$`, 'y');
const PARAMETER = new RegExp(`\\$(?:\\d+|${LETTER}(?:[0-9]|${LETTER})*)|\\?`, 'y');
const PREFIX = /[exbn](?=')|u&(?=['"])/iy;
/** Strings on several lines are one string, also with comments between them. */
const CONTINUATION = /(?:[ \t\f\v]|--[^\r\n]*)*[\r\n](?:\s|--[^\r\n]*(?=[\r\n]))*'/y;

/** They begin nothing longer; - and / may begin a comment that never ends. */
const PLAIN_SIGNS = new Set('(),;=*[]{}+<>');

const OPEN_WORDS: Partial<Record<TokenKind, string>> = {
  string: 'a string',
  blob: 'a string',
  identifier: 'a quoted name',
  comment: 'a comment',
};

/** All tokens of a text. A token that never ends is an error. */
export function lex(text: string): Token[] {
  const tokens: Token[] = [];
  for (const token of tokensOf(text)) tokens.push(token);
  const last = tokens.at(-1);
  if (last?.isOpen) throw openError(text, last);
  return tokens;
}

export function openError(text: string, token: Token): Error {
  const what = OPEN_WORDS[token.kind] ?? 'a token';
  const ending = endOf(token);
  return syntaxError(
    placeOf(text, token.start),
    `${what} begins with ${token.text.slice(0, 20).trim()} and never ends; expected ${ending}`,
    `Close it with ${ending}. Inside a string in single quotes, write a quote twice.`,
  );
}

function endOf({ kind, text }: Token): string {
  if (kind === 'comment') return '*/';
  if (kind === 'identifier') return '"';
  return text.startsWith('$') ? text.slice(0, text.indexOf('$', 1) + 1) : "'";
}

export function* tokensOf(text: string): Generator<Token, void> {
  let token = nextToken(text, 0);
  while (token !== null) {
    yield token;
    token = nextToken(text, token.end);
  }
}

/** The first token at or behind an offset, which must not be inside of a token; null at the end. */
export function nextToken(text: string, offset: number): Token | null {
  const start = skipBlanks(text, offset);
  if (start >= text.length) return null;
  const sign = text[start];
  // Most tokens of a long statement.
  if (PLAIN_SIGNS.has(sign)) return make('symbol', text, start, start + 1);
  // An unclosed comment: a closed one has been skipped.
  if (sign === '/' && text[start + 1] === '*') return make('comment', text, start, null);
  if (sign === "'") return readString(text, start, start);
  if (sign === '"') return readIdentifier(text, start, start);
  const prefix = match(PREFIX, text, start);
  if (prefix > start) return readPrefixed(text, start, prefix);
  const word = match(WORD, text, start);
  if (word > start) return make('word', text, start, word, text.slice(start, word).toUpperCase());
  const number = match(NUMBER, text, start);
  if (number > start) return make('number', text, start, number);
  const tag = match(DOLLAR_TAG, text, start);
  if (tag > start) return readDollars(text, start, tag);
  const parameter = match(PARAMETER, text, start);
  if (parameter > start) return make('parameter', text, start, parameter);
  return make('symbol', text, start, start + (text.codePointAt(start)! > 0xffff ? 2 : 1));
}

function skipBlanks(text: string, offset: number): number {
  let at = offset;
  for (;;) {
    at = match(BLANKS, text, at);
    if (text.startsWith('--', at)) at = endOfLine(text, at);
    else if (text.startsWith('/*', at)) {
      const end = endOfComment(text, at);
      if (end === null) return at;
      at = end;
    } else return at;
  }
}

function endOfLine(text: string, offset: number): number {
  let at = offset;
  while (at < text.length && text[at] !== '\n' && text[at] !== '\r') at++;
  return at;
}

/** Comments nest. */
function endOfComment(text: string, start: number): number | null {
  let depth = 1;
  for (let at = start + 2; at < text.length - 1; at++) {
    if (text[at] === '*' && text[at + 1] === '/') {
      at++;
      depth--;
      if (depth === 0) return at + 1;
    } else if (text[at] === '/' && text[at + 1] === '*') {
      at++;
      depth++;
    }
  }
  return null;
}

function readPrefixed(text: string, start: number, quote: number): Token {
  if (text[quote] === '"') return readIdentifier(text, start, quote);
  const letter = text[start].toLowerCase();
  if (letter === 'e') return readEscaped(text, start);
  const token = readString(text, start, quote);
  return letter === 'x' || letter === 'b' ? { ...token, kind: 'blob', value: token.text } : token;
}

function readIdentifier(text: string, start: number, quote: number): Token {
  const end = endOfQuoted(text, quote, '"');
  return make('identifier', text, start, end, unquote(text, quote, end, '"'));
}

function readString(text: string, start: number, quote: number): Token {
  let value = '';
  let at = quote;
  for (;;) {
    const end = endOfQuoted(text, at, "'");
    value += unquote(text, at, end, "'");
    if (end === null) return make('string', text, start, null, value);
    const next = match(CONTINUATION, text, end);
    if (next === end) return make('string', text, start, end, value);
    at = next - 1;
  }
}

/** Behind the closing quote; a doubled quote closes nothing. */
function endOfQuoted(text: string, quote: number, sign: string): number | null {
  let at = text.indexOf(sign, quote + 1);
  while (at !== -1 && text[at + 1] === sign) at = text.indexOf(sign, at + 2);
  return at === -1 ? null : at + 1;
}

function unquote(text: string, quote: number, end: number | null, sign: string): string {
  return text.slice(quote + 1, end === null ? text.length : end - 1).replaceAll(sign + sign, sign);
}

/** E'…': a backslash takes the next character with it. Parts on further lines have backslashes, too. */
function readEscaped(text: string, start: number): Token {
  let raw = '';
  let from = start + 2;
  let at = from;
  while (at < text.length) {
    if (text[at] === '\\') at += 2;
    else if (text[at] !== "'") at++;
    else if (text[at + 1] === "'") at += 2;
    else {
      raw += text.slice(from, at);
      const next = match(CONTINUATION, text, at + 1);
      if (next === at + 1) return make('string', text, start, next, withoutEscapes(raw));
      from = next;
      at = next;
    }
  }
  return make('string', text, start, null, withoutEscapes(raw + text.slice(from)));
}

const ESCAPE = /''|\\x[\da-fA-F]{1,2}|\\[0-7]{1,3}|\\u[\da-fA-F]{4}|\\U[\da-fA-F]{8}|\\[\s\S]/g;
const CONTROLS: Readonly<Record<string, string>> = { b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' };

function withoutEscapes(raw: string): string {
  return raw.replace(ESCAPE, (found) => {
    if (found === "''") return "'";
    const letter = found[1];
    if (/[0-7]/.test(letter)) return characterOf(Number.parseInt(found.slice(1), 8) & 0xff);
    if (found.length > 2) return characterOf(Number.parseInt(found.slice(2), 16));
    return CONTROLS[letter] ?? found.slice(1);
  });
}

function characterOf(code: number): string {
  return code > 0x10ffff ? '\ufffd' : String.fromCodePoint(code);
}

function readDollars(text: string, start: number, behindTag: number): Token {
  const tag = text.slice(start, behindTag);
  const end = text.indexOf(tag, behindTag);
  const value = text.slice(behindTag, end === -1 ? text.length : end);
  return make('string', text, start, end === -1 ? null : end + tag.length, value);
}

/** Where the match that begins at the offset ends; the offset itself when there is none. */
function match(pattern: RegExp, text: string, offset: number): number {
  pattern.lastIndex = offset;
  return pattern.test(text) ? pattern.lastIndex : offset;
}

/** `end` null: the token is open. */
function make(kind: TokenKind, text: string, start: number, end: number | null, value?: string): Token {
  const written = text.slice(start, end ?? text.length);
  const isOpen = end === null;
  return { kind, start, end: end ?? text.length, text: written, value: value ?? written, isOpen };
}
