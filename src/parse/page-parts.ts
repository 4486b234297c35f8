/**
 * Which elements stand around the main text, or are not shown at all: by their name, by their role, and by the words of
 * their class and id. Words are a guess, so they are few, and a name counts only if all of it is understood:
 * `site-footer` is a footer, `article-footer` and `footernote` are content.
 */

import {
  BREAKS_LINE,
  HAS_NAME,
  HIDDEN_BOX,
  IS_BR,
  IS_LANDMARK,
  IS_MAIN,
  IS_PRE,
  LANDMARK_BOX,
  MAIN_BOX,
  MAY_BE_HIDDEN,
  MAY_BE_MARKED,
  MAY_BE_NAMED,
  SIGN_SHIFT,
} from './kernel-layout.ts';
import { buildSlots, FLAG, hashName, TAG_FLAGS, TAG_HASHES, tagIds } from './tag-names.ts';

/** Instead of a box. */
export const NO_BOX = 255;

/** By tag: the box that it is, whatever its attributes say. */
export const BOX_OF_TAG = new Uint8Array(256).fill(NO_BOX);
for (const id of tagIds('nav header footer aside search')) BOX_OF_TAG[id] = LANDMARK_BOX;
// A dialog is not shown until it is opened.
for (const id of tagIds('noscript dialog')) BOX_OF_TAG[id] = HIDDEN_BOX;
for (const id of tagIds('main')) BOX_OF_TAG[id] = MAIN_BOX;

/** Tags that begin and end a line, as browsers show it. Cells of a table stand side by side. */
export const LINES =
  'address article aside blockquote body br caption center dd details dialog dir div dl dt fieldset figcaption figure ' +
  'footer form h1 h2 h3 h4 h5 h6 header hgroup hr legend li listing main menu nav ol option optgroup p plaintext pre ' +
  'search section summary table tbody textarea tfoot thead tr ul xmp';

/**
 * By tag: the boxes that its attributes may make of it. Elements that hold the whole page are none, and neither are
 * elements without text.
 */
export function tagBoxes(): Uint8Array {
  const boxes = new Uint8Array(256).fill(MAY_BE_MARKED);
  for (let id = 0; id < TAG_HASHES.length; id++) {
    const isHolder = (TAG_FLAGS[id] & (FLAG.empty | FLAG.raw | FLAG.special)) === 0;
    if (isHolder) boxes[id] |= MAY_BE_HIDDEN;
  }
  for (const id of tagIds('html head body main article option optgroup')) boxes[id] = MAY_BE_MARKED;
  for (const id of tagIds('div section table td ul p form center')) boxes[id] |= MAY_BE_NAMED;
  for (const id of tagIds(LINES)) boxes[id] |= BREAKS_LINE;
  for (const id of tagIds('pre')) boxes[id] |= IS_PRE;
  for (const id of tagIds('br')) boxes[id] |= IS_BR;
  return boxes;
}

/**
 * How the end of an element is found: tags that are counted inside it, and tags that end it if none of these is open.
 */
export interface Ending {
  counted: number[];
  ends: number[];
}

function ending(counted: string, ends: string): Ending {
  return { counted: tagIds(counted), ends: tagIds(ends) };
}

const CELL = ending('table', 'td th tr thead tbody tfoot');
const ROW = ending('table', 'tr thead tbody tfoot');
const ITEM = ending('ul ol menu', 'li');
const TERM = ending('dl', 'dt dd');
/** Ends at everything that is not inside a line: rather too early than too late. */
const PARAGRAPH: Ending = { counted: [], ends: [] };
for (let id = 0; id < TAG_HASHES.length; id++) {
  if ((TAG_FLAGS[id] & (FLAG.inline | FLAG.empty)) === 0) PARAGRAPH.ends.push(id);
}

/** By tag, if the end tag may be left out. */
const ENDINGS: Ending[] = [];
for (const [names, how] of [
  ['td th caption', CELL],
  ['tr thead tbody tfoot', ROW],
  ['li', ITEM],
  ['dt dd', TERM],
  ['p', PARAGRAPH],
] as const) {
  for (const id of tagIds(names)) ENDINGS[id] = how;
}

/** All other elements end when as many of their name were closed as were opened. */
export function endingOf(id: number): Ending {
  ENDINGS[id] ??= { counted: [id], ends: [] };
  return ENDINGS[id];
}

const LANDMARK_ROLES = 'banner complementary contentinfo navigation search'.split(' ');

