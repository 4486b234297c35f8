/**
 * Content-Type values by the WHATWG MIME Sniffing standard (section 4.4): lower-case essence, parameters in order, the
 * first of a name counts. Null if the value is no MIME type. Also the lists that accept or reject types.
 */

export interface MimeType {
  /** `type/subtype`, lower case. */
  essence: string;
  parameters: Map<string, string>;
}

const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
/** Code points that may stand in a parameter's value. */
const VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;
const EDGE_SPACE = /^[\n\r\t ]+|[\n\r\t ]+$/g;

export function parseMimeType(value: string): MimeType | null {
  const input = value.replace(EDGE_SPACE, '');
  const slash = input.indexOf('/');
  if (slash < 0) return null;
  const semicolon = input.indexOf(';', slash);
  const type = input.slice(0, slash);
  const subtype = input.slice(slash + 1, semicolon < 0 ? undefined : semicolon).replace(/[\n\r\t ]+$/, '');
  if (!TOKEN.test(type) || !TOKEN.test(subtype)) return null;
  const parameters = new Map<string, string>();
  if (semicolon >= 0) readParameters(input, semicolon, parameters);
  return { essence: `${type}/${subtype}`.toLowerCase(), parameters };
}

function readParameters(input: string, from: number, parameters: Map<string, string>): void {
  let p = from;
  while (p < input.length) {
    p++;
    while (p < input.length && '\n\r\t '.includes(input[p])) p++;
    const nameStart = p;
    while (p < input.length && input[p] !== ';' && input[p] !== '=') p++;
    const name = input.slice(nameStart, p).toLowerCase();
    if (p >= input.length) return;
    if (input[p] === ';') continue;
    p++;
    let text = '';
    if (input[p] === '"') {
      for (p++; p < input.length && input[p] !== '"'; p++) {
        if (input[p] === '\\' && p + 1 < input.length) p++;
        text += input[p];
      }
      while (p < input.length && input[p] !== ';') p++;
    } else {
      const start = p;
      while (p < input.length && input[p] !== ';') p++;
      text = input.slice(start, p).replace(/[\n\r\t ]+$/, '');
      if (text === '') continue;
    }
    if (TOKEN.test(name) && VALUE.test(text) && !parameters.has(name)) parameters.set(name, text);
  }
}

export function serializeMimeType({ essence, parameters }: MimeType): string {
  let text = essence;
  for (const [name, value] of parameters) {
    text += `;${name}=${TOKEN.test(value) ? value : `"${value.replace(/["\\]/g, '\\$&')}"`}`;
  }
  return text;
}

// True when a type's essence fits a pattern: `text/html`, `text/*`, `application/*+xml`, `*` or `*/*`.
export function matchesMimeType(essence: string, pattern: string): boolean {
  const wanted = pattern.trim().toLowerCase();
  if (wanted === '*' || wanted === '*/*') return true;
  const [type, subtype = '*'] = wanted.split('/');
  const slash = essence.indexOf('/');
  return matchesPart(essence.slice(0, slash), type) && matchesPart(essence.slice(slash + 1), subtype);
}

function matchesPart(text: string, pattern: string): boolean {
  const star = pattern.indexOf('*');
  if (star < 0) return text === pattern;
  const before = pattern.slice(0, star);
  const after = pattern.slice(star + 1);
  return text.length >= before.length + after.length && text.startsWith(before) && text.endsWith(after);
}

const PAGE_TYPES: ReadonlySet<string> = new Set(['text/html', 'application/xhtml+xml', 'text/plain']);

/** Types that are read for text and links. An answer without a type counts as one. */
export function isPageType(essence: string | null): boolean {
  return essence === null || PAGE_TYPES.has(essence);
}

/** XHTML and all other XML types: read as XML if well-formed, otherwise as HTML. */
export function isXmlType(essence: string | null): boolean {
  return (
    essence !== null && (essence.endsWith('+xml') || essence === 'text/xml' || essence === 'application/xml')
  );
}

/** The last value is remembered, because a site mostly sends the same one. */
let lastValue: string | null = null;
let lastEssence: string | null = null;

/** `text/html` of `text/html; charset=utf-8`; null for none or an invalid one. */
export function essenceOf(contentType: string | null): string | null {
  if (contentType === null) return null;
  if (contentType !== lastValue) {
    lastEssence = parseMimeType(contentType)?.essence ?? null;
    lastValue = contentType;
  }
  return lastEssence;
}
