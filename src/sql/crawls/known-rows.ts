/**
 * What the target table knows, URL by URL: whether there is a row, whether its failure is a passing one, and when it was
 * written. Two URLs with the same 64-bit hash count as one. About 17 bytes a URL: with the crawl's own table of known
 * URLs this is all that grows.
 */
import { randomBytes } from 'node:crypto';
import { createUrlHasher } from '../../primitives/url-hash.ts';

/** new: no row. known: a row that stays. passing: a row that is a failure which may be over by now. */
export type RowStanding = 'new' | 'known' | 'passing';

const WORDS = 3; // two of hash, one of minutes and the mark of passing failures
const FIRST_SLOTS = 1024;
const FULL = 0.75;
const MINUTE_MS = 60_000;

export class KnownRows {
  size = 0;
  readonly #hasher = createUrlHasher(new Uint32Array(new Uint8Array(randomBytes(16)).buffer));
  #slots = new Uint32Array(FIRST_SLOTS * WORDS);

  standing(url: string): RowStanding {
    const at = this.#find(url);
    if (this.#slots[at] === 0) return 'new';
    return (this.#slots[at + 2] & 1) === 1 ? 'passing' : 'known';
  }

  /** When the row was written, to the minute; null without a row. */
  crawledAt(url: string): number | null {
    const at = this.#find(url);
    return this.#slots[at] === 0 ? null : (this.#slots[at + 2] >>> 1) * MINUTE_MS;
  }

  set(url: string, isPassing: boolean, crawledAt: number): void {
    if (this.size >= (this.#slots.length / WORDS) * FULL) this.#grow();
    const at = this.#find(url);
    if (this.#slots[at] === 0) {
      this.size++;
      this.#slots[at] = this.#first();
      this.#slots[at + 1] = this.#hasher.words[1];
    }
    this.#slots[at + 2] = (Math.max(0, Math.floor(crawledAt / MINUTE_MS)) << 1) | (isPassing ? 1 : 0);
  }

  /** The place of the URL, or the free one that it would take. */
  #find(url: string): number {
    this.#hasher.hash(url);
    return this.#place(this.#slots, this.#first(), this.#hasher.words[1]);
  }

  /** 0 marks a free slot. */
  #first(): number {
    return this.#hasher.words[0] || 1;
  }

  #place(slots: Uint32Array, first: number, second: number): number {
    const count = slots.length / WORDS;
    for (let slot = first % count; ; slot = slot + 1 === count ? 0 : slot + 1) {
      const at = slot * WORDS;
      if (slots[at] === 0 || (slots[at] === first && slots[at + 1] === second)) return at;
    }
  }

  #grow(): void {
    const old = this.#slots;
    const slots = new Uint32Array(Math.ceil((old.length / WORDS) * 1.5) * WORDS);
    for (let from = 0; from < old.length; from += WORDS) {
      if (old[from] === 0) continue;
      slots.set(old.subarray(from, from + WORDS), this.#place(slots, old[from], old[from + 1]));
    }
    this.#slots = slots;
  }
}
