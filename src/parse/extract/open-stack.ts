/**
 * The elements of a page that are open while it is read, from the root to the one that takes what comes next. Keeps the
 * tree at its depth limit: what is deeper is never open, and its end tags mean nothing.
 */
import { DEEPEST, type PageElement, RAW_ELEMENTS } from './page-tree.ts';
import { holdsForeign } from './tree-rules.ts';

export class OpenStack {
  readonly #open: PageElement[] = [];
  /** How deep each of them stands: more than the number of open ones, where one outside of it was closed first. */
  readonly #depths: number[] = [];
  /** How many elements of a name are open: most end tags without a start tag cost no search. */
  readonly #counts = new Map<string, number>();
  /** How many elements of a name were too deep. */
  readonly #flattened = new Map<string, number>();

  get length(): number {
    return this.#open.length;
  }

  get top(): PageElement {
    return this.#open[this.#open.length - 1];
  }

  get #depth(): number {
    return this.#depths[this.#depths.length - 1] ?? 0;
  }

  at(index: number): PageElement {
    return this.#open[index];
  }

  has(name: string): boolean {
    return (this.#counts.get(name) ?? 0) > 0;
  }

  push(element: PageElement): void {
    const { name } = element;
    const depth = this.#depth + 1;
    const isTooDeep = depth > DEEPEST && !RAW_ELEMENTS.has(name);
    const counts = isTooDeep ? this.#flattened : this.#counts;
    counts.set(name, (counts.get(name) ?? 0) + 1);
    if (isTooDeep) return;
    this.#open.push(element);
    this.#depths.push(depth);
  }

  /** True for the end tag of an element that was too deep. */
  endsFlattened(name: string): boolean {
    const count = this.#flattened.get(name) ?? 0;
    if (count === 0) return false;
    this.#flattened.set(name, count - 1);
    return true;
  }

  /** Closes the innermost element. */
  pop(): void {
    this.popFrom(this.#open.length - 1);
  }

  /** Closes what was opened from `index` on. */
  popFrom(index: number): void {
    while (this.#open.length > index) {
      this.#depths.pop();
      const { name } = this.#open.pop()!;
      this.#counts.set(name, this.#counts.get(name)! - 1);
    }
    if (this.#flattened.size > 0 && this.#depth < DEEPEST) this.#flattened.clear();
  }

  /** Closes one element, and leaves open what was opened inside of it. */
  remove(index: number): void {
    const [{ name }] = this.#open.splice(index, 1);
    this.#depths.splice(index, 1);
    this.#counts.set(name, this.#counts.get(name)! - 1);
  }

  /** The place of the innermost open element of this name that is not behind one of `walls`; -1 for none. */
  find(name: string, walls: ReadonlySet<string>): number {
    if (!this.has(name)) return -1;
    for (let i = this.#open.length - 1; i > 0; i--) {
      const element = this.#open[i];
      if (element.name === name && !element.isForeign) return i;
      if (element.isForeign ? !holdsForeign(element) : walls.has(element.name)) return -1;
    }
    return -1;
  }

  /** Closes the element that `find` finds. */
  close(name: string, walls: ReadonlySet<string>): void {
    const index = this.find(name, walls);
    if (index > 0) this.popFrom(index);
  }

  /** Closes what stands inside of the innermost element of one of these names. The root counts as one. */
  closeTo(names: ReadonlySet<string>): void {
    let index = this.#open.length - 1;
    while (index > 0 && !names.has(this.#open[index].name)) index--;
    this.popFrom(index + 1);
  }
}
