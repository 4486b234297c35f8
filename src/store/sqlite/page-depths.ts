/** The depth of every page of the file, by its id: two bytes each, shared by all sessions, because ids are the file's. */
import { NO_DEPTH } from '../settlement.ts';

const MAX_DEPTH = NO_DEPTH - 1;

export class PageDepths {
  #depths = new Uint16Array(1024);

  of(id: number): number {
    return this.#depths[id];
  }

  set(id: number, depth: number): void {
    if (id >= this.#depths.length) this.#grow(id);
    this.#depths[id] = depth === NO_DEPTH ? NO_DEPTH : Math.min(depth, MAX_DEPTH);
  }

  #grow(id: number): void {
    const depths = new Uint16Array(Math.ceil(id * 1.25) + 1024);
    depths.set(this.#depths);
    this.#depths = depths;
  }
}
