/**
 * The element names that the scanner knows, as small integers behind a collision-free table. A name is hashed while its
 * bytes are read (case folded), so no string is made for a tag. An unknown name has id 0: it separates words and is
 * otherwise ignored.
 */

import { ACTS, HAS_ATTRIBUTES, IS_BEFORE_FRAMESET, IS_INLINE, IS_RAW, IS_SPECIAL } from './kernel-layout.ts';

/** What the scanner must do at a tag with that name, as bits of `TAG_FLAGS`. */
export const FLAG = {
  /** Does not separate words: `<b>H</b>ello` is one word. */
  inline: IS_INLINE,
  /** Has attributes worth reading. */
  attributes: HAS_ATTRIBUTES,
  /** Needs a case in the scanner's switch. */
  act: ACTS,
  /** Its content is text up to its own end tag. */
  raw: IS_RAW,
  /** Opens an entry on the stack of special elements (svg, math, template, select). */
  special: IS_SPECIAL,
  /** May stand before a frameset. */
  beforeFrameset: IS_BEFORE_FRAMESET,
  /** Ends svg and math content when met inside it. */
  breaksOut: 64,
  /** Never has content. */
  empty: 128,
} as const;

const NAMES: string[] = [];
const FLAGS: number[] = [];

function define(names: string, flags: number): void {
  for (const name of names.split(' ')) {
    const known = NAMES.indexOf(name);
    if (known < 0) {
      NAMES.push(name);
      FLAGS.push(flags);
    } else {
      FLAGS[known] |= flags;
    }
  }
}

define('', 0);
define('a', FLAG.inline | FLAG.attributes | FLAG.act);
define('area link base meta', FLAG.attributes | FLAG.act | FLAG.empty);
define('html', FLAG.attributes | FLAG.act);
define('font annotation-xml', FLAG.inline | FLAG.attributes);
define('frame iframe', FLAG.attributes | FLAG.act);
define('h1 h2 h3 h4 h5 h6 nav header footer aside search main article noscript dialog frameset', FLAG.act);
define('title script style textarea xmp iframe noembed noframes plaintext', FLAG.act | FLAG.raw);
define('svg math template select', FLAG.special);
define('html head title base meta link script style noscript noframes frameset', FLAG.beforeFrameset);
define('b big code em i nobr s small span strong strike sub sup tt u var', FLAG.inline | FLAG.breaksOut);
define('abbr acronym bdi bdo cite data del dfn ins kbd label mark q samp time wbr', FLAG.inline);
define('blockquote body br center dd div dl dt embed head hr img li listing menu meta ol p', FLAG.breaksOut);
define('h1 h2 h3 h4 h5 h6 pre ruby table ul', FLAG.breaksOut);
define('br col embed hr img input keygen param source track wbr frame basefont bgsound', FLAG.empty);
define('section form button', 0);
define('caption tbody tfoot thead tr td th option optgroup', 0);
define('address details dir fieldset figcaption figure hgroup legend summary', 0);
define('foreignobject desc mi mo mn ms mtext mglyph malignmark', 0);

/** The hash that the scanner computes byte by byte: h = h * 61 + lower-case byte, in 32 bits. */
export function hashName(name: string): number {
  let hash = 0;
  for (let i = 0; i < name.length; i++) hash = (Math.imul(hash, 61) + (name.charCodeAt(i) | 32)) | 0;
  return hash;
}

export const TAG_HASHES = Int32Array.from(NAMES, hashName);
export const TAG_FLAGS = Uint8Array.from(FLAGS);

/** A table of `2 ** (32 - shift)` slots. Each hash has its own slot, at `hash * multiplier >>> shift`. */
export interface SlotTable {
  multiplier: number;
  /** Index of the hash in that slot; 0 for none. */
  slots: Uint8Array;
}

/** Tries odd multipliers until every hash has its own slot, except the first, which means none. */
export function buildSlots(hashes: Int32Array, shift: number): SlotTable {
  for (let multiplier = 0x9e3779b1; ; multiplier += 2) {
    const slots = new Uint8Array(2 ** (32 - shift));
    let isFree = true;
    for (let id = 1; id < hashes.length && isFree; id++) {
      const slot = Math.imul(hashes[id], multiplier) >>> shift;
      isFree = slots[slot] === 0;
      slots[slot] = id;
    }
    if (isFree) return { multiplier: multiplier | 0, slots };
  }
}

/** A set of names, by their ids. */
export function tagIds(names: string): number[] {
  return names.split(' ').map(tagId);
}

/** The id of a known name, 0 for an unknown one. */
export function tagId(name: string): number {
  return Math.max(0, NAMES.indexOf(name));
}
