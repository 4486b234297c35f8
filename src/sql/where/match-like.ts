/**
 * LIKE as DuckDB has it: `%` is any text, `_` one character (code point), everything else itself. There is no escape
 * character unless one is given. Time is at most length of the text times length of the pattern.
 */
export type TextTest = (text: string) => boolean;

const ANY = -1;
const ONE = -2;

/** `mark` is the escape character, or empty. Null for one that is left to DuckDB: it is not one ASCII character, one of `%` and `_`, or stands last. */
export function compileLike(pattern: string, mark: string): TextTest | null {
  const parts = partsOf(pattern, mark);
  if (parts === null) return null;
  return parts.includes(ONE) ? walkTest(parts) : segmentTest(parts);
}

/** Code units, with ANY and ONE between them. */
function partsOf(pattern: string, mark: string): number[] | null {
  if (mark !== '' && !/^[\0-$&-^`-\x7f]$/.test(mark)) return null;
  const parts: number[] = [];
  for (let at = 0; at < pattern.length; at++) {
    const letter = pattern[at];
    if (letter === mark) {
      at++;
      if (at === pattern.length) return null;
      parts.push(pattern.charCodeAt(at));
    } else if (letter === '%') {
      if (parts.at(-1) !== ANY) parts.push(ANY);
    } else parts.push(letter === '_' ? ONE : pattern.charCodeAt(at));
  }
  return parts;
}

/** Without `_` a pattern is a row of texts, each after the one before. */
function segmentTest(parts: readonly number[]): TextTest {
  const segments: string[] = [''];
  for (const part of parts) {
    if (part === ANY) segments.push('');
    else segments[segments.length - 1] += String.fromCharCode(part);
  }
  const first = segments[0];
  if (segments.length === 1) return (text) => text === first;
  const last = segments[segments.length - 1];
  const middle = segments.slice(1, -1);
  if (middle.length === 0)
    return (text) =>
      text.length >= first.length + last.length && text.startsWith(first) && text.endsWith(last);
  return (text) => {
    const end = text.length - last.length;
    if (end < first.length || !text.startsWith(first) || !text.endsWith(last)) return false;
    let at = first.length;
    for (const segment of middle) {
      const found = text.indexOf(segment, at);
      if (found === -1) return false;
      at = found + segment.length;
    }
    return at <= end;
  };
}

/** Where the text does not go on as the pattern does, the last `%` takes one more. */
function walkTest(parts: readonly number[]): TextTest {
  return (text) => {
    let at = 0;
    let part = 0;
    let anyPart = -1;
    let anyAt = 0;
    while (at < text.length) {
      const wanted = parts[part];
      if (wanted === ANY) {
        anyPart = part++;
        anyAt = at;
      } else if (wanted === ONE) {
        at += isPair(text, at) ? 2 : 1;
        part++;
      } else if (wanted === text.charCodeAt(at)) {
        at++;
        part++;
      } else if (anyPart === -1) return false;
      else {
        part = anyPart + 1;
        at = ++anyAt;
      }
    }
    while (parts[part] === ANY) part++;
    return part === parts.length;
  };
}

function isPair(text: string, at: number): boolean {
  return (text.charCodeAt(at) & 0xfc00) === 0xd800 && at + 1 < text.length;
}
