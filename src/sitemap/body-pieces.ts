/**
 * The body of an answer, in pieces: as they come, and after its content encoding was undone. What came and was not read
 * yet waits here; an encoded piece is undone a little at a time, so that a bomb is unpacked no further than it is read.
 * Before: the fetcher, which hands pieces over. After: whoever reads the sitemap.
 */
import { createGzipUnpacker } from './unpack-gzip.ts';

/** One of these unpacks to a thousand times as much at most. */
const PACKED_BYTES = 8 * 1024;

export interface PieceQueue {
  /** Resolves when the first piece is here, or it is known that none comes. */
  readonly begun: Promise<void>;
  readonly isEmpty: boolean;
  /** Takes a copy; false when nobody wants more. */
  push(bytes: Uint8Array): boolean;
  end(): void;
  /** Once; leaving it early wants no more. */
  read(contentEncoding: string | null): AsyncGenerator<Uint8Array, void>;
}

export function createPieceQueue(): PieceQueue {
  const waiting: Uint8Array[] = [];
  let isOver = false;
  let isWanted = true;
  let wake: () => void = () => {};
  let begin: () => void = () => {};
  const begun = new Promise<void>((resolve) => {
    begin = resolve;
  });

  async function* wirePieces(): AsyncGenerator<Uint8Array, void> {
    try {
      for (;;) {
        const piece = waiting.shift();
        if (piece !== undefined) yield piece;
        else if (isOver) return;
        else
          await new Promise<void>((resolve) => {
            wake = resolve;
          });
      }
    } finally {
      isWanted = false;
      waiting.length = 0;
    }
  }

  return {
    begun,
    get isEmpty() {
      return waiting.length === 0;
    },
    push(bytes) {
      if (isWanted) waiting.push(Buffer.from(bytes));
      begin();
      wake();
      return isWanted;
    },
    end() {
      isOver = true;
      begin();
      wake();
    },
    read(contentEncoding) {
      const coding = contentEncoding?.trim().toLowerCase() ?? '';
      if (coding === 'br') return unpacked(wirePieces(), 'br');
      // Some servers name gzip and send it plain.
      const isPacked = /^(?:x-)?gzip$/.test(coding) && waiting[0]?.[0] === 0x1f;
      return isPacked ? unpacked(wirePieces(), 'gzip') : wirePieces();
    },
  };
}

/** What breaks off, or is not packed at all, gives what could be unpacked. */
async function* unpacked(
  pieces: AsyncGenerator<Uint8Array, void>,
  coding: 'gzip' | 'br',
): AsyncGenerator<Uint8Array, void> {
  let ready: Uint8Array[] = [];
  let isWanted = true;
  const unpacker = createGzipUnpacker((piece) => {
    if (isWanted) ready.push(piece);
    return isWanted;
  }, coding);
  try {
    for await (const piece of pieces) {
      for (let at = 0; at < piece.length; at += PACKED_BYTES) {
        await unpacker.push(piece.subarray(at, at + PACKED_BYTES));
        yield* ready;
        ready = [];
      }
    }
    await unpacker.end();
    yield* ready;
  } finally {
    isWanted = false;
    await unpacker.end();
  }
}
