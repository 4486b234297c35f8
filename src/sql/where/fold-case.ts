/**
 * lower() and upper() as far as a comparison with ASCII can see them. DuckDB maps each character to one character by tables
 * of its own. Which of them become ASCII never changes; what the others become is left out, since nothing here asks for it.
 */
const BEYOND_ASCII = /[^\0-\x7f]/;

/** Whether text compared with what these functions give may tell the difference. */
export function isAscii(text: string): boolean {
  return !BEYOND_ASCII.test(text);
}

export function lowerAscii(text: string): string {
  if (isAscii(text)) return text.toLowerCase();
  return text.replace(/[A-Z\u0130\u212a]/g, (letter) => {
    if (letter === '\u0130') return 'i';
    return letter === '\u212a' ? 'k' : letter.toLowerCase();
  });
}

export function upperAscii(text: string): string {
  if (isAscii(text)) return text.toUpperCase();
  return text.replace(/[a-z\u0131\u017f]/g, (letter) => {
    if (letter === '\u0131') return 'I';
    return letter === '\u017f' ? 'S' : letter.toUpperCase();
  });
}
