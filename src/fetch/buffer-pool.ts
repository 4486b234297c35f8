/**
 * Byte buffers that are reused, so that a body costs a copy and no allocation. Sizes are powers of two. The pool keeps
 * a bounded number of bytes, and never a buffer over 1 MB. A buffer holds whatever its last user wrote.
 */

const SMALLEST = 16 * 1024;
const LARGEST_KEPT = 1024 * 1024;

export interface BufferPool {
  /** A buffer of at least `size` bytes. */
  acquire(size: number): Uint8Array;
  /** Gives a buffer back; the caller must not touch it again. */
  release(bytes: Uint8Array): void;
  /** Bytes in the pool. */
  keptBytes(): number;
}

export function createBufferPool(keepAtMostBytes = 32 * 1024 * 1024): BufferPool {
  const free: Uint8Array[][] = [];
  let kept = 0;

  return {
    acquire(size) {
      const wanted = classOf(size);
      // The next larger size is taken, too: the bodies of a site differ in size, and a new buffer costs page faults.
      const bytes = free[wanted]?.pop() ?? free[wanted + 1]?.pop();
      if (bytes === undefined) return new Uint8Array(SMALLEST * 2 ** wanted);
      kept -= bytes.length;
      return bytes;
    },
    release(bytes) {
      if (bytes.length > LARGEST_KEPT || kept + bytes.length > keepAtMostBytes) return;
      const own = classOf(bytes.length);
      free[own] ??= [];
      free[own].push(bytes);
      kept += bytes.length;
    },
    keptBytes: () => kept,
  };
}

function classOf(size: number): number {
  return size <= SMALLEST ? 0 : 32 - Math.clz32(Math.ceil(size / SMALLEST) - 1);
}
