/**
 * Where things stand in the memory that the kernel (WebAssembly) and its callers share, and the numbers that both give
 * the same meaning. Read by two compilers: constants only.
 */

/** The state: numbers of 32 bits, each by its index. */
export const STATE = 1024;

// Set by the caller. First addresses, then what holds for the page as far as it is read.
export const BYTES = 0;
export const TEXT = 1;
export const HREF_STARTS = 2;
export const HREF_ENDS = 3;
export const HREF_HASHES = 4;
export const TEXT_STARTS = 5;
export const TEXT_ENDS = 6;
export const LINK_FLAGS = 7;
export const LINK_KINDS = 8;
export const TAG_MULTIPLIER = 9;
export const ATTRIBUTE_MULTIPLIER = 28;
/** Where reading ends. */
export const END = 10;
/** Text here is no part of the page's text. */
export const IS_MUTE = 11;
/** Every tag is told, not only those that need more than the kernel knows. */
export const TELLS_ALL = 12;
/** A frameset is open: tags do not act. */
export const IS_FRAMESET = 13;
/** Hash of the open main element's name, 0 for none. */
export const MAIN_HASH = 14;

// Changed by both.
/** End of the text. */
export const SIZE = 15;
/** Something of the page's body was met. */
export const HAS_BODY = 16;
export const LINK_COUNT = 17;
/** The link whose text is being read, -1 for none. */
export const OPEN_ANCHOR = 18;

// Told by the kernel: where it stopped and the tag it stopped at.
export const AT = 19;
export const AFTER = 20;
export const TAG_ID = 21;
export const TAG_HASH = 22;
export const IS_END_TAG = 23;
export const IS_SELF_CLOSING = 24;
export const HAS_MAIN_ROLE = 25;

// Told by the kernel of a text.
export const SIMHASH_LOW = 26;
export const SIMHASH_HIGH = 27;

/** Offsets of the attributes of the last tag that has some worth reading, in pairs; -1 for none. */
export const SPANS = 32;
export const SPAN_COUNT = 22;
export const STATE_LENGTH = 64;

// Where the offsets of an attribute stand among the spans. Name to charset in the order of a meta's.
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
/** Features of words, 64 bits each, and seven more, so that the last group of eight is whole. */
export const FEATURES = 12288;
export const BLOCK = 512;
/** Their counters: one plane a power of two. */
export const PLANES = 16448;
export const PLANE_COUNT = 32;
/** What a page needs begins here. */
export const FREE = 16704;
/** What the kernel may read or write behind the end of a page or its text. */
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

// Kinds of bytes in a text: as it is, white space, and all that may be more than it seems.
export const PLAIN = 0;
export const WHITE = 1;
export const OTHER = 2;

// Kinds of bytes in words.
export const SEPARATES = 0;
export const IS_SKIPPED = 1;
export const IS_WORD = 2;
export const MAY_BE_IDEOGRAPH = 3;

/** A bit beside a link's kind: its href is printable ASCII without references, and means what it says. */
export const HREF_IS_PLAIN = 128;

// What became of a link.
export const NO_PAGE = 0;
export const ADDED = 1;
/** It may hide its scheme behind references. It stands behind the last link and is not counted. */
export const IS_DISGUISED = 2;

// Why the kernel stopped.
export const STOPPED_AT_END = 0;
export const STOPPED_AT_TAG = 1;
/** A `<` that begins no tag and no comment. */
export const STOPPED_AT_ODDITY = 2;
/** A `&` that the kernel does not know. */
export const STOPPED_AT_REFERENCE = 3;
/** An anchor whose link is disguised. */
export const STOPPED_AT_DISGUISE = 4;
