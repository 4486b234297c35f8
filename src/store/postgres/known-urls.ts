/**
 * What a worker remembers of URLs, bounded: identity hash → page id, and for each page its host and an upper bound of
 * its depth. The database knows all; this only spares it questions. When it is full it starts anew, and URLs that were
 * forgotten are asked for once more.
 *
 * Only committed pages are in it, so what it answers is true in the database, but for depths, which may be lower there.
 */
import type { UrlHasher } from '../../primitives/url-hash.ts';
import { NO_DEPTH } from '../settlement.ts';

const FIRST_SLOTS = 1 << 14;
/** Half of them filled at most: 38 bytes a slot. */
const MAX_SLOTS = 1 << 21;

export class KnownUrls {
  readonly #hasher: UrlHasher;
  readonly #maxSlots: number;
  #slots = FIRST_SLOTS;
  #words = new Uint32Array(FIRST_SLOTS * 4);
  #ids = new Int32Array(FIRST_SLOTS);
  #pageIds = new Int32Array(FIRST_SLOTS);
  #hosts = new Int32Array(FIRST_SLOTS);
  #depths = new Uint16Array(FIRST_SLOTS);
  #urls = 0;
  #pages = 0;

  constructor(hasher: UrlHasher, maxSlots = MAX_SLOTS) {
    this.#hasher = hasher;
    this.#maxSlots = maxSlots;
  }

  /** The id of a URL, or 0 when it is not remembered. */
  find(url: string): number {
    this.#hasher.hash(url);
    return this.#ids[this.#slotOfHash(this.#hasher.words)];
  }

  /** The least depth that the page is known to have, or null when the page is not remembered. */
  depthOf(id: number): number | null {
    const slot = this.#slotOfPage(id);
    return this.#pageIds[slot] === id ? this.#depths[slot] : null;
  }

  hostOf(id: number): number | null {
    const slot = this.#slotOfPage(id);
    return this.#pageIds[slot] === id ? this.#hosts[slot] : null;
  }

  learn(url: string, id: number, hostId: number, depth: number): void {
    this.#makeRoom();
    this.#hasher.hash(url);
    const { words } = this.#hasher;
    const slot = this.#slotOfHash(words);
    if (this.#ids[slot] === 0) {
      this.#urls++;
      this.#words.set(words, slot * 4);
    }
    this.#ids[slot] = id;
    this.learnPage(id, hostId, depth);
  }

  learnPage(id: number, hostId: number, depth: number): void {
    const slot = this.#slotOfPage(id);
    if (this.#pageIds[slot] === 0) this.#pages++;
    else if (this.#depths[slot] <= depth) return;
    this.#pageIds[slot] = id;
    this.#hosts[slot] = hostId;
    this.#depths[slot] = Math.min(depth, NO_DEPTH);
  }

  /** Rows were changed in bulk: nothing remembered is sure. */
  clear(): void {
    this.#ids.fill(0);
    this.#pageIds.fill(0);
    this.#urls = 0;
    this.#pages = 0;
  }

  #makeRoom(): void {
    if (Math.max(this.#urls, this.#pages) * 2 < this.#slots) return;
    if (this.#slots >= this.#maxSlots) this.clear();
    else this.#grow();
  }

  #grow(): void {
    const [words, ids, pageIds, hosts, depths] = [
      this.#words,
      this.#ids,
      this.#pageIds,
      this.#hosts,
      this.#depths,
    ];
    this.#slots *= 2;
    this.#words = new Uint32Array(this.#slots * 4);
    this.#ids = new Int32Array(this.#slots);
    this.#pageIds = new Int32Array(this.#slots);
    this.#hosts = new Int32Array(this.#slots);
    this.#depths = new Uint16Array(this.#slots);
    for (let i = 0; i < ids.length; i++) {
      if (ids[i] !== 0) {
        const own = words.subarray(i * 4, i * 4 + 4);
        const slot = this.#slotOfHash(own);
        this.#words.set(own, slot * 4);
        this.#ids[slot] = ids[i];
      }
      if (pageIds[i] !== 0) {
        const slot = this.#slotOfPage(pageIds[i]);
        this.#pageIds[slot] = pageIds[i];
        this.#hosts[slot] = hosts[i];
        this.#depths[slot] = depths[i];
      }
    }
  }

  /** The slot that holds the hash, or the free one where it belongs. */
  #slotOfHash(words: Uint32Array): number {
    const mask = this.#slots - 1;
    const table = this.#words;
    let slot = words[0] & mask;
    while (this.#ids[slot] !== 0) {
      const at = slot * 4;
      if (
        table[at] === words[0] &&
        table[at + 1] === words[1] &&
        table[at + 2] === words[2] &&
        table[at + 3] === words[3]
      )
        break;
      slot = (slot + 1) & mask;
    }
    return slot;
  }

  #slotOfPage(id: number): number {
    const mask = this.#slots - 1;
    let slot = Math.imul(id, 0x9e3779b1) & mask;
    while (this.#pageIds[slot] !== 0 && this.#pageIds[slot] !== id) slot = (slot + 1) & mask;
    return slot;
  }
}
