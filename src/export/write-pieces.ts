/**
 * Writes what a generator yields to any Writable: standard output, a file, the answer of a server. It waits while the
 * reader is slow, so that a list of any length needs no memory, and it leaves the stream open. When the reader goes away
 * it stops reading and throws.
 */
import type { Writable } from 'node:stream';

export type Pieces = AsyncIterable<string | Uint8Array>;

const CHARS_A_WRITE = 16 * 1024;

export async function writePieces(pieces: Pieces, out: Writable): Promise<void> {
  let pending = '';
  for await (const piece of pieces) {
    if (typeof piece !== 'string') {
      await write(out, pending);
      pending = '';
      await write(out, piece);
      continue;
    }
    pending += piece;
    if (pending.length < CHARS_A_WRITE) continue;
    await write(out, pending);
    pending = '';
  }
  await write(out, pending);
}

async function write(out: Writable, piece: string | Uint8Array): Promise<void> {
  if (piece.length === 0) return;
  if (out.destroyed) throw out.errored ?? closedError();
  if (!out.write(piece)) await drained(out);
}

function drained(out: Writable): Promise<void> {
  return new Promise((resolve, reject) => {
    const settle = (act: () => void) => () => {
      out.off('drain', onDrain).off('close', onClose).off('error', onError);
      act();
    };
    let failure: unknown = null;
    const onDrain = settle(resolve);
    const onClose = settle(() => reject(failure ?? closedError()));
    const onError = (error: unknown) => {
      failure = error;
      settle(() => reject(error))();
    };
    out.on('drain', onDrain).on('close', onClose).on('error', onError);
  });
}

/** As node:stream says it, so that who waits for a reader that went away knows it by its code. */
function closedError(): Error {
  return Object.assign(new Error('the stream was closed before all was written'), {
    code: 'ERR_STREAM_PREMATURE_CLOSE',
  });
}
