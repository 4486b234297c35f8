/**
 * The part of the scanner that is WebAssembly: its code, its memory and the views on it. The sources are in kernel/.
 * The build compiles them into one file beside the command, and the first page that needs it loads it.
 */

import { readFileSync } from 'node:fs';
import { attributeTable } from './attribute-spans.ts';
import * as at from './kernel-layout.ts';
import { signTable, tagBoxes } from './page-parts.ts';
import { buildSlots, TAG_FLAGS, TAG_HASHES, tagId } from './tag-names.ts';

export interface ScanKernel {
  /** The shared numbers, by the indices of kernel-layout.ts. */
  readonly state: Int32Array;
  /** The page, its text and its links. Views: made again when a larger page comes. */
  bytes: Buffer;
  text: Uint8Array;
  hrefStarts: Int32Array;
  hrefEnds: Int32Array;
  hrefHashes: Int32Array;
  textStarts: Int32Array;
  textEnds: Int32Array;
  textBefore: Int32Array;
  linkFlags: Uint8Array;
  linkKinds: Uint8Array;
  /** By tag: the open boxes for which it has a meaning. */
  watched: Uint8Array;
  /**
   * Copies a page into the memory, with a 0 after it, and returns how many bytes it took: all, except for pages beyond
   * 256 MiB.
   */
  take(bytes: Uint8Array, length: number): number;
  read(from: number): number;
  addLink(hrefStart: number, hrefEnd: number, flags: number, kind: number): number;
  /** By address: the text may be anywhere in the memory. */
  countWords(address: number, length: number): number;
  /** White space given by a reference: kept as it is inside a `pre`. */
  keepReference(size: number, code: number, isNew: number): void;
  /** Memory for a shaped text, see kernel/shape.ts. */
  shaped: Uint8Array;
  beginShape(address: number): void;
  nextDoubtful(from: number, to: number, at: number): number;
  shapePiece(from: number, to: number, at: number, end: number): void;
  endShape(): number;
}

/** The part of WebAssembly that is used here. TypeScript has its types only for browsers. */
declare const WebAssembly: {
  Module: new (code: Uint8Array) => object;
  Instance: new (module: object) => { exports: unknown };
};

interface KernelExports {
  memory: { buffer: ArrayBuffer; grow(pages: number): number };
  read(from: number): number;
  addLink(hrefStart: number, hrefEnd: number, flags: number, kind: number): number;
  countWords(address: number, length: number): number;
  keepReference(size: number, code: number, isNew: number): void;
  beginShape(address: number): void;
  nextDoubtful(from: number, to: number, at: number): number;
  shapePiece(from: number, to: number, at: number, end: number): void;
  endShape(): number;
}

const PAGE = 65_536;
/** The rest of a larger page is not read: with everything made from it, it would not fit into the kernel's 4 GiB. */
const LARGEST_PAGE = 2 ** 28;
const FIRST_CAPACITY = 1 << 18;
/** The shortest tag that is a link: `<a href>`. */
const SHORTEST_LINK = 8;
/** The shortest tag that begins a line, and the letter that must stand before the next: `<p>x`. */
const SHORTEST_LINE = 4;
/** A line break in a `pre`, and the letter before it. */
const SHORTEST_WHITE = 2;

let compiled: object | null = null;

function compile(): object {
  // After the build, this file is a part of one that is beside the kernel. In the sources, the kernel is where the
  // build put it.
  const isSource = import.meta.url.endsWith('/src/parse/scan-kernel.ts');
  const file = isSource ? '../../dist/kernel.wasm' : './kernel.wasm';
  compiled ??= new WebAssembly.Module(readFileSync(new URL(file, import.meta.url)));
  return compiled;
}

/** Bytes that end a tag name (1), also an attribute name (2), an unquoted value (4). */
function nameEnds(): Uint8Array {
  const ends = new Uint8Array(256);
  for (const byte of [0, 0x09, 0x0a, 0x0c, 0x0d, 0x20, 0x3e]) ends[byte] = 7;
  ends[0x2f] = 3;
  ends[0x3d] = 2;
  return ends;
}

/** `OTHER`: `<`, `&`, 0 and the first bytes of wide spaces. */
function textKinds(): Uint8Array {
  const kinds = new Uint8Array(256);
  for (const byte of [0x09, 0x0a, 0x0c, 0x0d, 0x20]) kinds[byte] = at.WHITE;
  for (const byte of [0, 0x26, 0x3c, 0xc2, 0xe2, 0xe3]) kinds[byte] = at.OTHER;
  return kinds;
}

/** How words are read: the class of each byte, and what is hashed of it (the letter in lower case, plus one). */
function wordTables(): { classes: Uint8Array; bytes: Uint16Array } {
  const classes = new Uint8Array(256);
  const bytes = new Uint16Array(256);
  for (let byte = 0; byte < 256; byte++) {
    const isUpper = byte >= 0x41 && byte <= 0x5a;
    const isLower = byte >= 0x61 && byte <= 0x7a;
    const isDigit = byte >= 0x30 && byte <= 0x39;
    if (byte <= 0x20) classes[byte] = at.SEPARATES;
    else if (byte >= 0xe3 && byte <= 0xf0) classes[byte] = at.MAY_BE_IDEOGRAPH;
    else classes[byte] = isUpper || isLower || isDigit || byte >= 0x80 ? at.IS_WORD : at.IS_SKIPPED;
    if (classes[byte] === at.IS_WORD) bytes[byte] = (isUpper ? byte | 32 : byte) + 1;
  }
  return { classes, bytes };
}

