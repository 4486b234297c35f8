/**
 * The body of an answer in pieces, as they arrive and after decoding. Before it: the fetcher. After it: the reader of
 * the sitemap.
 *
 * Unread pieces wait here, up to half a megabyte; then the sender has to wait. But if the reader stands still (it may
 * wait for something that this request blocks), everything is taken in. Encodings are decoded as the body is read, so a
 * zip bomb is unpacked no further than that.
 */
import type { Clock } from '../primitives/clock.ts';
import { createGzipUnpacker } from './unpack-gzip.ts';

/** With gzip, such a piece becomes at most a thousand times as large. */
const PACKED_BYTES = 8 * 1024;
/** With brotli, a few bytes may be gigabytes of zeros: unpacking pauses while so many pieces wait. */
const MOST_UNPACKED = 4;
/** Above the first number the sender has to wait, until no more than the second is left. */
const MOST_WAITING = 512 * 1024;
const FEW_WAITING = 128 * 1024;
/** A reader that takes nothing for so long waits for something else. */
const STANDSTILL_MS = 1000;

export interface PieceQueue {
  /** Resolves when the first piece is here, or when it is known that none comes. */
  readonly begun: Promise<void>;
  readonly isEmpty: boolean;
  /** Takes a copy. Returns false if no more is wanted, or a promise if the sender has to wait. */
  push(bytes: Uint8Array): boolean | Promise<void>;
  end(): void;
  /** Call it once. Leaving the loop early ends the body. */
  read(contentEncoding: string | null): AsyncGenerator<Uint8Array, void>;
}

export function createPieceQueue(after: Clock['after']): PieceQueue {
  const waiting: Uint8Array[] = [];
  const sender = createSenderHold(after);
  let waitingBytes = 0;
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
        if (piece !== undefined) {
          waitingBytes -= piece.length;
          sender.taken(waitingBytes <= FEW_WAITING);
          yield piece;
        } else if (isOver) return;
        else
          await new Promise<void>((resolve) => {
            wake = resolve;
          });
      }
    } finally {
      isWanted = false;
      waiting.length = 0;
      sender.letGo();
    }
  }

  return {
    begun,
    get isEmpty() {
      return waiting.length === 0;
    },
    push(bytes) {
      if (isWanted) {
        waiting.push(Buffer.from(bytes));
        waitingBytes += bytes.length;
      }
      begin();
      wake();
      return isWanted && waitingBytes > MOST_WAITING ? sender.hold() : isWanted;
    },
    end() {
      isOver = true;
      sender.letGo();
      begin();
      wake();
    },
    read(contentEncoding) {
      const coding = contentEncoding?.trim().toLowerCase() ?? '';
      if (coding === 'br') return unpacked(wirePieces(), 'br');
      // Some servers name gzip and send plain bytes.
      const isPacked = /^(?:x-)?gzip$/.test(coding) && waiting[0]?.[0] === 0x1f;
      return isPacked ? unpacked(wirePieces(), 'gzip') : wirePieces();
    },
  };
}

/** Makes the sender wait while somebody reads. */
function createSenderHold(after: Clock['after']) {
  let held: { promise: Promise<void>; release: () => void } | null = null;
  let cancel: () => void = () => {};
  let isReading = true;
  let isTaken = false;

  function letGo(): void {
    cancel();
    held?.release();
    held = null;
  }

  function watch(): void {
    isTaken = false;
    cancel = after(STANDSTILL_MS, () => {
      if (isTaken) return watch();
      isReading = false;
      letGo();
    });
  }

  return {
    letGo,
    hold(): Promise<void> | true {
      if (!isReading) return true;
      if (held === null) {
        let release: () => void = () => {};
        const promise = new Promise<void>((resolve) => {
          release = resolve;
        });
        held = { promise, release };
        watch();
      }
      return held.promise;
    },
    taken(isEnough: boolean): void {
      isTaken = true;
      if (isEnough && held !== null) letGo();
    },
  };
}

/** A body that is cut, or not packed at all, gives what could be unpacked. */
async function* unpacked(
  pieces: AsyncGenerator<Uint8Array, void>,
  coding: 'gzip' | 'br',
): AsyncGenerator<Uint8Array, void> {
  let ready: Uint8Array[] = [];
  let [isWanted, isEnding] = [true, false];
  let wake = () => {};
  let goOn = () => {};
  const unpacker = createGzipUnpacker((piece) => {
    if (!isWanted) return false;
    ready.push(piece);
    wake();
    if (coding === 'gzip' || isEnding || ready.length < MOST_UNPACKED) return true;
    return new Promise<void>((resolve) => {
      goOn = resolve;
    });
  }, coding);
  const take = () => {
    const taken = ready;
    ready = [];
    goOn();
    return taken;
  };
  try {
    for await (const piece of pieces) {
      for (let at = 0; at < piece.length; at += PACKED_BYTES) {
        let isDone = false;
        void unpacker.push(piece.subarray(at, at + PACKED_BYTES)).then(() => {
          isDone = true;
          wake();
        });
        while (!isDone || ready.length > 0) {
          yield* take();
          if (isDone || ready.length > 0) continue;
          await new Promise<void>((resolve) => {
            wake = resolve;
          });
        }
      }
    }
    isEnding = true;
    goOn();
    await unpacker.end();
    yield* ready;
  } finally {
    [isWanted, isEnding] = [false, true];
    goOn();
    await unpacker.end();
  }
}
