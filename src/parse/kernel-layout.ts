/**
 * The layout of the memory that the kernel (WebAssembly) and its callers share, and the numbers that both use. Two
 * compilers read this file: constants only.
 */

/** The state: numbers of 32 bits, each by its index. */
export const STATE = 1024;

// Set by the caller. First addresses, then what holds for the page up to the current position.
export const BYTES = 0;
export const TEXT = 1;
export const HREF_STARTS = 2;
export const HREF_ENDS = 3;
export const HREF_HASHES = 4;
export const TEXT_STARTS = 5;
export const TEXT_ENDS = 6;
export const LINK_FLAGS = 7;
export const LINK_KINDS = 8;
/** For each link: how much text is before it. */
export const TEXT_BEFORE = 74;
/** Where lines of the text begin. */
export const LINE_STARTS = 75;
/**
 * For each run of white space in a `pre` that is more than one space: how much text is before its end, and where it is.
 */
export const WHITE_RUNS = 77;
export const TAG_MULTIPLIER = 9;
export const ATTRIBUTE_MULTIPLIER = 28;
export const SIGN_MULTIPLIER = 30;
/** Where reading ends. */
export const END = 10;
/** Text here does not belong to the page's text. */
export const IS_MUTE = 11;
/** The kernel reports every tag, not only those that need the caller. */
export const TELLS_ALL = 12;
/** A frameset is open: tags have no effect. */
export const IS_FRAMESET = 13;
/** Which boxes are searched among the tags, as bits of `TAG_BOXES`. */
export const SEEKS = 14;

// Changed by both sides.
/** End of the text. */
export const SIZE = 15;
/** How many lines of the text have begun. */
export const LINE_COUNT = 76;
export const WHITE_COUNT = 78;
/** A part of the page's body was read. */
export const HAS_BODY = 16;
export const LINK_COUNT = 17;
/** The link whose text is being read; -1 for none. */
export const OPEN_ANCHOR = 18;
/** For each open box: how many open elements must be closed before it ends, and the hash of its name. */
export const BOX_DEPTHS = 35;
export const BOX_HASHES = 39;

// Set by the kernel: where it stopped, and the tag there.
export const AT = 19;
export const AFTER = 20;
export const TAG_ID = 21;
export const TAG_HASH = 22;
export const IS_END_TAG = 23;
export const IS_SELF_CLOSING = 24;
/** What its attributes say about the part of the page that it begins: bits, see below. */
export const SIGNS = 25;
/** The open boxes that it ends, one bit each. */
export const ENDED = 29;
/** Where its class and its id are, if its signs say that they were read. */
export const CLASS_START = 31;
export const CLASS_END = 32;
export const ID_START = 33;
export const ID_END = 34;

// Set by the kernel for a text.
export const SIMHASH_LOW = 26;
export const SIMHASH_HIGH = 27;

/** Offsets of the attributes of the last tag with attributes worth reading, in pairs; -1 for none. */
export const SPANS = 48;
export const SPAN_COUNT = 26;
export const STATE_LENGTH = 80;

// Where the offsets of an attribute are among the spans. From name to charset in the order of a meta.
export const NAME = 0;
export const HTTP_EQUIV = 2;
export const CONTENT = 4;
export const CHARSET = 6;
export const HREF = 8;
export const REL = 10;
export const DOWNLOAD = 12;
export const ALT = 14;
export const LANG = 16;
export const ENCODING = 18;
export const FONT = 20;
export const XLINK = 22;
export const SRC = 24;
// Instead of that: attributes that are signs of a part of the page, each with its bit.
export const FIRST_SIGN = 64;
export const CLASS = 64 + 1;
export const ID = 64 + 8 + 1;
export const STYLE = 64 + 2;
export const HIDDEN = 64 + 8 + 2;
export const ARIA_HIDDEN = 64 + 16 + 2;
export const ROLE = 64 + 4;
export const OPEN = 64 + 8 + 4;

