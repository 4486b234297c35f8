/**
 * Texts in the order of their UTF-8 bytes, which is DuckDB's. The order of code units, which JavaScript has, differs where
 * one text goes on with a character beyond U+FFFF and the other with one from U+E000 to U+FFFF.
 */
export function compareUtf8(a: string, b: string): number {
  if (a === b) return 0;
  const most = Math.min(a.length, b.length);
  for (let at = 0; at < most; at++) {
    const left = a.charCodeAt(at);
    const right = b.charCodeAt(at);
    if (left !== right) return rankOf(left) - rankOf(right);
  }
  return a.length - b.length;
}

const SURROGATES = 0xd800;
const AFTER_SURROGATES = 0xe000;

/** Halves of characters beyond U+FFFF come last. */
function rankOf(unit: number): number {
  if (unit < SURROGATES) return unit;
  return unit < AFTER_SURROGATES ? unit + 0x10000 : unit;
}

/** How many characters DuckDB counts: code points. */
export function countCharacters(text: string): number {
  let count = text.length;
  for (let at = 0; at < text.length - 1; at++) {
    if ((text.charCodeAt(at) & 0xfc00) !== 0xd800) continue;
    count--;
    at++;
  }
  return count;
}
