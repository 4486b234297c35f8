/**
 * Standard output for results: waits while the reader is slow, and knows when the reader has gone away (`| head`). On a
 * terminal nothing that a page or a value holds may control it; elsewhere every byte stays as it is.
 */
import { sumiError } from '../../errors.ts';
import { printable } from '../../render/terminal-text.ts';

export interface ResultOutput {
  write(text: string): Promise<void>;
  /** Whether nobody reads any more. */
  isClosed(): boolean;
  /** Calls back once, when the reader goes away while nothing is written. */
  onClosed(listener: () => void): void;
  end(): void;
}

/** Of terminals that do not know how wide they are. */
const USUAL_COLUMNS = 80;

export function columnsOf(terminal: { columns?: number }): number {
  return terminal.columns || USUAL_COLUMNS;
}

/** What is thrown when the reader has gone away: not an error of the command. */
export class ReaderGone extends Error {
  override readonly name = 'ReaderGone';
}

export function createResultOutput(
  out: NodeJS.WriteStream,
  beforeWrite: () => void = () => {},
): ResultOutput {
  const toWritten = out.isTTY ? terminalText : (text: string) => text;
  let failure: Error | null = null;
  let onClosed: () => void = () => {};

  const onError = (error: NodeJS.ErrnoException) => {
    if (failure !== null) return;
    const isGone = error.code === 'EPIPE' || error.code === 'ERR_STREAM_DESTROYED';
    const details = { file: 'standard output', reason: error.message };
    failure = isGone ? new ReaderGone(error.message) : sumiError('export-unwritable', details, error);
    onClosed();
  };
  out.on('error', onError);

  function drained(): Promise<void> {
    return new Promise((resolve, reject) => {
      const settle = () => {
        out.off('drain', settle).off('error', settle).off('close', settle);
        if (failure === null && out.destroyed) failure = new ReaderGone('the stream was closed');
        if (failure === null) resolve();
        else reject(failure);
      };
      out.on('drain', settle).on('error', settle).on('close', settle);
    });
  }

  return {
    async write(text) {
      if (failure !== null) throw failure;
      if (text === '') return;
      beforeWrite();
      if (!out.write(toWritten(text))) await drained();
    },
    isClosed: () => failure !== null,
    onClosed(listener) {
      onClosed = listener;
    },
    end: () => void out.off('error', onError),
  };
}

/** Line by line, as line ends are the only control characters that a result may have there. */
function terminalText(text: string): string {
  return text.replace(/[^\n\t]+/g, printable);
}