// Tables.
export const NAME_ENDS = 2048;
export const TEXT_KINDS = 2304;
export const TAG_FLAGS = 2560;
export const WORD_CLASSES = 2816;
export const WORD_BYTES = 3072;
export const TAG_SLOTS = 4096;
export const TAG_SHIFT = 20;
export const TAG_HASHES = 8192;
export const ATTRIBUTE_HASHES = 9216;
export const ATTRIBUTE_SLOTS = 9472;
export const ATTRIBUTE_SHIFT = 26;
/** The words that are searched in roles, classes and ids. */
export const SIGN_HASHES = 9728;
export const SIGN_KINDS = 10752;
export const SIGN_SHIFT = 24;
/** By tag: the boxes that it may begin. */
export const TAG_BOXES = 11008;
/**
 * By tag: the open boxes for which it is counted (low half of the byte), and those that it ends directly (high half).
 */
export const WATCHED = 11264;
/** Features of words, 64 bits each, and seven more, so that the last group of eight is complete. */
export const FEATURES = 12288;
export const BLOCK = 512;
/** Their counters: one plane per power of two. */
export const PLANES = 16448;
export const PLANE_COUNT = 32;
/** The memory for a page begins here. */
export const FREE = 16704;
/** How far the kernel may read or write after the end of a page or its text. */
export const SLACK = 64;

// Bits of a tag's flags, see tag-names.ts.
export const IS_INLINE = 1;
export const HAS_ATTRIBUTES = 2;
export const ACTS = 4;
export const IS_RAW = 8;
export const IS_SPECIAL = 16;
export const IS_BEFORE_FRAMESET = 32;
/** The one tag that the kernel knows by its id. */
export const ANCHOR = 1;

// Boxes: elements whose text is a separate part of the page, by their bit in `WATCHED`. One of each kind is open at a
// time.
export const MAIN_BOX = 0;
/** Navigation, header, footer, complement, search: by element or role. */
export const LANDMARK_BOX = 1;
/** The same, by the words of a class or id. */
export const NAMED_BOX = 2;
export const HIDDEN_BOX = 3;
export const BOX_COUNT = 4;

// What is searched in attributes: bits of `TAG_BOXES` and `SEEKS`.
export const MAY_BE_NAMED = 1;
export const MAY_BE_HIDDEN = 2;
/** Roles: everywhere. */
export const MAY_BE_MARKED = 4;
/** Also by tag: the text around it is on other lines. */
export const BREAKS_LINE = 8;
export const IS_PRE = 16;
export const IS_BR = 32;

// Kinds of words, and bits of `SIGNS`.
export const IS_MAIN = 1;
export const IS_LANDMARK = 2;
/** The words of its class or id may name a landmark. */
export const HAS_NAME = 4;
export const IS_HIDDEN = 8;
export const IS_OPEN = 16;
export const HAS_CLASS = 32;
export const HAS_ID = 64;

// Kinds of bytes in a text: unchanged, white space, and everything that may have another meaning.
export const PLAIN = 0;
export const WHITE = 1;
export const OTHER = 2;

// Kinds of bytes in words.
export const SEPARATES = 0;
export const IS_SKIPPED = 1;
export const IS_WORD = 2;
export const MAY_BE_IDEOGRAPH = 3;

/** A bit of a link's kind: it leads from a heading to itself, and its text is only a sign. */
export const IS_PERMALINK = 64;

/** A bit of a link's kind: its href is printable ASCII without references, and means what it says. */
export const HREF_IS_PLAIN = 128;

// The result for a link.
export const NO_PAGE = 0;
export const ADDED = 1;
/** It may hide its scheme behind references. It is stored after the last link and not counted. */
export const IS_DISGUISED = 2;

// Why the kernel stopped.
export const STOPPED_AT_END = 0;
export const STOPPED_AT_TAG = 1;
/** A `<` that begins no tag and no comment. */
export const STOPPED_AT_ODDITY = 2;
/** A `&` that the kernel does not know. */
export const STOPPED_AT_REFERENCE = 3;
/** An anchor with a disguised link. */
export const STOPPED_AT_DISGUISE = 4;

// Bits of a white run. The rest is its position in the page, or the character itself.
/** The text has a space there. */
export const HAS_SPACE = 1 << 30;
/** It was written as a reference, or as a `<br>`. */
export const IS_CHARACTER = 1 << 31;