function fillTables(memory: ArrayBuffer): void {
  const put = (address: number, table: Uint8Array): void => new Uint8Array(memory).set(table, address);
  const tags = buildSlots(TAG_HASHES, at.TAG_SHIFT);
  const attributes = attributeTable();
  const signs = signTable();
  const words = wordTables();
  put(at.NAME_ENDS, nameEnds());
  put(at.TEXT_KINDS, textKinds());
  put(at.TAG_FLAGS, TAG_FLAGS);
  put(at.WORD_CLASSES, words.classes);
  put(at.WORD_BYTES, new Uint8Array(words.bytes.buffer));
  put(at.TAG_SLOTS, tags.slots);
  put(at.TAG_HASHES, new Uint8Array(TAG_HASHES.buffer));
  put(at.ATTRIBUTE_HASHES, new Uint8Array(attributes.hashes.buffer));
  put(at.ATTRIBUTE_SLOTS, attributes.spans);
  put(at.SIGN_HASHES, new Uint8Array(signs.hashes.buffer));
  put(at.SIGN_KINDS, signs.kinds);
  put(at.TAG_BOXES, tagBoxes());
  const state = new Int32Array(memory, at.STATE, at.STATE_LENGTH);
  state[at.TAG_MULTIPLIER] = tags.multiplier;
  state[at.ATTRIBUTE_MULTIPLIER] = attributes.multiplier;
  state[at.SIGN_MULTIPLIER] = signs.multiplier;
}

export function createScanKernel(): ScanKernel {
  if (tagId('a') !== at.ANCHOR) throw new Error('the kernel takes another tag for an anchor');
  const exports = new WebAssembly.Instance(compile()).exports as KernelExports;
  const { memory } = exports;
  let capacity = 0;
  fillTables(memory.buffer);

  /** Lays out the memory for pages of up to that many bytes, permanently. Untouched memory takes no space. */
  function reserve(most: number): void {
    const links = Math.ceil(most / SHORTEST_LINK) + 1;
    let end = at.FREE;
    const room = (bytes: number): number => {
      const start = end;
      end += (bytes + 7) & ~7;
      return start;
    };
    const bytes = room(most + at.SLACK);
    // References of two characters grow by a fifth at most. Everything else shrinks or stays.
    const textRoom = most + (most >> 2) + at.SLACK;
    const text = room(textRoom);
    const shaped = room(textRoom);
    const numbers = Array.from({ length: 6 }, () => room(links * 4));
    const lineRoom = Math.ceil(most / SHORTEST_LINE) + 2;
    const lineStarts = room(lineRoom * 4);
    const whiteRuns = room((Math.ceil(most / SHORTEST_WHITE) + 2) * 8);
    const flags = room(links);
    const kinds = room(links);
    const missing = Math.ceil((end - memory.buffer.byteLength) / PAGE);
    if (missing > 0) memory.grow(missing);
    const { buffer } = memory;
    const state = new Int32Array(buffer, at.STATE, at.STATE_LENGTH);
    state.set([bytes, text, ...numbers.slice(0, 5), flags, kinds], at.BYTES);
    state[at.TEXT_BEFORE] = numbers[5];
    state[at.LINE_STARTS] = lineStarts;
    state[at.WHITE_RUNS] = whiteRuns;
    const views = numbers.map((start) => new Int32Array(buffer, start, links));
    [self.hrefStarts, self.hrefEnds, self.hrefHashes, self.textStarts, self.textEnds, self.textBefore] =
      views;
    self.state = state;
    self.bytes = Buffer.from(buffer, bytes, most + at.SLACK);
    self.text = new Uint8Array(buffer, text, textRoom);
    self.shaped = new Uint8Array(buffer, shaped, textRoom);
    self.linkFlags = new Uint8Array(buffer, flags, links);
    self.linkKinds = new Uint8Array(buffer, kinds, links);
    self.watched = new Uint8Array(buffer, at.WATCHED, 256);
    capacity = most;
  }

  const none = new Int32Array(0);
  const nothing = new Uint8Array(0);
  const self: ScanKernel & { state: Int32Array } = {
    state: none,
    bytes: Buffer.alloc(0),
    text: nothing,
    hrefStarts: none,
    hrefEnds: none,
    hrefHashes: none,
    textStarts: none,
    textEnds: none,
    textBefore: none,
    linkFlags: nothing,
    linkKinds: nothing,
    watched: nothing,
    take(bytes, wanted) {
      const length = Math.min(wanted, LARGEST_PAGE);
      if (length > capacity) reserve(Math.min(length + (length >> 1), LARGEST_PAGE));
      self.bytes.set(bytes.length === length ? bytes : bytes.subarray(0, length));
      self.bytes[length] = 0;
      return length;
    },
    read: exports.read,
    addLink: exports.addLink,
    countWords: exports.countWords,
    keepReference: exports.keepReference,
    shaped: nothing,
    beginShape: exports.beginShape,
    nextDoubtful: exports.nextDoubtful,
    shapePiece: exports.shapePiece,
    endShape: exports.endShape,
  };
  reserve(FIRST_CAPACITY);
  return self;
}
