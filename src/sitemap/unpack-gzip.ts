/**
 * Unpacks gzip (or what a server packed by brotli) as it comes and hands on what is unpacked so far, a piece at a time, so that neither the packed nor the
 * unpacked whole is ever in memory. Who takes the pieces may have enough at any moment: a bomb is then unpacked no
 * further. A stream that breaks off has given everything that could be unpacked before it says so; bytes behind the end that are
 * no gzip are passed over.
 */
import { constants, createBrotliDecompress } from 'node:zlib';
import { GzipMembers } from './gzip-members.ts';

const PIECE_BYTES = 64 * 1024;

export interface GzipUnpacker {
  push(packed: Uint8Array): Promise<void>;
  /** Null when the stream was whole, else what was wrong with it. */
  end(): Promise<string | null>;
}

/** `onPiece` answers whether it wants more, or with a promise when it wants more only then. */
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

  /** Waits until the stream has done what it was asked, has failed, or is not wanted any more. */
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
      // What the stream still has must be out before it finds that its end is missing.
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
