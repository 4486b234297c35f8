/**
 * Unpacks gzip (or brotli) as it arrives and passes on what is unpacked, one piece at a time, so that neither the
 * packed nor the unpacked whole is ever in memory. The receiver may end it at any moment: a zip bomb is then unpacked
 * no further. A stream that is cut passes on everything that could be unpacked before it reports the problem. Bytes
 * after the end that are no gzip are ignored.
 */
import { constants, createBrotliDecompress } from 'node:zlib';
import { GzipMembers } from './gzip-members.ts';

const PIECE_BYTES = 64 * 1024;

export interface GzipUnpacker {
  push(packed: Uint8Array): Promise<void>;
  /** Null if the stream was complete, otherwise the problem. */
  end(): Promise<string | null>;
}

/** `onPiece` returns whether it wants more, or a promise that resolves when it does. */
export function createGzipUnpacker(
  onPiece: (piece: Buffer) => boolean | Promise<void>,
  coding: 'gzip' | 'br' = 'gzip',
): GzipUnpacker {
  const gunzip =
    coding === 'gzip' ? new GzipMembers(PIECE_BYTES) : createBrotliDecompress({ chunkSize: PIECE_BYTES });
  let failure: string | null = null;
  let isOver = false;
  let isEnded = false;
  let settle: (() => void) | null = null;

  /** Waits until the stream has done its work, has failed, or is not wanted any more. */
  function until(ask: (done: () => void) => void): Promise<void> {
    if (isOver) return Promise.resolve();
    return new Promise((resolve) => {
      settle = resolve;
      ask(resolve);
    });
  }

  function finish(message: string | null): void {
    if (isOver) return;
    isOver = true;
    failure = message;
    settle?.();
  }

  gunzip.on('data', (piece: Buffer) => {
    if (isOver) return;
    const isWanted = onPiece(piece);
    if (isWanted === true) return;
    if (isWanted !== false) {
      gunzip.pause();
      void isWanted.then(() => gunzip.resume());
      return;
    }
    finish(null);
    gunzip.destroy();
  });
  gunzip.on('error', (error: Error) => finish(error.message));
  gunzip.on('end', () => finish(null));

  return {
    push: (packed) => until((done) => gunzip.write(packed, () => done())),
    async end() {
      if (isEnded) return failure;
      isEnded = true;
      // The stream must pass on the rest before it notices that its end is missing.
      await until((done) => {
        if (gunzip instanceof GzipMembers) gunzip.flush(done);
        else gunzip.flush(constants.BROTLI_OPERATION_FLUSH, done);
      });
      await until((done) => {
        gunzip.once('close', done);
        gunzip.end();
      });
      gunzip.destroy();
      return failure;
    },
  };
}
