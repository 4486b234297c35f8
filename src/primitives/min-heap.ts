/** A binary heap. The smallest key comes out first; of equal keys, the one that went in first. */
export class MinHeap<T> {
  readonly #items: { key: number; order: number; value: T }[] = [];
  #order = 0;

  get size(): number {
    return this.#items.length;
  }

  push(key: number, value: T): void {
    const items = this.#items;
    const item = { key, order: this.#order++, value };
    let at = items.length;
    items.push(item);
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (!isBefore(item, items[parent])) break;
      items[at] = items[parent];
      at = parent;
    }
    items[at] = item;
  }

  peekKey(): number {
    return this.#items.length === 0 ? Number.POSITIVE_INFINITY : this.#items[0].key;
  }

  pop(): T | undefined {
    const items = this.#items;
    const top = items[0];
    const last = items.pop();
    if (top === undefined || last === undefined) return undefined;
    if (items.length === 0) return top.value;
    let at = 0;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= items.length) break;
      if (child + 1 < items.length && isBefore(items[child + 1], items[child])) child++;
      if (!isBefore(items[child], last)) break;
      items[at] = items[child];
      at = child;
    }
    items[at] = last;
    return top.value;
  }
}

function isBefore(a: { key: number; order: number }, b: { key: number; order: number }): boolean {
  return a.key < b.key || (a.key === b.key && a.order < b.order);
}
