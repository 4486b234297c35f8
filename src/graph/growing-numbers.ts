/** Numbers of unknown count, in a typed array that grows by half: at most 2.5 times its content while it grows. */
type NumberArray = Int32Array | Uint8Array | Uint32Array;

export interface GrowingNumbers<Numbers extends NumberArray> {
  readonly length: number;
  push(value: number): void;
  /** The numbers so far: not a copy, and valid until the next push. */
  view(): Numbers;
}

export function growingNumbers<Numbers extends NumberArray>(
  make: new (length: number) => Numbers,
): GrowingNumbers<Numbers> {
  let array = new make(1024);
  let length = 0;
  return {
    get length() {
      return length;
    },
    push(value) {
      if (length === array.length) {
        const larger = new make(Math.ceil(length * 1.5));
        larger.set(array);
        array = larger;
      }
      array[length++] = value;
    },
    view: () => array.subarray(0, length) as Numbers,
  };
}
