/**
 * The seen-table of a session: identity hash → page id, in typed arrays. With the depths of pages (page-depths.ts) it is
 * the one thing in memory that grows with the crawl: 20 bytes a slot, slots 60–80 % full; at most 36 bytes a known URL.
 *
 * The table is cut into segments that grow one at a time, so that growing never holds two copies of the whole.
 * Equal 128-bit hashes count as the same URL; `sumi audit` checks that against the stored URLs.
 */
import type { UrlHasher } from '../../primitives/url-hash.ts';
import type { PageDepths } from './page-depths.ts';

const SEGMENTS = 256;
const WORDS = 5; // four words of hash, one of id; id 0 marks a free slot
const GROWTH = 1.33;
const FULL = 0.8;
const FIRST_SLOTS = 32;
/** URLs looked up at once. */
const AHEAD = 128;

export class KnownUrls {
  size = 0;
  readonly #hasher: UrlHasher;
  readonly #segments: Uint32Array[] = [];
  readonly #counts = new Uint32Array(SEGMENTS);
  readonly #depths: PageDepths;
  /** Hashes made ahead, four words each. */
  readonly #ahead = new Uint32Array(AHEAD * 4);
  /** So that looking is not left out as of no use. */
  #touched = 0;

  constructor(hasher: UrlHasher, depths: PageDepths) {
    this.#hasher = hasher;
    this.#depths = depths;
    for (let i = 0; i < SEGMENTS; i++) this.#segments.push(new Uint32Array(FIRST_SLOTS * WORDS));
  }

  /**
   * Gets ready for `findAhead` with these URLs from `from` on, as many as it answers. The table does not fit into the
   * processor's cache: asked for one by one, each place in it is waited for; asked for together, they come together.
   */
  lookAhead(candidates: readonly { readonly url: string }[], from: number): number {
    const words = this.#hasher.words;
    const ahead = this.#ahead;
    const count = Math.min(AHEAD, candidates.length - from);
    for (let i = 0; i < count; i++) {
      this.#hasher.hash(candidates[from + i].url);
      ahead[i * 4] = words[0];
      ahead[i * 4 + 1] = words[1];
      ahead[i * 4 + 2] = words[2];
      ahead[i * 4 + 3] = words[3];
    }
    for (let i = 0; i < count; i++) {
      const table = this.#segments[ahead[i * 4] & (SEGMENTS - 1)];
      this.#touched ^= table[firstSlot(table, ahead[i * 4 + 1]) + 4];
    }
    return count;
  }

  /** As `find`, with the URL that was the i-th to be looked at ahead. */
  findAhead(i: number): number {
    const words = this.#hasher.words;
    words[0] = this.#ahead[i * 4];
    words[1] = this.#ahead[i * 4 + 1];
    words[2] = this.#ahead[i * 4 + 2];
    words[3] = this.#ahead[i * 4 + 3];
    return this.#findHashed();
  }

  /** The id of a URL, or 0. Leaves the hash ready for `addLast`. */
  find(url: string): number {
    this.#hasher.hash(url);
    return this.#findHashed();
  }

  #findHashed(): number {
    const words = this.#hasher.words;
    const table = this.#segments[words[0] & (SEGMENTS - 1)];
    return table[slotOf(table, words[0], words[1], words[2], words[3]) + 4];
  }

  /** Adds the URL that was just looked for in vain. */
  addLast(id: number, depth: number): void {
    const words = this.#hasher.words;
    const segment = words[0] & (SEGMENTS - 1);
    const slots = this.#segments[segment].length / WORDS;
    if (++this.#counts[segment] > slots * FULL) this.#grow(segment);
    put(this.#segments[segment], words[0], words[1], words[2], words[3], id);
    this.size++;
    this.#depths.set(id, depth);
  }

  depthOf(id: number): number {
    return this.#depths.of(id);
  }

  setDepth(id: number, depth: number): void {
    this.#depths.set(id, depth);
  }

  /** The session has ended, and nobody asks any more. */
  drop(): void {
    this.#segments.length = 0;
  }

  #grow(segment: number): void {
    const old = this.#segments[segment];
    const table = new Uint32Array(Math.ceil((old.length / WORDS) * GROWTH) * WORDS);
    for (let i = 0; i < old.length; i += WORDS) {
      if (old[i + 4] !== 0) put(table, old[i], old[i + 1], old[i + 2], old[i + 3], old[i + 4]);
    }
    this.#segments[segment] = table;
  }
}

/** The high half of a 32-bit product spreads the hash over any number of slots without a division. */
function firstSlot(table: Uint32Array, b: number): number {
  return Math.floor((b * (table.length / WORDS)) / 0x1_0000_0000) * WORDS;
}

/** The slot that holds the hash, or the free one where it belongs. */
function slotOf(table: Uint32Array, a: number, b: number, c: number, d: number): number {
  let slot = firstSlot(table, b);
  while (table[slot + 4] !== 0) {
    if (table[slot] === a && table[slot + 1] === b && table[slot + 2] === c && table[slot + 3] === d)
      return slot;
    slot += WORDS;
    if (slot === table.length) slot = 0;
  }
  return slot;
}

function put(table: Uint32Array, a: number, b: number, c: number, d: number, id: number): void {
  const slot = slotOf(table, a, b, c, d);
  table[slot] = a;
  table[slot + 1] = b;
  table[slot + 2] = c;
  table[slot + 3] = d;
  table[slot + 4] = id;
}
