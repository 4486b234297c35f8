/**
 * Reads the items of EXTRACT: a rule that takes a value out of a page, the name of its column, and the column's type.
 * Rules are data here; what they find in a page is known to the part that runs them.
 */
import type { ExtractionRule, Take } from '../../parse/extract/extraction-rule.ts';
import { columnNameOf } from './column-name.ts';
import type { Token } from './lex.ts';
import type { Place } from './place.ts';
import type { TokenCursor } from './token-cursor.ts';

export interface ExtractItem {
  rule: ExtractionRule;
  /** Of the column: as given, else made of the rule. */
  name: string;
  /** A type of DuckDB, as it was written; null: not said. */
  type: string | null;
  /** Of the item, and of its type, in the statement. */
  place: Place;
  typePlace: Place | null;
}

const ADVICE =
  "An item: css 'selector' [TEXT|HTML|ATTR 'x'] [ALL], jsonld.x, og.x or meta.x, then [AS column] [TYPE].";

/** By the first word of an item. */
const RULES: Readonly<Record<string, (cursor: TokenCursor) => ExtractionRule>> = {
  CSS: readCss,
  JSONLD: (cursor) => ({ kind: 'jsonld', path: readPath(cursor) }),
  OG: (cursor) => ({ kind: 'og', name: readPath(cursor).join('.') }),
  META: (cursor) => ({ kind: 'meta', name: readPath(cursor).join('.') }),
};

export function readExtract(cursor: TokenCursor): ExtractItem[] {
  cursor.needSymbol('(', 'after EXTRACT', ADVICE);
  const items: ExtractItem[] = [];
  cursor.list(
    () => {
      const first = cursor.peek()!;
      const item = readItem(cursor, first);
      const same = items.find(({ name }) => name.toLowerCase() === item.name.toLowerCase());
      if (same !== undefined)
        throw cursor.error(
          first,
          `EXTRACT has two columns ${item.name}; expected a name for each`,
          'Give one of them another name with AS.',
        );
      items.push(item);
    },
    'css, jsonld, og or meta',
    ADVICE,
  );
  return items;
}

function readItem(cursor: TokenCursor, first: Token): ExtractItem {
  const word = first.kind === 'word' ? first.value : '';
  if (!Object.hasOwn(RULES, word)) throw cursor.unexpected('in EXTRACT', 'css, jsonld, og or meta', ADVICE);
  cursor.take();
  const rule = RULES[word](cursor);
  const name = cursor.skipWord('AS') ? readColumn(cursor) : defaultName(rule);
  const begin = cursor.peek();
  const type = readType(cursor);
  const typePlace = type === null ? null : cursor.placeOf(begin);
  return { rule, name, type, place: cursor.placeOf(first), typePlace };
}

function defaultName(rule: ExtractionRule): string {
  if (rule.kind === 'css') return columnNameOf(rule.selector, 'css');
  const name = rule.kind === 'jsonld' ? rule.path.at(-1)! : rule.name.slice(rule.name.lastIndexOf('.') + 1);
  return columnNameOf(name, rule.kind);
}

function readColumn(cursor: TokenCursor): string {
  const token = cursor.peek();
  const name = token?.kind === 'word' ? token.text : token?.kind === 'identifier' ? token.value : '';
  if (name === '') throw cursor.unexpected('after AS', 'the name of a column', ADVICE);
  cursor.take();
  return name;
}

/** Everything up to the comma or bracket that ends the item. */
function readType(cursor: TokenCursor): string | null {
  const first = cursor.peek();
  let depth = 0;
  for (let token = first; token !== undefined; token = cursor.peek()) {
    const opens = /^[([]$/.test(token.text);
    if (depth === 0) {
      if (token.text === ',' || token.text === ')') break;
      const isPart = token.kind === 'word' || token.kind === 'identifier' || token.text === '.';
      if (!isPart && !(opens && token !== first))
        throw cursor.unexpected(`after ${cursor.last()?.text}`, 'AS, a type, a comma or )', ADVICE);
    }
    if (opens) depth++;
    else if (/^[)\]]$/.test(token.text)) depth--;
    cursor.take();
  }
  return first === undefined || cursor.peek() === first ? null : cursor.part(first, cursor.last()!).text;
}

const CSS_ADVICE = `Write css and a selector in quotes, as in css 'h1' or css 'a.next' ATTR 'href' ALL.`;

/** What is taken of an element, by its word. */
const TAKES: Readonly<Record<string, (cursor: TokenCursor) => Take>> = {
  TEXT: () => ({ take: 'text' }),
  HTML: () => ({ take: 'html' }),
  ATTR: (cursor) => ({
    take: 'attribute',
    attribute: readText(cursor, 'after ATTR', 'the name of an attribute in quotes'),
  }),
};

function readCss(cursor: TokenCursor): ExtractionRule {
  const selector = readText(cursor, 'after css', 'a selector in quotes');
  let take: Take | null = null;
  let isAll = false;
  for (;;) {
    const token = cursor.peek();
    const word = token?.kind === 'word' ? token.value : '';
    const isTake = Object.hasOwn(TAKES, word);
    // A second TEXT is a type of DuckDB.
    if ((!isTake && word !== 'ALL') || (word === 'TEXT' && take !== null))
      return { kind: 'css', selector, isAll, ...(take ?? { take: 'text' }) };
    if (isTake ? take !== null : isAll)
      throw cursor.error(
        token,
        `found ${token!.text} where it is said already; expected one of TEXT, HTML, ATTR, and ALL once`,
        CSS_ADVICE,
      );
    cursor.take();
    if (isTake) take = TAKES[word](cursor);
    else isAll = true;
  }
}

function readText(cursor: TokenCursor, where: string, expected: string): string {
  const token = cursor.peek();
  if (token?.kind !== 'string' || token.value.trim() === '')
    throw cursor.unexpected(where, expected, CSS_ADVICE);
  cursor.take();
  return token.value;
}

const PATH_ADVICE =
  'Write jsonld.offers.price, with points between names. Double quotes take any signs: jsonld."my name".';

/** `.a.b`, with no space between: plain names may have - : @ and digits, as names of meta elements do. */
function readPath(cursor: TokenCursor): string[] {
  const kind = cursor.last()!;
  const names: string[] = [];
  let name = '';
  for (
    let token = cursor.peek();
    token !== undefined && isOfPath(token, cursor.last()!);
    token = cursor.peek()
  ) {
    const pieces = token.kind === 'identifier' ? [token.value] : token.text.split('.');
    // Each point ends a name; the first one only begins the path.
    for (const [index, piece] of pieces.entries()) {
      if (index > 0) {
        names.push(name);
        name = '';
      }
      name += piece;
    }
    cursor.take();
  }
  const [nothing, ...path] = [...names, name];
  if (nothing === '' && path.length > 0 && !path.includes('')) return path;
  const found = cursor.last() === kind ? '' : `, found ${cursor.last()!.text}`;
  throw cursor.error(
    kind,
    `${kind.text} has no complete path behind it${found}; expected names after points`,
    PATH_ADVICE,
  );
}

function isOfPath(token: Token, before: Token): boolean {
  if (token.start !== before.end) return false;
  if (token.kind === 'symbol') return /^[.:@-]$/.test(token.text);
  return token.kind === 'word' || token.kind === 'identifier' || token.kind === 'number';
}
