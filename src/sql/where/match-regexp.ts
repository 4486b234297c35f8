/**
 * Regular expressions as RE2 reads them, by re2js, where both surely mean the same: ASCII patterns without classes of
 * Unicode and without escapes that name a character by its number. DuckDB has checked the pattern before.
 */
import { createRequire } from 'node:module';
import type * as Re2js from 're2js';
import type { TextTest } from './match-like.ts';

const load = createRequire(import.meta.url);

/** Letters after a backslash: classes, word borders and control characters that are the same in both. */
const ESCAPES = new Set('dDwWsSbBtnrf');
const LITERAL = /[\\.+*?()|[\]{}^$]/g;

/** `extent`: anywhere in the text, or all of it. Null where the answer is left to DuckDB. */
export function compileRegexp(pattern: string, options: string, extent: 'part' | 'all'): TextTest | null {
  const flags = readOptions(options);
  if (flags === null) return null;
  const text = flags.isLiteral ? pattern.replace(LITERAL, '\\$&') : pattern;
  if (!isCommonSyntax(text)) return null;
  const { RE2JS } = load('re2js') as typeof Re2js;
  const wanted = (flags.ignoresCase ? RE2JS.CASE_INSENSITIVE : 0) | (flags.dotIsAll ? RE2JS.DOTALL : 0);
  try {
    const expression = RE2JS.compile(text, wanted);
    return extent === 'part' ? (url) => expression.test(url) : (url) => expression.testExact(url);
  } catch {
    return null;
  }
}

/** The last one counts, as in DuckDB. */
function readOptions(options: string) {
  const flags = { ignoresCase: false, dotIsAll: false, isLiteral: false };
  for (const letter of options) {
    if (letter === 'c' || letter === 'i') flags.ignoresCase = letter === 'i';
    else if (letter === 's') flags.dotIsAll = true;
    else if (letter === 'm' || letter === 'n' || letter === 'p') flags.dotIsAll = false;
    else if (letter === 'l') flags.isLiteral = true;
    else return null;
  }
  return flags;
}

/** Anchors stand at the ends alone: DuckDB makes some expressions into a LIKE and forgets those within. */
function isCommonSyntax(pattern: string): boolean {
  if (!/^[\t\n\r -~]*$/.test(pattern)) return false;
  for (let at = 0; at < pattern.length; at++) {
    if (pattern[at] === '\\') {
      at++;
      if (/[A-Za-z0-9]/.test(pattern[at] ?? 'x') && !ESCAPES.has(pattern[at])) return false;
    } else if (
      pattern.startsWith('(?', at) &&
      !/^\(\?(?:P<\w+>|[ims]*(?:-[ims]+)?[:)])/.test(pattern.slice(at, at + 40))
    )
      return false;
    else if (pattern[at] === '^' && at > 0 && pattern[at - 1] !== '[') return false;
    else if (pattern[at] === '$' && at < pattern.length - 1) return false;
  }
  return true;
}
