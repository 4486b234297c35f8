/**
 * Page ids of a project ↔ their numbers, counted from 1 in the order of ids. Kept as runs of consecutive ids, because a
 * project's ids are mostly given in a row: a file with one project needs one run, whatever its size.
 */
const FIRST_RUNS = 64;

export class PageNumbers {
  #firsts = new Int32Array(FIRST_RUNS);
  /** How many pages stand before each run. */
  #before = new Int32Array(FIRST_RUNS);
  #runs = 0;
  #size = 0;

  static of(ranges: Iterable<readonly [first: number, count: number]>): PageNumbers {
    const numbers = new PageNumbers();
    for (const [first, count] of ranges) numbers.add(first, count);
    return numbers;
  }

  get size(): number {
    return this.#size;
  }

  /** Ids are added in ascending order. */
  add(first: number, count = 1): void {
    if (count <= 0) return;
    const last = this.#runs === 0 ? 0 : this.idOf(this.#size);
    if (first <= last) throw new Error(`page ${first} comes after page ${last}`);
    if (this.#runs === 0 || first !== last + 1) {
      if (this.#runs === this.#firsts.length) this.#grow();
      this.#firsts[this.#runs] = first;
      this.#before[this.#runs] = this.#size;
      this.#runs++;
    }
    this.#size += count;
  }

  /** 0 for an id that is not of the project. */
  numberOf(id: number): number {
    const run = lastAtMost(this.#firsts, this.#runs, id);
    if (run === -1) return 0;
    const end = run + 1 < this.#runs ? this.#before[run + 1] : this.#size;
    const number = this.#before[run] + (id - this.#firsts[run]) + 1;
    return number <= end ? number : 0;
  }

  idOf(number: number): number {
    if (number < 1 || number > this.#size) throw new Error(`there is no page number ${number}`);
    const run = lastAtMost(this.#before, this.#runs, number - 1);
    return this.#firsts[run] + (number - 1 - this.#before[run]);
  }

  ranges(): [first: number, count: number][] {
    return Array.from({ length: this.#runs }, (_, i) => [
      this.#firsts[i],
      (i + 1 < this.#runs ? this.#before[i + 1] : this.#size) - this.#before[i],
    ]);
  }

  #grow(): void {
    const [firsts, before] = [this.#firsts, this.#before];
    this.#firsts = new Int32Array(firsts.length * 2);
    this.#before = new Int32Array(firsts.length * 2);
    this.#firsts.set(firsts);
    this.#before.set(before);
  }
}

/** The last place of the first `count` whose value is at most this; -1 when there is none. */
function lastAtMost(values: Int32Array, count: number, value: number): number {
  let low = 0;
  let high = count;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (values[middle] <= value) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}
