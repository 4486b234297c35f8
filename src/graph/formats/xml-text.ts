/**
 * Text inside XML 1.0. A character that the standard does not allow (section 2.2: most control characters, halves of
 * surrogate pairs) cannot be written in any way and becomes U+FFFD, so that one title never breaks a whole file.
 */
const NOT_A_CHARACTER = /[^\t\n\r\u{20}-\u{D7FF}\u{E000}-\u{FFFD}\u{10000}-\u{10FFFF}]/gu;
const NOT_PLAIN = /[&<>"\t\n\r]|[^\u{20}-\u{D7FF}\u{E000}-\u{FFFD}\u{10000}-\u{10FFFF}]/u;

const REFERENCES: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  // Otherwise a reader would see spaces (section 3.3.3).
  '\t': '&#9;',
  '\n': '&#10;',
  '\r': '&#13;',
};

/** Valid in an attribute in double quotes and between tags. */
export function xmlText(text: string): string {
  if (!NOT_PLAIN.test(text)) return text;
  return text.replace(NOT_A_CHARACTER, '\u{FFFD}').replace(/[&<>"\t\n\r]/g, (sign) => REFERENCES[sign]);
}
