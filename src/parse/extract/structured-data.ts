/**
 * What a page says about itself for programs: JSON-LD, Open Graph, meta elements. The first in the order of the page
 * counts. Data that cannot be read is left out.
 */
import { parseMimeType } from '../mime-type.ts';
import { attributeOf, type PageDocument, type PageElement } from './page-tree.ts';
import { type JsonValue, readLooseJson } from './read-loose-json.ts';
import { foldSpaces, rawText } from './text-of.ts';

/** All JSON-LD blocks that can be read. */
export function readLinkedData({ elements }: PageDocument): JsonValue[] {
  const blocks: JsonValue[] = [];
  for (const element of elements) {
    if (element.name !== 'script' || !isLinkedData(element)) continue;
    const value = readLooseJson(rawText(element));
    if (value !== undefined) blocks.push(value);
  }
  return blocks;
}

function isLinkedData(script: PageElement): boolean {
  const type = attributeOf(script, 'type');
  if (type === null) return false;
  return parseMimeType(type.trim().split(/\s/, 1)[0])?.essence === 'application/ld+json';
}

/**
 * The first value at the path, whatever lists and `@graph` stand in between; null for none. An object that is nothing
 * but a value with a type or language (`@value`) counts as that value.
 */
export function valueAtPath(blocks: readonly JsonValue[], path: readonly string[]): JsonValue {
  for (const block of blocks) {
    const found = descend(block, path, 0);
    if (found !== null) return found;
  }
  return null;
}

function descend(value: JsonValue, path: readonly string[], at: number): JsonValue {
  if (at === path.length) return literalOf(value);
  if (typeof value !== 'object' || value === null) return null;
  if (Array.isArray(value)) {
    for (const inner of value) {
      const found = descend(inner, path, at);
      if (found !== null) return found;
    }
    return null;
  }
  if (Object.hasOwn(value, path[at])) {
    const found = descend(value[path[at]], path, at + 1);
    if (found !== null) return found;
  }
  return at === 0 && Object.hasOwn(value, '@graph') ? descend(value['@graph'], path, at) : null;
}

function literalOf(value: JsonValue): JsonValue {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.hasOwn(value, '@value') ? value['@value'] : value;
}

/**
 * The content of `<meta property="og:name">`, which many write with `name` instead. A point stands for a colon, too:
 * `image.width`.
 */
export function openGraphOf(document: PageDocument, name: string): string | null {
  const wanted = `og:${name.trim()}`.toLowerCase();
  const asPath = wanted.replaceAll('.', ':');
  const isNamed = (meta: PageElement, text: string) =>
    names(meta, 'property', text) || names(meta, 'name', text);
  return contentOf(document, (meta) => isNamed(meta, wanted) || isNamed(meta, asPath));
}

/** The content of `<meta name>`, `<meta http-equiv>` or, as for `article:author`, `<meta property>`. */
export function metaOf(document: PageDocument, name: string): string | null {
  const wanted = name.trim().toLowerCase();
  return contentOf(
    document,
    (meta) =>
      names(meta, 'name', wanted) || names(meta, 'http-equiv', wanted) || names(meta, 'property', wanted),
  );
}

/** An attribute may have several names. */
function names(element: PageElement, attribute: string, wanted: string): boolean {
  const value = attributeOf(element, attribute)?.toLowerCase();
  if (value === undefined || !value.includes(wanted)) return false;
  return value.trim() === wanted || value.split(/\s+/).includes(wanted);
}

function contentOf({ elements }: PageDocument, fits: (meta: PageElement) => boolean): string | null {
  for (const element of elements) {
    if (element.name !== 'meta' || !fits(element)) continue;
    const content = attributeOf(element, 'content');
    if (content !== null) return foldSpaces(content);
  }
  return null;
}
