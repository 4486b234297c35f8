/**
 * One queue of pages for each host, earliest first, and the hosts in order of their earliest page: so a plan can take
 * the best page of the hosts that may be visited now. Every step costs the logarithm of a queue's length. Heaps in
 * typed arrays: 16 bytes per page and some slack, however pages are spread over hosts. A page is in at most one queue,
 * always under its current key. Never looks at the time.
 */
import { grown, roomFor } from './column.ts';

/**
 * Queues up to this length are in one block, which moves as they grow. Longer queues consist of blocks of this size.
 */
const BLOCK = 1024;
const BLOCK_BITS = 10;
const LEAST_ROOM = 4;
/** Children per node: fewer levels, and siblings share a cache line. */
const ARITY = 4;
const HELD = 0xffff_ffff;

export class HostQueues {
  /** Per page: its place in its host's queue plus one; 0 if it is in none. */
  #places = new Uint32Array(0);
  /**
   * The blocks, one after the other. A block that moves leaves a hole until all are packed. Keys are beside the pages,
   * so siblings are compared within one or two cache lines.
   */
  #arena = new Uint32Array(0);
  #arenaKeys = new Float64Array(0);
  #arenaEnd = 0;
  #holes = 0;
  /** Per host: the first block, pages in the queue, size of the first block, place in the heap of hosts plus one. */
  #starts = new Uint32Array(0);
  #sizes = new Uint32Array(0);
  #rooms = new Uint16Array(0);
  #hostPlaces = new Uint32Array(0);
  /** The key of the host's earliest page, so that hosts are compared without reading their queues. */
  #hostKeys = new Float64Array(0);
  #hostHeap = new Uint32Array(0);
  #hostCount = 0;
  /** All blocks of hosts that need more than one. */
  readonly #blocks = new Map<number, number[]>();