interface NamedPart {
  words: readonly string[];
  /** Words that may stand beside them in a name. */
  beside: ReadonlySet<string>;
  /** The word alone does not say enough. */
  needsBeside?: true;
  /** A page has at most so many. If there are more, they belong to the items of a list. */
  most: number;
}

const PLACES =
  'site global region top bottom inner outer wrapper wrap container mobile desktop fixed sticky bar nav menu logo';
const AROUND = `${PLACES} page main left right first second third primary secondary area widget widgets links copyright legal`;
const NOTICES =
  'banner bar notice consent popup modal overlay message warning alert law info dialog box container wrapper wrap sdk';

function named(words: string, beside: string, most: number): NamedPart {
  return { words: words.split(' '), beside: new Set(beside.split(' ')), most };
}

/** A `page-header` or `main-header` is the title of what follows: content. */
const NAMED_PARTS: NamedPart[] = [
  named('header masthead', PLACES, 1),
  named('footer colophon', AROUND, 2),
  named('sidebar', AROUND, 4),
  named('navbar topbar', PLACES, 4),
  named('copyright', `${PLACES} notice text info area line`, 2),
  named(
    'advertisement',
    `${PLACES} banner block box slot unit area left right label`,
    Number.POSITIVE_INFINITY,
  ),
  { ...named('cookie cookies gdpr onetrust', NOTICES, Number.POSITIVE_INFINITY), needsBeside: true },
  named('cookiebanner cookiebar cookieconsent cookienotice', NOTICES, Number.POSITIVE_INFINITY),
  named(
    'share sharing sharedaddy',
    'social button buttons links icons bar tools widget post this container wrapper',
    Number.POSITIVE_INFINITY,
  ),
  named(
    'related relatedposts',
    'content post posts article articles entries items links news pages reading stories widget container wrapper',
    Number.POSITIVE_INFINITY,
  ),
];

/** If one of its names calls an element content, it does not stand around it: `class="main sidebar-right"`. */
const CONTENT = new Set('article body content entry layout main page post posts section story'.split(' '));

/** The words at which the kernel stops, by slot: their hashes and meanings. */
export function signTable(): { multiplier: number; hashes: Int32Array; kinds: Uint8Array } {
  const kinds = new Map<string, number>([
    ['', 0],
    ['main', IS_MAIN],
  ]);
  for (const role of LANDMARK_ROLES) kinds.set(role, IS_LANDMARK);
  for (const { words } of NAMED_PARTS) for (const word of words) kinds.set(word, HAS_NAME);
  const words = [...kinds.keys()];
  const hashOf = Int32Array.from(words, hashName);
  const { multiplier, slots } = buildSlots(hashOf, SIGN_SHIFT);
  return {
    multiplier,
    hashes: Int32Array.from(slots, (index) => hashOf[index]),
    kinds: slots.map((index) => kinds.get(words[index])!),
  };
}

/** The words of one name: `siteFooter_2` gives `site footer`. */
function partsOf(name: string): string[] {
  const spaced = name.replace(/([a-z])([A-Z])/g, '$1 $2').toLowerCase();
  return spaced.split(/[^a-z\x80-\xff]+/).filter((part) => part !== '');
}

/** The place in `NAMED_PARTS` for a name; -1 for none. */
function partOfName(parts: readonly string[]): number {
  return NAMED_PARTS.findIndex(({ words, beside, needsBeside }) => {
    const others = parts.filter((part) => !words.includes(part));
    if (others.length === parts.length || (needsBeside && others.length === 0)) return false;
    return others.every((part) => beside.has(part));
  });
}

/** The place in `NAMED_PARTS` for several names (those of a class and an id, with spaces between); -1 for none. */
function partOfNames(names: string): number {
  let found = -1;
  for (const name of names.split(/\s+/)) {
    const parts = partsOf(name);
    if (parts.length > 0 && parts.every((part) => CONTENT.has(part))) return -1;
    const part = partOfName(parts);
    if (part >= 0) found = part;
  }
  return found;
}

/** How many of a part a page has at most. */
export function mostOf(part: number): number {
  return NAMED_PARTS[part].most;
}

const MOST_KNOWN = 1024;

/** As `partOfNames`, but remembers the names: a site has few that matter. */
export function createNameReader(): (names: string) => number {
  const known = new Map<string, number>();
  return (names) => {
    let part = known.get(names);
    if (part === undefined) {
      part = partOfNames(names);
      if (known.size < MOST_KNOWN) known.set(names, part);
    }
    return part;
  };
}
