/**
 * Room for copies of bodies on their way to the DuckDB thread. A batch of rows has its bodies in few buffers, which come
 * back when the rows are written and are used again: bodies that each had a buffer of their own would keep the garbage
 * collector busy. It knows nothing of rows.
 */

/** One size, so that a buffer fits whoever needs one next. Larger bodies get a buffer of their own. */
const BUFFER_BYTES = 1_048_576;
const LARGE_BYTES = BUFFER_BYTES / 4;
/** The rest is given up. */
const MOST_KEPT = 32;

/** The bodies of one batch. */
export interface BodyPlace {
  copy(bytes: Uint8Array): Uint8Array;
  /** To be handed over with the batch; nobody copies here any more. */
  readonly buffers: ArrayBuffer[];
}

export interface BodyRoom {
  open(): BodyPlace;
  giveBack(buffers: readonly ArrayBuffer[]): void;
}

export function createBodyRoom(): BodyRoom {
  const free: ArrayBuffer[] = [];
  return {
    open() {
      const buffers: ArrayBuffer[] = [];
      let current: ArrayBuffer | null = null;
      let used = 0;

      function room(length: number): Uint8Array {
        if (length > LARGE_BYTES) {
          const own = new ArrayBuffer(length);
          buffers.push(own);
          return new Uint8Array(own);
        }
        if (current === null || used + length > BUFFER_BYTES) {
          current = free.pop() ?? new ArrayBuffer(BUFFER_BYTES);
          used = 0;
          buffers.push(current);
        }
        used += length;
        return new Uint8Array(current, used - length, length);
      }

      return {
        buffers,
        copy(bytes) {
          const copied = room(bytes.length);
          copied.set(bytes);
          return copied;
        },
      };
    },
    giveBack(buffers) {
      for (const buffer of buffers)
        if (buffer.byteLength === BUFFER_BYTES && free.length < MOST_KEPT) free.push(buffer);
    },
  };
}
