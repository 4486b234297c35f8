/**
 * A page as a tree of elements and texts, as a browser would build it. Plain data that nobody changes after it was built:
 * rules, Markdown and structured data read the same tree. It has no comments. It is never deeper than `DEEPEST` and
 * never has more than `MOST_NODES` nodes, so functions over it may call themselves.
 */

/** As in browsers: what is nested more deeply stands beside the deepest element. */
export const DEEPEST = 512;
/** 10 MB of ordinary markup have a third of it. What comes after is not read. */
export const MOST_NODES = 1_000_000;
/** Of one element. More are left out. */
export const MOST_ATTRIBUTES = 512;

export interface PageText {
  readonly kind: 'text';
  /** Never empty. No two texts are neighbours. */
  readonly text: string;
}

export interface PageElement {
  readonly kind: 'element';
  /** Lower case, also inside of SVG. */
  readonly name: string;
  /** Names in lower case and values in turn; a name occurs once. */
  readonly attributes: readonly string[];
  readonly children: PageNode[];
  /** Null for the root, `html`, only. */
  readonly parent: PageElement | null;
  /** The element before it in its parent. */
  readonly previous: PageElement | null;
  /** Its place among the elements of its parent, from 1. */
  readonly place: number;
  /** How many of its children are elements. */
  elementCount: number;
  /** Belongs to SVG or MathML. */
  readonly isForeign: boolean;
}

export type PageNode = PageElement | PageText;

export interface PageDocument {
  readonly root: PageElement;
  readonly head: PageElement | null;
  /** Or the frameset. */
  readonly body: PageElement;
  /** All elements in the order of the page, but for those inside of a `template`: a selector does not see these. */
  readonly elements: readonly PageElement[];
  /** The page has more nodes than are kept. */
  readonly isCut: boolean;
}

/** The value of an attribute; null without it. `name` is in lower case. */
export function attributeOf(element: PageElement, name: string): string | null {
  const { attributes } = element;
  for (let i = 0; i < attributes.length; i += 2) if (attributes[i] === name) return attributes[i + 1];
  return null;
}

export function wordSet(words: string): ReadonlySet<string> {
  return new Set(words.split(' '));
}

/** Elements that never have an end tag. */
export const VOID_ELEMENTS = wordSet(
  'area base basefont bgsound br col embed frame hr img input keygen link meta param source track wbr',
);
/** Elements that hold text alone: a `<` in it begins no tag. */
export const RAW_ELEMENTS = wordSet('iframe noembed noframes plaintext script style textarea title xmp');
