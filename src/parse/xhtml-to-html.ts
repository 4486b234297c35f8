/**
 * Writes a well-formed XHTML document as HTML with the same meaning, for the scanner of HTML: empty elements get an end
 * tag, CDATA becomes text, prefixes are resolved by their namespaces, and entities of the document are replaced. Null
 * for a document that is not well-formed (Namespaces in XML included): that is read as HTML.
 *
 * Makes strings, because hardly any page needs it. Never requests external entities or DTDs.
 */

const XHTML = 'http://www.w3.org/1999/xhtml';
const SVG = 'http://www.w3.org/2000/svg';
const MATHML = 'http://www.w3.org/1998/Math/MathML';
const XLINK = 'http://www.w3.org/1999/xlink';
const XML = 'http://www.w3.org/XML/1998/namespace';

const START =
  ':A-Z_a-z\\u{C0}-\\u{D6}\\u{D8}-\\u{F6}\\u{F8}-\\u{2FF}\\u{370}-\\u{37D}\\u{37F}-\\u{1FFF}\\u{200C}\\u{200D}' +
  '\\u{2070}-\\u{218F}\\u{2C00}-\\u{2FEF}\\u{3001}-\\u{D7FF}\\u{F900}-\\u{FDCF}\\u{FDF0}-\\u{FFFD}\\u{10000}-\\u{EFFFF}';
const NAME = `[${START}][${START}\\-.0-9\\u{B7}\\u{300}-\\u{36F}\\u{203F}\\u{2040}]*`;
const S = '[ \\t\\r\\n]';
const TAG_NAME = new RegExp(`<(${NAME})`, 'uy');
const TAG_END = new RegExp(`${S}*(/?)>`, 'uy');
const END_TAG = new RegExp(`</(${NAME})${S}*>`, 'uy');
const ATTRIBUTE = new RegExp(`${S}+(${NAME})${S}*=${S}*(?:"([^<"]*)"|'([^<']*)')`, 'uy');
const INSTRUCTION = new RegExp(`<\\?(?![xX][mM][lL]\\b)${NAME}(?:${S}[\\s\\S]*?)?\\?>`, 'uy');
const CDATA = /<!\[CDATA\[([\s\S]*?)\]\]>/y;
const DECLARATION = /^\ufeff?<\?xml[ \t\r\n]+version[ \t\r\n]*=[^?]*\?>/;
const QUOTED = `"[^"]*"|'[^']*'`;
const DOCTYPE = new RegExp(
  `<!DOCTYPE${S}+${NAME}(${S}+(?:SYSTEM${S}+(?:${QUOTED})|PUBLIC${S}+(?:${QUOTED})${S}+(?:${QUOTED})))?${S}*`,
  'uy',
);
const DOCTYPE_END = new RegExp(`${S}*>`, 'uy');
/** Parts in which the end of the internal subset may be hidden. */
const SUBSET_PART = /"[^"]*"|'[^']*'|<!--|\]/g;
const ENTITY = new RegExp(`<!ENTITY${S}+(${NAME})${S}+(?:"([^"]*)"|'([^']*)')${S}*>`, 'gu');
const REFERENCE = new RegExp(`&(?:#(\\d{1,7})|#x([0-9a-fA-F]{1,6})|(${NAME}));|&`, 'gu');
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters that XML has not.
const NO_CHARACTER = /[\0-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]/;

const PREDEFINED: Readonly<Record<string, string>> = { lt: '<', gt: '>', amp: '&', quot: '"', apos: "'" };

function nameSet(names: string): ReadonlySet<string> {
  return new Set(names.split(' '));
}

const EMPTY = nameSet('area base br col embed frame hr img input link meta param source track wbr');
/** In HTML these hold text, or have special rules for their content. In XML they are ordinary elements. */
const PLAIN = nameSet('textarea xmp noembed noframes plaintext');
const RENAMED = nameSet('select svg math');
/** Only their own text counts. */
const TEXT_ONLY = nameSet('title script style');

