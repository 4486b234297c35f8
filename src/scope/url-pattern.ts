/**
 * Compiles a user's regular expression so that no pattern can hang the crawl: every test takes time linear in the URL.
 *
 * A pattern without special characters is a plain search. A pattern whose shape rules out backtracking runs on V8. All
 * others run on re2js, which never backtracks; it takes 10 ms to load, so the first pattern that needs it loads it.
 * Whatever the engine, the accepted language is that of RE2: no lookaround, no backreferences.
 */
import { createRequire } from 'node:module';
import type * as Re2js from 're2js';

export interface UrlPattern {
  readonly text: string;
  readonly engine: 'literal' | 'v8' | 're2';
  /** Whether the pattern occurs anywhere in the URL; case counts. */
  test(url: string): boolean;
}

export class InvalidPatternError extends Error {
  override readonly name = 'InvalidPatternError';
  readonly pattern: string;
  /** Offset of the mistake in the pattern, if it is known. */
  readonly position: number | null;
  readonly hint: string;

  constructor(pattern: string, message: string, position: number | null, hint: string) {
    super(message);
    this.pattern = pattern;
    this.position = position;
    this.hint = hint;
  }
}

const load = createRequire(import.meta.url);

export function compileUrlPattern(text: string): UrlPattern {
  refuseUnsupported(text);
  const literal = literalOf(text);
  if (literal !== null) return { text, engine: 'literal', test: (url) => url.includes(literal) };
  if (cannotBacktrack(text)) {
    const expression = new RegExp(text);
    return { text, engine: 'v8', test: (url) => expression.test(url) };
  }
  const { RE2JS } = load('re2js') as typeof Re2js;
  try {
    const expression = RE2JS.compile(text);
    return { text, engine: 're2', test: (url) => expression.test(url) };
  } catch (error) {
    throw invalidPattern(text, error);
  }
}

function refuseUnsupported(text: string): void {
  for (let i = 0; i < text.length; i++) {
    if (text[i] === '\\') {
      i++;
      if (/[1-9]/.test(text[i] ?? '') || text.startsWith('k<', i)) {
        throw new InvalidPatternError(
          text,
          `backreference at ${i - 1} in the pattern ${text}`,
          i - 1,
          'patterns run in linear time, so they cannot refer back to a group; write the alternatives out',
        );
      }
    } else if (text[i] === '[') {
      i = classEnd(text, i);
    } else if (/^\(\?<?[=!]/.test(text.slice(i, i + 4))) {
      throw new InvalidPatternError(
        text,
        `lookaround at ${i} in the pattern ${text}`,
        i,
        'patterns run in linear time, so they cannot look ahead or behind; use exclude for "but not"',
      );
    }
  }
}

/** The position of the bracket that closes the class; the text's end if there is none. */
function classEnd(text: string, open: number): number {
  let i = open + 1;
  if (text[i] === '^') i++;
  if (text[i] === ']') i++;
  for (; i < text.length && text[i] !== ']'; i++) {
    if (text[i] === '\\') i++;
  }
  return i;
}

/** The text that a pattern without special characters searches, or null. Escaped punctuation means itself. */
function literalOf(text: string): string | null {
  if (text === '' || !/^(?:[^\\^$.*+?()[\]{}|]|\\[^A-Za-z0-9\s])+$/.test(text)) return null;
  return text.replace(/\\(.)/gs, '$1');
}

const PLAIN = String.raw`[A-Za-z0-9/_:=&%~@!,;#<>"' -]|\\[./?+*()[\]{}|^$\\-]|\\[dw]`;
const TOKENS = new RegExp(
  String.raw`(?<mark>[\^$|])|(?<open>\((?:\?:)?)|(?<close>\))|(?<quantifier>[*+?])|(?<atom>${PLAIN}|\.|\[\^?(?:${PLAIN}|[.?+*()$|])+\])`,
  'y',
);
const MAX_OPTIONAL = 4;

/**
 * True for patterns that V8 surely runs in linear time: plain characters, classes, dots, anchors and groups of
 * alternatives, a few optional parts, and at most one unbounded quantifier, on a single character or class, in a
 * pattern that begins with `^` (otherwise the search would start again at every character). re2 runs everything else:
 * this test may be too strict, but never wrong.
 */
function cannotBacktrack(text: string): boolean {
  let depth = 0;
  let unbounded = 0;
  let optional = 0;
  let before: 'atom' | 'group' | 'other' = 'other';
  let hasTopAlternatives = false;
  for (TOKENS.lastIndex = 0; TOKENS.lastIndex < text.length; ) {
    const token = TOKENS.exec(text)?.groups;
    if (token === undefined) return false;
    if (token.quantifier !== undefined) {
      if (before === 'other') return false;
      if (token.quantifier === '?') optional++;
      else if (before !== 'atom') return false;
      // If nothing follows, there is nothing to go back for.
      else if (depth > 0 || (TOKENS.lastIndex < text.length && text[TOKENS.lastIndex] !== '|')) unbounded++;
      before = 'other';
    } else if (token.atom !== undefined) before = 'atom';
    else if (token.close !== undefined) {
      if (--depth < 0) return false;
      before = 'group';
    } else {
      if (token.open !== undefined) depth++;
      if (token.mark === '|' && depth === 0) hasTopAlternatives = true;
      before = 'other';
    }
  }
  if (depth !== 0 || optional > MAX_OPTIONAL) return false;
  return unbounded === 0 || (unbounded === 1 && text.startsWith('^') && !hasTopAlternatives);
}

function invalidPattern(text: string, error: unknown): InvalidPatternError {
  const reason =
    error instanceof Error ? error.message.replace(/^error parsing regexp:\s*/i, '') : String(error);
  const fragment = /: `(.*)`$/s.exec(reason)?.[1];
  const at = fragment === undefined || fragment === '' ? -1 : text.indexOf(fragment);
  return new InvalidPatternError(
    text,
    `not a regular expression: ${text} (${reason})`,
    at === -1 ? null : at,
    'a pattern is a regular expression; put a backslash before ( ) [ ] { } * + ? . that are meant as characters',
  );
}
