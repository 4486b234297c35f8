/**
 * Remembers the page of a raw href: (base, raw bytes) → page id. On most pages nine of ten links were seen before. For
 * these, no string and no URL object is made.
 *
 * Exact: the bytes are compared on a hit, so the hash only has to be fast. Bounded: a full cache is emptied.
 */
export const MISS = 0;
/** The href is known not to lead to a page (malformed, or not http). */
export const NO_PAGE = -1;
/**
 * This value and lower ones: the href was seen on this page or the one before, and its id is not known yet. Each number
 * is given by the reader of the page.
 */
export const PENDING = -2;

const SLOTS = 1 << 17;
const MAX_ENTRIES = (SLOTS * 5) / 8;
const ARENA_BYTES = 8 * 1024 * 1024;
const MAX_HREF_BYTES = ARENA_BYTES / 1024;
/** After so many probes it is a miss, so that prepared collisions cannot make a search slow. */
const MAX_PROBES = 16;

export class HrefCache {
  readonly #base = new Int32Array(SLOTS);
  readonly #start = new Int32Array(SLOTS);
  readonly #length = new Int32Array(SLOTS);
  readonly #value = new Int32Array(SLOTS);
  readonly #arena = Buffer.allocUnsafe(ARENA_BYTES);
  #lastBase = 0;
  #used = 0;
  #entries = 0;
  #slot = 0;

  /**
   * A number for the base that hrefs are resolved against (a folder, an origin). The caller remembers which number
   * belongs to which base.
   */
  newBase(): number {
    return ++this.#lastBase;
  }

  /** The page id, NO_PAGE, MISS, or a number that was stored as pending. */
  find(base: number, bytes: Uint8Array, start: number, end: number, hash: number): number {
    const length = end - start;
    let slot = (Math.imul(hash ^ Math.imul(base, 0x9e3779b1), 0x85ebca6b) >>> 15) & (SLOTS - 1);
    for (let probe = 0; probe < MAX_PROBES; probe++) {
      const value = this.#value[slot];
      if (value === MISS) break;
      if (
        this.#base[slot] === base &&
        this.#length[slot] === length &&
        this.#isEqual(slot, bytes, start, length)
      ) {
        this.#slot = slot;
        return value;
      }
      slot = (slot + 1) & (SLOTS - 1);
    }
    this.#slot = slot;
    return MISS;
  }

  /** Stores an href that was missed or is pending, and returns its slot; -1 if there is no space for it. */
  put(base: number, bytes: Uint8Array, start: number, end: number, hash: number, value: number): number {
    if (end - start > MAX_HREF_BYTES) return -1;
    if (this.#entries >= MAX_ENTRIES || this.#used + (end - start) > ARENA_BYTES) {
      this.clear();
    }
    const known = this.find(base, bytes, start, end, hash);
    const slot = this.#slot;
    if (known <= PENDING) this.#value[slot] = value;
    if (known !== MISS) return slot;
    if (this.#value[slot] !== MISS) return -1;
    this.#arena.set(bytes.subarray(start, end), this.#used);
    this.#base[slot] = base;
    this.#start[slot] = this.#used;
    this.#length[slot] = end - start;
    this.#value[slot] = value;
    this.#used += end - start;
    this.#entries++;
    return slot;
  }

  /** Stores the result of a pending href in its slot, if the slot still has that href. */
  settle(slot: number, pending: number, pageId: number): void {
    if (slot >= 0 && this.#value[slot] === pending) this.#value[slot] = pageId;
  }

  clear(): void {
    this.#value.fill(MISS);
    this.#used = 0;
    this.#entries = 0;
  }

  #isEqual(slot: number, bytes: Uint8Array, start: number, length: number): boolean {
    const arena = this.#arena;
    const from = this.#start[slot];
    for (let i = 0; i < length; i++) if (arena[from + i] !== bytes[start + i]) return false;
    return true;
  }
}