const NO_PREFIXES: string[] = [];
/** The deepest nesting of elements; more is a trap. */
const DEEPEST = 512;
const MOST_EXPANDED = 1 << 20;

interface Open {
  /** As written, for its end tag. */
  name: string;
  /** The HTML element that it becomes; null for none. */
  html: string | null;
  /** The prefixes that it binds; '' is the default. */
  prefixes: readonly string[];
  isTextOnly: boolean;
}

/** Thrown and caught inside this file only. */
class NotWellFormed extends Error {}

function refuse(): never {
  throw new NotWellFormed();
}

/** Null if the document is not well-formed. */
export function xhtmlToHtml(text: string): string | null {
  try {
    return new Writer(text).write();
  } catch (error) {
    if (error instanceof NotWellFormed) return null;
    throw error;
  }
}

/** Whether a body of an XML type is a page: its root, as far as the beginning shows, is that of XHTML. */
export function holdsXhtml(bytes: Uint8Array): boolean {
  const head = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, 4096)).toString('latin1');
  const root = /<(?:[\w.-]+:)?html\s[^>]*/.exec(head);
  return root?.[0].includes(XHTML) === true;
}

class Writer {
  readonly #text: string;
  readonly #open: Open[] = [];
  /** By prefix: the namespaces that it is bound to, the innermost one last. */
  readonly #namespaces = new Map<string, string[]>([['xml', [XML]]]);
  readonly #entities = new Map<string, string>();
  #hasExternalSubset = false;
  #hasDoctype = false;
  #hasRoot = false;
  /** Elements that are open of which only their own text counts. */
  #textOnly = 0;
  /** Letters that entities of the document brought. */
  #expanded = 0;
  #out = '';
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  write(): string {
    const text = this.#text;
    if (NO_CHARACTER.test(text)) refuse();
    this.#at = DECLARATION.exec(text)?.[0].length ?? (text.startsWith('\ufeff') ? 1 : 0);
    while (this.#at < text.length) {
      const next = text.indexOf('<', this.#at);
      const end = next === -1 ? text.length : next;
      if (end > this.#at) this.#writeText(text.slice(this.#at, end));
      this.#at = end;
      if (end < text.length) this.#readMarkup();
    }
    if (this.#open.length > 0 || !this.#hasRoot) refuse();
    return this.#out;
  }

  #take(pattern: RegExp): RegExpExecArray {
    pattern.lastIndex = this.#at;
    const match = pattern.exec(this.#text) ?? refuse();
    this.#at += match[0].length;
    return match;
  }

  #readMarkup(): void {
    const text = this.#text;
    const next = text[this.#at + 1];
    if (next === '/') this.#endElement(this.#take(END_TAG)[1]);
    else if (next === '?') this.#take(INSTRUCTION);
    else if (next !== '!') this.#startElement(this.#take(TAG_NAME)[1]);
    else if (text.startsWith('<!--', this.#at)) this.#skipComment();
    else if (text.startsWith('<![', this.#at)) {
      const [, inside] = this.#take(CDATA);
      if (this.#open.length === 0) refuse();
      this.#put(escapeText(inside));
    } else this.#readDoctype();
  }

  #skipComment(): void {
    const end = this.#text.indexOf('--', this.#at + 4);
    if (end === -1 || this.#text[end + 2] !== '>') refuse();
    this.#at = end + 3;
  }

  #readDoctype(): void {
    if (this.#hasDoctype || this.#hasRoot) refuse();
    const [, external] = this.#take(DOCTYPE);
    const internal = this.#text[this.#at] === '[' ? this.#takeSubset() : '';
    this.#take(DOCTYPE_END);
    this.#hasDoctype = true;
    // What a parameter entity holds nobody knows here: it may declare any name.
    this.#hasExternalSubset = external !== undefined || internal.includes('%');
    for (const [, name, double, single] of internal.matchAll(ENTITY)) {
      const value = double ?? single;
      // One that holds markup, or another one, is more than is worth reading.
      if (/[<%]|&(?!#)/.test(value)) refuse();
      if (!this.#entities.has(name)) this.#entities.set(name, unescapeText(this.#resolved(value)));
    }
  }

  /** What stands between the brackets of a document type, without its comments. */
  #takeSubset(): string {
    const text = this.#text;
    let from = this.#at + 1;
    let subset = '';
    SUBSET_PART.lastIndex = from;
    for (let part = SUBSET_PART.exec(text); part !== null; part = SUBSET_PART.exec(text)) {
      if (part[0] === '<!--') {
        subset += text.slice(from, part.index);
        const end = text.indexOf('-->', SUBSET_PART.lastIndex);
        // Looked for once: a pattern would go through the rest of the document at each beginning of a comment.
        if (end === -1) refuse();
        SUBSET_PART.lastIndex = from = end + 3;
      } else if (part[0] === ']') {
        this.#at = part.index + 1;
        return subset + text.slice(from, part.index);
      }
    }
    return refuse();
  }

  #writeText(text: string): void {
    if (this.#open.length > 0) {
      if (text.includes(']]>')) refuse();
      this.#put(this.#resolved(text));
    } else if (/[^ \t\r\n]/.test(text)) refuse();
  }

  /** Text as HTML has it. */
  #put(html: string): void {
    const top = this.#open[this.#open.length - 1];
    if (top.html === 'script' || top.html === 'style')
      this.#out += unescapeText(html).replace(/<\//g, '<\\/');
    else if (this.#textOnly === 0 || top.isTextOnly) this.#out += html;
  }

  /** References of XML as HTML has them. */
  #resolved(text: string): string {
    if (!text.includes('&')) return escapeText(text);
    let html = '';
    let at = 0;
    for (const match of text.matchAll(REFERENCE)) {
      html += escapeText(text.slice(at, match.index));
      at = match.index + match[0].length;
      const [whole, decimal, hexadecimal, name] = match;
      if (name === undefined) {
        const code = decimal === undefined ? Number.parseInt(hexadecimal, 16) : Number(decimal);
        if (whole === '&' || !isCharacter(code)) refuse();
        html += escapeText(String.fromCodePoint(code));
      } else {
        const value = Object.hasOwn(PREDEFINED, name) ? PREDEFINED[name] : this.#entities.get(name);
        // The names of XHTML's own entities are those of HTML.
        if (value === undefined && !this.#hasExternalSubset) refuse();
        this.#expanded += value?.length ?? 0;
        // A little document may name a great one a million times.
        if (this.#expanded > MOST_EXPANDED) refuse();
        html += value === undefined ? whole : escapeText(value);
      }
    }
    return html + escapeText(text.slice(at));
  }

  #startElement(name: string): void {
    if ((this.#open.length === 0 && this.#hasRoot) || this.#open.length === DEEPEST) refuse();
    this.#hasRoot = true;
    const attributes = new Map<string, string>();
    ATTRIBUTE.lastIndex = this.#at;
    for (let found = ATTRIBUTE.exec(this.#text); found !== null; found = ATTRIBUTE.exec(this.#text)) {
      const [, key, double, single] = found;
      if (attributes.has(key)) refuse();
      attributes.set(key, this.#resolved((double ?? single).replace(/[\t\n\r]/g, ' ')));
      this.#at = ATTRIBUTE.lastIndex;
    }
    const isEmpty = this.#take(TAG_END)[1] === '/';
    const isIgnored = this.#textOnly > 0;
    const prefixes = this.#bindPrefixes(attributes);
    const [prefix, local] = splitName(name);
    const namespace = namespaceOf(prefix, this.#namespaces);
    const html = isIgnored ? null : htmlName(namespace, local);
    const htmlAttributes = attributesOf(attributes, this.#namespaces);
    const isTextOnly = html !== null && TEXT_ONLY.has(html) && namespace !== SVG;
    if (html !== null) this.#out += `<${html}${htmlAttributes}>`;
    // What stands in an iframe is its text in HTML.
    if (html === 'iframe') this.#out += '</iframe><div>';
    const open: Open = { name, html: html === 'iframe' ? 'div' : html, prefixes, isTextOnly };
    if (isTextOnly) this.#textOnly++;
    if (isEmpty) this.#close(open);
    else this.#open.push(open);
  }

  #endElement(name: string): void {
    const open = this.#open.pop();
    if (open?.name !== name) refuse();
    this.#close(open!);
  }

  #close({ html, isTextOnly, prefixes }: Open): void {
    for (const prefix of prefixes) this.#namespaces.get(prefix)!.pop();
    if (isTextOnly) this.#textOnly--;
    if (html !== null && !EMPTY.has(html)) this.#out += `</${html}>`;
  }

  #bindPrefixes(attributes: ReadonlyMap<string, string>): readonly string[] {
    let prefixes: string[] = NO_PREFIXES;
    for (const [key, value] of attributes) {
      if (key !== 'xmlns' && !key.startsWith('xmlns:')) continue;
      // A prefix cannot be unbound.
      if (key !== 'xmlns' && value === '') refuse();
      const prefix = key.slice('xmlns:'.length);
      const bound = this.#namespaces.get(prefix);
      if (bound === undefined) this.#namespaces.set(prefix, [unescapeText(value)]);
      else bound.push(unescapeText(value));
      if (prefixes === NO_PREFIXES) prefixes = [];
      prefixes.push(prefix);
    }
    return prefixes;
  }
}

function splitName(name: string): [prefix: string, local: string] {
  const parts = name.split(':');
  if (parts.length > 2 || parts.includes('')) refuse();
  return parts.length === 1 ? ['', name] : [parts[0], parts[1]];
}

type Namespaces = ReadonlyMap<string, readonly string[]>;

function namespaceOf(prefix: string, namespaces: Namespaces): string {
  return namespaces.get(prefix)?.at(-1) ?? (prefix === '' ? '' : refuse());
}

/** The HTML element that means the same. Elements without a namespace were meant as HTML. */
function htmlName(namespace: string, local: string): string {
  if (namespace === SVG || namespace === MATHML) return local;
  // Names of XML have their case; of others HTML knows that they are elements.
  if ((namespace !== XHTML && namespace !== '') || local !== local.toLowerCase()) return 'x-other';
  if (RENAMED.has(local)) return `x-${local}`;
  return PLAIN.has(local) ? 'div' : local;
}

function attributesOf(attributes: ReadonlyMap<string, string>, namespaces: Namespaces): string {
  let html = '';
  for (const [key, value] of attributes) {
    if (key === 'xmlns' || key.startsWith('xmlns:')) continue;
    const [prefix, local] = splitName(key);
    const namespace = prefix === '' ? '' : namespaceOf(prefix, namespaces);
    let name: string | null = null;
    if (namespace === '') name = key === key.toLowerCase() ? key : null;
    else if (namespace === XLINK && local === 'href') name = 'xlink:href';
    else if (namespace === XML && local === 'lang' && !attributes.has('lang')) name = 'lang';
    if (name !== null) html += ` ${name}="${value}"`;
  }
  return html;
}

function isCharacter(code: number): boolean {
  if (code < 0x20) return code === 0x09 || code === 0x0a || code === 0x0d;
  return code <= 0x10ffff && (code < 0xd800 || code > 0xdfff) && code !== 0xfffe && code !== 0xffff;
}

function escapeText(text: string): string {
  return text.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/"/g, '&quot;');
}

function unescapeText(html: string): string {
  return html.replace(/&(lt|quot|amp);/g, (_, name: string) => PREDEFINED[name]);
}
