import { OpenElements } from './open-elements.ts';

/** The tags of a page outside special elements, and the open elements after them, on demand. */
export function createTagLog() {
  let hashes = new Int32Array(4096);
  let ends = new Uint8Array(4096);
  let count = 0;
  let replayed = 0;
  const open = new OpenElements();
  return {
    reset(): void {
      count = replayed = 0;
      open.reset(false);
    },
    log(hash: number, isEnd: number): void {
      if (count === hashes.length) {
        const moreHashes = new Int32Array(count * 2);
        moreHashes.set(hashes);
        hashes = moreHashes;
        const moreEnds = new Uint8Array(count * 2);
        moreEnds.set(ends);
        ends = moreEnds;
      }
      hashes[count] = hash;
      ends[count++] = isEnd;
    },
    elements(): OpenElements {
      for (; replayed < count; replayed++) {
        if (ends[replayed] === 1) open.end(hashes[replayed]);
        else open.start(hashes[replayed]);
      }
      open.reconstruct();
      return open;
    },
  };
}
