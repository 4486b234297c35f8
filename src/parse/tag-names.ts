/**
 * The element names that the scanner tells apart, as small integers behind a collision-free table.
 * A name is hashed while its bytes are read (case folded), so that no string is made for a tag.
 * An unknown name has id 0: it breaks words and is otherwise passed over.
 */

/** What the scanner has to do at a tag of that name, as bits of `TAG_FLAGS`. */
export const FLAG = {
  /** Does not break a word: `<b>H</b>ello` is one word. */
  inline: 1,
  /** Has attributes worth reading. */
  attributes: 2,
  /** Needs a case in the scanner's switch. */
  act: 4,
  /** Its content is text up to its own end tag. */
  raw: 8,
  /** Opens an entry on the stack of special elements (svg, math, template, select). */
  special: 16,
  /** May stand before a frameset. */
  beforeFrameset: 32,
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
define('h1 h2 h3 h4 h5 h6 nav header footer aside main article noscript frameset', FLAG.act);
define('title script style textarea xmp iframe noembed noframes plaintext', FLAG.act | FLAG.raw);
define('svg math template select', FLAG.special);
define('html head title base meta link script style noscript noframes frameset', FLAG.beforeFrameset);
define('b big code em i nobr s small span strong strike sub sup tt u var', FLAG.inline | FLAG.breaksOut);
define('abbr acronym bdi bdo cite data del dfn ins kbd label mark q samp time wbr', FLAG.inline);
define('blockquote body br center dd div dl dt embed head hr img li listing menu meta ol p', FLAG.breaksOut);
define('h1 h2 h3 h4 h5 h6 pre ruby table ul', FLAG.breaksOut);
define('br col embed hr img input keygen param source track wbr frame basefont bgsound', FLAG.empty);
define('caption tbody tfoot thead tr td th option optgroup', 0);
define('foreignobject desc mi mo mn ms mtext mglyph malignmark', 0);

/** The hash that the scanner computes byte by byte: h = h * 61 + lower-case byte, in 32 bits. */
export function hashName(name: string): number {
  let hash = 0;
  for (let i = 0; i < name.length; i++) hash = (Math.imul(hash, 61) + (name.charCodeAt(i) | 32)) | 0;
  return hash;
}

export const TAG_HASH = Int32Array.from(NAMES, hashName);
export const TAG_FLAGS = Uint8Array.from(FLAGS);
export const TAG_SLOT_SHIFT = 20;

/** The first odd multiplier that puts every name into a slot of its own. */
function buildSlots(): { multiplier: number; slots: Uint8Array } {
  for (let multiplier = 0x9e3779b1; ; multiplier += 2) {
    const slots = new Uint8Array(1 << (32 - TAG_SLOT_SHIFT));
    let isFree = true;
    for (let id = 1; id < NAMES.length && isFree; id++) {
      const slot = Math.imul(TAG_HASH[id], multiplier) >>> TAG_SLOT_SHIFT;
      isFree = slots[slot] === 0;
      slots[slot] = id;
    }
    if (isFree) return { multiplier, slots };
  }
}

const built = buildSlots();
export const TAG_SLOTS = built.slots;
export const TAG_MULTIPLIER = built.multiplier | 0;

/** The id of a known name, 0 for an unknown one. */
export function tagId(name: string): number {
  return Math.max(0, NAMES.indexOf(name));
}
