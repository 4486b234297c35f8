import { Writable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { writePieces } from './write-pieces.ts';

/** Takes a write only when `take` is called. */
function slowReader() {
  const taken: string[] = [];
  const waiting: (() => void)[] = [];
  const out = new Writable({
    highWaterMark: 1,
    write(chunk: Buffer, _, done) {
      taken.push(chunk.toString());
      waiting.push(done);
    },
  });
  return { out, taken, take: () => waiting.shift()?.() };
}

function countedPieces(count: number) {
  const made = { pieces: 0, isClosed: false };
  async function* pieces() {
    try {
      for (let n = 0; n < count; n++) {
        made.pieces++;
        yield 'x'.repeat(20_000);
      }
    } finally {
      made.isClosed = true;
    }
  }
  return { made, pieces: pieces() };
}

describe('pieces written to a stream', () => {
  it('wait while the reader is slow, and leave the stream open', async () => {
    const { out, taken, take } = slowReader();
    const { made, pieces } = countedPieces(3);
    const written = writePieces(pieces, out);
    await new Promise(setImmediate);
    expect(made.pieces).toBe(1);
    for (let n = 0; n < 3; n++) {
      take();
      await new Promise(setImmediate);
    }
    await written;
    expect(taken).toHaveLength(3);
    expect(out.writableEnded).toBe(false);
  });

  it('keep the order of text and bytes', async () => {
    const taken: Buffer[] = [];
    const out = new Writable({
      write: (chunk: Buffer, _, done) => done(void taken.push(chunk) as undefined),
    });
    async function* mixed() {
      yield 'a';
      yield 'b';
      yield Uint8Array.of(0, 255);
      yield 'c';
    }
    await writePieces(mixed(), out);
    expect(Buffer.concat(taken)).toEqual(Buffer.from([97, 98, 0, 255, 99]));
  });

  it.each([
    ['goes away', undefined, /closed before all was written/],
    ['fails', new Error('no room'), /no room/],
  ])('end, and are not read any further, when the reader %s', async (_, error, message) => {
    const { out } = slowReader();
    out.on('error', () => {});
    const { made, pieces } = countedPieces(1000);
    const written = writePieces(pieces, out);
    const failed = expect(written).rejects.toThrow(message);
    await new Promise(setImmediate);
    out.destroy(error);
    await failed;
    expect(made).toEqual({ pieces: 1, isClosed: true });
    await expect(writePieces(countedPieces(1).pieces, out)).rejects.toThrow(message);
  });
});
