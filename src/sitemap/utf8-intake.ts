/**
 * Gives a document's bytes as UTF-8 without a byte order mark. The encoding is that of the byte order mark; otherwise
 * UTF-16 if the first two bytes can be nothing else; otherwise that of the Content-Type; otherwise of the XML
 * declaration; otherwise UTF-8. A declaration that the bytes contradict (UTF-16, in a declaration that could be read)
 * is ignored and reported.
 */

import { TextDecoder } from 'node:util';

/** Enough for the XML declaration. */
const HEAD_BYTES = 1024;
const UTF_8 = 'utf-8';

export interface Utf8Intake {
  /** The impossible declaration; null while there is none. */
  readonly contradiction: string | null;
  push(piece: Buffer): void;
  end(): void;
}

export function createUtf8Intake(contentType: string | null, onBytes: (bytes: Buffer) => void): Utf8Intake {
  const head: Buffer[] = [];
  let headBytes = 0;
  let contradiction: string | null = null;
  let isOpen = false;
  let decoder: TextDecoder | null = null;

  function take(piece: Buffer): void {
    if (piece.length === 0) return;
    if (decoder === null) onBytes(piece);
    else onBytes(Buffer.from(decoder.decode(piece, { stream: true })));
  }

  function open(): void {
    isOpen = true;
    const first = Buffer.concat(head);
    head.length = 0;
    const { encoding, markBytes, problem } = decide(first, contentType);
    contradiction = problem;
    if (encoding !== UTF_8) decoder = new TextDecoder(encoding);
    take(first.subarray(markBytes));
  }

  return {
    get contradiction() {
      return contradiction;
    },
    push(piece) {
      if (isOpen) {
        take(piece);
        return;
      }
      // A copy, because the piece's bytes may be reused.
      head.push(Buffer.from(piece));
      headBytes += piece.length;
      if (headBytes >= HEAD_BYTES) open();
    },
    end() {
      if (!isOpen) open();
      const rest = decoder?.decode() ?? '';
      if (rest !== '') onBytes(Buffer.from(rest));
    },
  };
}

interface Decision {
  encoding: string;
  /** Length of the byte order mark, which the decoder of UTF-16 removes by itself. */
  markBytes: number;
  problem: string | null;
}

function decide(first: Buffer, contentType: string | null): Decision {
  const is = (encoding: string, markBytes = 0, problem: string | null = null) => ({
    encoding,
    markBytes,
    problem,
  });
  const [a, b, c] = first;
  if (a === 0xef && b === 0xbb && c === 0xbf) return is(UTF_8, 3);
  if (a === 0xff && b === 0xfe) return is('utf-16le');
  if (a === 0xfe && b === 0xff) return is('utf-16be');
  // `<` or a letter of `http`, as two bytes.
  if (a === 0 && (b === 0x3c || b === 0x68)) return is('utf-16be');
  if (b === 0 && (a === 0x3c || a === 0x68)) return is('utf-16le');
  const sent = /;\s*charset\s*=\s*"?([^\s;"]+)/i.exec(contentType ?? '')?.[1];
  const declared = /^\s*<\?xml[^>]*\sencoding\s*=\s*["']([^"']{1,40})["']/.exec(
    first.toString('latin1', 0, 512),
  )?.[1];
  let problem: string | null = null;
  for (const label of [sent, declared]) {
    if (label === undefined) continue;
    const encoding = encodingOf(label);
    // It was read byte by byte up to here, so it cannot be an encoding of two bytes per character.
    if (encoding !== null && !encoding.startsWith('utf-16')) return is(encoding, 0, problem);
    problem ??= `the encoding "${label}" that it names is not the one it has, read as UTF-8`;
  }
  return is(UTF_8, 0, problem);
}

function encodingOf(label: string): string | null {
  try {
    return new TextDecoder(label).encoding;
  } catch {
    return null;
  }
}
