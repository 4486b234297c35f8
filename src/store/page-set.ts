/** Page ids as bits: an eighth of a byte for each id up to the highest, whatever their number. */
const FIRST_WORDS = 1024;
export class PageSet {
  #words = new Uint32Array(FIRST_WORDS);

  /** False when it was there already. */
  add(id: number): boolean {
    const at = id >>> 5;
    if (at >= this.#words.length) this.#grow(at);
    const bit = 1 << (id & 31);
    if ((this.#words[at] & bit) !== 0) return false;
    this.#words[at] |= bit;
    return true;
  }

  has(id: number): boolean {
    const at = id >>> 5;
    return at < this.#words.length && (this.#words[at] & (1 << (id & 31))) !== 0;
  }

  #grow(at: number): void {
    const words = new Uint32Array(Math.max(at + 1, this.#words.length * 2));
    words.set(this.#words);
    this.#words = words;
  }
}
