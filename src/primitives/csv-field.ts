/**
 * One value of a CSV file, by RFC 4180, and never a formula that a spreadsheet would run. A text that begins like a
 * formula gets an apostrophe before it, which spreadsheets read as "this is text". Numbers stay numbers, negative ones
 * too.
 */

/** Makes a spreadsheet read the file as UTF-8. */
export const BYTE_ORDER_MARK = '\uFEFF';

/**
 * The last four are the wide forms of the first four, which a Chinese or Japanese spreadsheet reads in the same way.
 */
const FORMULA = /^[=+\-@\t\r＝＋－＠]/;
const NUMBER = /^[+-]?(?:\d+(?:\.\d+)?|\.\d+)(?:e[+-]?\d+)?$/i;

export function csvField(value: unknown): string {
  if (value === null || value === undefined) return '';
  if (typeof value === 'number') return String(value);
  const text = typeof value === 'object' ? JSON.stringify(value) : String(value);
  const harmless = FORMULA.test(text) && !NUMBER.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless;
}
