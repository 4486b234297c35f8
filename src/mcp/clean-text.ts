/**
 * Text for agents and terminals: no control characters, no escape sequences, and nothing that a person would not see but a
 * program reads (text that changes direction, tag characters, half of a surrogate pair). Line ends and tabs stay.
 */

// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is removed
const ESCAPE_SEQUENCE = /\u001b(?:\[[0-?]*[ -/]*[@-~]|[\]PX^_][^\u0007\u001b]*(?:\u0007|\u001b\\))/g;
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is removed
const CONTROLS = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]/g;
/** Directions, and characters without width that hide text in text; tags spell words that nobody sees. */
const UNSEEN = /[\u00ad\u061c\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff]|[\u{e0000}-\u{e0fff}]/gu;
const HALF_PAIRS = /[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;

export function cleanText(text: string): string {
  return text
    .replace(ESCAPE_SEQUENCE, '')
    .replace(/\r\n?/g, '\n')
    .replace(CONTROLS, '')
    .replace(HALF_PAIRS, '\ufffd')
    .replace(UNSEEN, '');
}

/** Every text in it, names of fields included. */
export function cleanData<Value>(value: Value): Value {
  if (typeof value === 'string') return cleanText(value) as Value;
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(cleanData) as Value;
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [cleanText(name), cleanData(inner)]),
  ) as Value;
}
