/**
 * Values of DuckDB's type JSON as they go into our JSON: the text itself, all digits of its numbers included, on
 * one line. DuckDB takes and makes what no other reader does (NaN, Infinity, a comma at the end): those become
 * null, or go.
 */

/** What only DuckDB takes, beside the strings, in which nothing is touched. */
const LENIENT = /"(?:[^"\\]|\\.)*"|-?\b(?:nan|inf|infinity)\b|,(?=\s*[\]}])/gi;

export function jsonText(text: string): string {
  if (!isValid(text)) {
    const strict = text.replace(LENIENT, (part) => (part[0] === '"' ? part : part === ',' ? '' : 'null'));
    // Whatever it is, a reader of ours gets it whole.
    if (!isValid(strict)) return JSON.stringify(text);
    return onOneLine(strict);
  }
  return onOneLine(text);
}

/** In valid JSON a line end is always between values. */
function onOneLine(text: string): string {
  return /[\r\n]/.test(text) ? text.replace(/[\r\n]+/g, ' ') : text;
}

function isValid(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