  /** Allocates space for pages and hosts below these numbers. */
  reserve(pages: number, hosts: number): void {
    this.#places = grown(this.#places, roomFor(pages, this.#places.length));
    const hostRoom = roomFor(hosts, this.#starts.length);
    this.#starts = grown(this.#starts, hostRoom);
    this.#sizes = grown(this.#sizes, hostRoom);
    this.#rooms = grown(this.#rooms, hostRoom);
    this.#hostPlaces = grown(this.#hostPlaces, hostRoom);
    this.#hostKeys = grown(this.#hostKeys, hostRoom);
    this.#hostHeap = grown(this.#hostHeap, hostRoom);
  }

  has(page: number): boolean {
    return this.#places[page] !== 0;
  }

  /** The key of a page that is in its host's queue. */
  keyOf(page: number, host: number): number {
    const place = this.#places[page] - 1;
    return this.#arenaKeys[this.#at(host, this.#blocksOf(host, place + 1), place)];
  }

  /** Adds the page to its host's queue, or moves it there. */
  set(page: number, host: number, key: number): void {
    const place = this.#places[page];
    if (place === 0) {
      const blocks = this.#blocksOf(host, this.#sizes[host] + 1);
      this.#rise(host, blocks, this.#sizes[host]++, page, key);
    } else {
      const blocks = this.#blocksOf(host, this.#sizes[host]);
      const old = this.#arenaKeys[this.#at(host, blocks, place - 1)];
      if (key < old) this.#rise(host, blocks, place - 1, page, key);
      else if (key > old) this.#sink(host, blocks, place - 1, page, key);
    }
    this.#placeHost(host);
  }

  remove(page: number, host: number): void {
    const place = this.#places[page];
    if (place === 0) return;
    const size = this.#sizes[host];
    const blocks = this.#blocksOf(host, size);
    this.#places[page] = 0;
    this.#sizes[host] = size - 1;
    const end = this.#at(host, blocks, size - 1);
    const last = this.#arena[end];
    if (last !== page) {
      const key = this.#arenaKeys[end];
      if (key < this.#arenaKeys[this.#at(host, blocks, place - 1)])
        this.#rise(host, blocks, place - 1, last, key);
      else this.#sink(host, blocks, place - 1, last, key);
    }
    this.#placeHost(host);
  }

  /** The host with the earliest page of all hosts that are not held, or -1. */
  firstHost(): number {
    return this.#hostCount === 0 ? -1 : this.#hostHeap[0];
  }

  /** The host's earliest page. Only for a host that has one. */
  firstPage(host: number): number {
    return this.#arena[this.#starts[host]];
  }

  /** Skips the host until it is released. */
  hold(host: number): void {
    if (this.#hostPlaces[host] === HELD) return;
    this.#dropHost(host);
    this.#hostPlaces[host] = HELD;
  }

  letGo(host: number): void {
    if (this.#hostPlaces[host] !== HELD) return;
    this.#hostPlaces[host] = 0;
    this.#placeHost(host);
  }

  /** The position of the n-th page of a host's heap in the arena. */
  #at(host: number, blocks: number[] | undefined, index: number): number {
    return blocks === undefined
      ? this.#starts[host] + index
      : blocks[index >>> BLOCK_BITS] + (index & (BLOCK - 1));
  }

  /** The host's blocks if it needs more than one for so many pages; allocates them. */
  #blocksOf(host: number, pages: number): number[] | undefined {
    const room = this.#rooms[host];
    if (pages <= room) return undefined;
    if (pages <= BLOCK) {
      const wanted = Math.min(Math.max(room + (room >>> 1), LEAST_ROOM), BLOCK);
      const start = this.#takeBlock(wanted);
      const old = this.#starts[host];
      this.#arena.copyWithin(start, old, old + this.#sizes[host]);
      this.#arenaKeys.copyWithin(start, old, old + this.#sizes[host]);
      this.#holes += this.#rooms[host];
      this.#starts[host] = start;
      this.#rooms[host] = wanted;
      return undefined;
    }
    let blocks = this.#blocks.get(host);
    if (blocks === undefined) {
      blocks = [this.#starts[host]];
      this.#blocks.set(host, blocks);
    }
    if (pages > blocks.length * BLOCK) blocks.push(this.#takeBlock(BLOCK));
    return blocks;
  }

  #takeBlock(room: number): number {
    if (this.#arenaEnd + room > this.#arena.length) {
      if (this.#holes > this.#arenaEnd >>> 3) this.#pack(room);
      else {
        const enough = roomFor(this.#arenaEnd + room, this.#arena.length);
        this.#arena = grown(this.#arena, enough);
        this.#arenaKeys = grown(this.#arenaKeys, enough);
      }
    }
    const start = this.#arenaEnd;
    this.#arenaEnd += room;
    return start;
  }

  /** Packs all blocks without holes, with an eighth more space than requested. */
  #pack(asked: number): void {
    const held = this.#arenaEnd - this.#holes + asked;
    const pages = new Uint32Array(held + (held >>> 3));
    const keys = new Float64Array(pages.length);
    let end = 0;
    const move = (from: number, room: number) => {
      pages.set(this.#arena.subarray(from, from + room), end);
      keys.set(this.#arenaKeys.subarray(from, from + room), end);
      end += room;
      return end - room;
    };
    for (let host = 0; host < this.#starts.length; host++) {
      const blocks = this.#blocks.get(host);
      if (blocks === undefined) this.#starts[host] = move(this.#starts[host], this.#rooms[host]);
      else {
        for (let i = 0; i < blocks.length; i++) blocks[i] = move(blocks[i], BLOCK);
        this.#starts[host] = blocks[0];
      }
    }
    this.#arena = pages;
    this.#arenaKeys = keys;
    this.#arenaEnd = end;
    this.#holes = 0;
  }

  #rise(host: number, blocks: number[] | undefined, from: number, page: number, key: number): void {
    let index = from;
    while (index > 0) {
      const parent = Math.floor((index - 1) / ARITY);
      const above = this.#at(host, blocks, parent);
      if (this.#arenaKeys[above] <= key) break;
      this.#put(this.#at(host, blocks, index), index, this.#arena[above], this.#arenaKeys[above]);
      index = parent;
    }
    this.#put(this.#at(host, blocks, index), index, page, key);
  }

  #sink(host: number, blocks: number[] | undefined, from: number, page: number, key: number): void {
    const keys = this.#arenaKeys;
    const size = this.#sizes[host];
    let index = from;
    for (;;) {
      const first = ARITY * index + 1;
      if (first >= size) break;
      let child = first;
      let below = this.#at(host, blocks, first);
      for (let other = first + 1; other < Math.min(first + ARITY, size); other++) {
        const candidate = this.#at(host, blocks, other);
        if (keys[candidate] < keys[below]) {
          below = candidate;
          child = other;
        }
      }
      if (keys[below] >= key) break;
      this.#put(this.#at(host, blocks, index), index, this.#arena[below], keys[below]);
      index = child;
    }
    this.#put(this.#at(host, blocks, index), index, page, key);
  }

  #put(at: number, index: number, page: number, key: number): void {
    this.#arena[at] = page;
    this.#arenaKeys[at] = key;
    this.#places[page] = index + 1;
  }

  /** Moves the host to its place among the hosts, by its earliest page. */
  #placeHost(host: number): void {
    const place = this.#hostPlaces[host];
    if (place === HELD) return;
    if (this.#sizes[host] === 0) {
      this.#dropHost(host);
      return;
    }
    const key = this.#arenaKeys[this.#starts[host]];
    if (place !== 0 && this.#hostKeys[host] === key) return;
    this.#hostKeys[host] = key;
    if (place === 0) this.#riseHost(this.#hostCount++, host);
    else this.#settleHost(place - 1, host);
  }

  #dropHost(host: number): void {
    const place = this.#hostPlaces[host];
    if (place === 0) return;
    this.#hostPlaces[host] = 0;
    const last = this.#hostHeap[--this.#hostCount];
    if (last !== host) this.#settleHost(place - 1, last);
  }

  #settleHost(index: number, host: number): void {
    const above = index === 0 ? -1 : this.#hostHeap[Math.floor((index - 1) / ARITY)];
    if (above !== -1 && this.#hostKeys[host] < this.#hostKeys[above]) this.#riseHost(index, host);
    else this.#sinkHost(index, host);
  }

  #riseHost(from: number, host: number): void {
    const key = this.#hostKeys[host];
    let index = from;
    while (index > 0) {
      const parent = Math.floor((index - 1) / ARITY);
      const above = this.#hostHeap[parent];
      if (this.#hostKeys[above] <= key) break;
      this.#putHost(index, above);
      index = parent;
    }
    this.#putHost(index, host);
  }

  #sinkHost(from: number, host: number): void {
    const key = this.#hostKeys[host];
    let index = from;
    for (;;) {
      const first = ARITY * index + 1;
      if (first >= this.#hostCount) break;
      let child = first;
      for (let other = first + 1; other < Math.min(first + ARITY, this.#hostCount); other++) {
        if (this.#hostKeys[this.#hostHeap[other]] < this.#hostKeys[this.#hostHeap[child]]) child = other;
      }
      const below = this.#hostHeap[child];
      if (this.#hostKeys[below] >= key) break;
      this.#putHost(index, below);
      index = child;
    }
    this.#putHost(index, host);
  }

  #putHost(index: number, host: number): void {
    this.#hostHeap[index] = host;
    this.#hostPlaces[host] = index + 1;
  }
}
