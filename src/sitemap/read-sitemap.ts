/**
 * Reads one sitemap from its bytes, whatever it is: urlset, index, text, RSS or Atom; packed by gzip or not, which its
 * first bytes decide and not its name; in any encoding. Passes on entries one by one. Before it: a fetched body, or a
 * part of one. After it: whoever decides which entries count.
 *
 * Promises an outcome for any bytes, never an exception, and memory that does not depend on their number: it holds one
 * entry and one unfinished tag. Never fetches anything: no entity, include or stylesheet.
 */
import { EntryReader } from './entry-reader.ts';
import { LineReader } from './line-reader.ts';
import type { SitemapEntry, SitemapKind, SitemapOutcome, SitemapProblem } from './sitemap-outcome.ts';
import { createGzipUnpacker, type GzipUnpacker } from './unpack-gzip.ts';
import { createUtf8Intake } from './utf8-intake.ts';
import { XmlScanner } from './xml-scanner.ts';

export interface SitemapReaderOptions {
  /** The URL that it was fetched from. */
  url: string;
  /** Content-Type as sent; only its charset counts. */
  contentType: string | null;
  /** The most bytes that are read, after unpacking. */
  maxBytes: number;
  onEntry: (entry: SitemapEntry, kind: SitemapKind) => void;
  /** Called while a packed piece is read, which may become a thousand times as large: a promise pauses the reading. */
  hold?: () => Promise<void> | null;
}

export interface SitemapReader {
  /** False if no more is to be read. The bytes may be reused when it resolves. */
  push(bytes: Uint8Array): Promise<boolean>;
  end(): Promise<SitemapOutcome>;
}

/** One document, in UTF-8. */
interface Document {
  readonly kind: SitemapKind | null;
  readonly problem: SitemapProblem | null;
  readonly entries: number;
  readonly dropped: number;
  readonly isDone: boolean;
  push(bytes: Buffer): void;
  end(): void;
}

/** By its first two bytes (RFC 1952). */
export function isGzip(bytes: Uint8Array): boolean {
  return bytes[0] === 0x1f && bytes[1] === 0x8b;
}

export function readSitemap(options: SitemapReaderOptions): SitemapReader {
  const { maxBytes } = options;
  let document: Document | null = null;
  let unpacker: GzipUnpacker | null = null;
  let isBegun = false;
  let isEnough = false;
  let bytesRead = 0;
  let problem: SitemapProblem | null = null;
  let firstBytes = Buffer.alloc(0);

  const intake = createUtf8Intake(options.contentType, (bytes) => {
    document ??= openDocument(bytes, options);
    if (document === null || isEnough) return;
    document.push(bytes);
    if (document.isDone) isEnough = true;
  });

  /** Takes unpacked bytes; returns whether more is wanted. */
  function take(piece: Buffer): boolean {
    if (isEnough) return false;
    const room = maxBytes - bytesRead;
    bytesRead += Math.min(piece.length, room);
    intake.push(piece.length > room ? piece.subarray(0, room) : piece);
    if (piece.length > room) {
      problem = { trouble: 'too-large', detail: `more than ${maxBytes} bytes` };
      isEnough = true;
    }
    return !isEnough;
  }

  async function pass(bytes: Buffer): Promise<void> {
    if (!isBegun) {
      isBegun = true;
      if (isGzip(bytes)) unpacker = createGzipUnpacker((piece) => take(piece) && (options.hold?.() ?? true));
    }
    if (unpacker === null) take(bytes);
    else await unpacker.push(bytes);
  }

  return {
    async push(bytes) {
      if (isEnough || bytes.length === 0) return !isEnough;
      let piece = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
      if (!isBegun && (firstBytes.length > 0 || piece.length < 2)) {
        firstBytes = Buffer.concat([firstBytes, piece]);
        if (firstBytes.length < 2) return true;
        piece = firstBytes;
      }
      await pass(piece);
      return !isEnough;
    },
    async end() {
      if (!isBegun && firstBytes.length > 0) await pass(firstBytes);
      const broken = (await unpacker?.end()) ?? null;
      if (broken !== null) problem ??= { trouble: 'gzip', detail: `broken gzip: ${broken}` };
      if (!isEnough || problem?.trouble === 'too-large') {
        intake.end();
        document?.end();
      }
      const { contradiction } = intake;
      return outcomeOf(document, problem, contradiction, bytesRead);
    },
  };
}

/** Why it was cut says more than that it is cut. A problem of its encoding comes last. */
function outcomeOf(
  document: Document | null,
  problem: SitemapProblem | null,
  contradiction: string | null,
  bytes: number,
): SitemapOutcome {
  const empty: SitemapProblem = { trouble: 'empty', detail: 'nothing in it' };
  const charset: SitemapProblem | null =
    contradiction === null ? null : { trouble: 'charset', detail: contradiction };
  if (document === null) return { kind: null, problem: problem ?? empty, entries: 0, dropped: 0, bytes };
  const { kind, entries, dropped } = document;
  const own = document.problem;
  const first = kind === null ? (own ?? problem) : (problem ?? own);
  return { kind, problem: first ?? charset, entries, dropped, bytes };
}

/** By its first character that is no white space; null while there is none. */
function openDocument(bytes: Buffer, options: SitemapReaderOptions): Document | null {
  const start = bytes.findIndex((byte) => byte > 0x20 || byte === 0);
  if (start === -1) return null;
  if (bytes.subarray(start, start + 512).includes(0)) return binaryDocument();
  return bytes[start] === 0x3c ? xmlDocument(options) : textDocument(options);
}

function binaryDocument(): Document {
  return {
    kind: null,
    problem: { trouble: 'binary', detail: 'bytes that are no text' },
    entries: 0,
    dropped: 0,
    isDone: true,
    push() {},
    end() {},
  };
}

function xmlDocument(options: SitemapReaderOptions): Document {
  const reader = new EntryReader(options);
  const scanner = new XmlScanner(reader);
  let broken: SitemapProblem | null = null;
  return {
    get kind() {
      return reader.kind;
    },
    get problem() {
      return broken ?? reader.problem;
    },
    get entries() {
      return reader.entries;
    },
    get dropped() {
      return reader.dropped;
    },
    get isDone() {
      return reader.isDone || broken !== null;
    },
    push(bytes) {
      if (scanner.push(bytes) === 'overlong-tag')
        broken = { trouble: 'broken', detail: 'a tag that does not end' };
    },
    end() {
      reader.end(scanner.unfinished);
    },
  };
}

function textDocument({ onEntry }: SitemapReaderOptions): Document {
  const reader = new LineReader(onEntry);
  return {
    get kind() {
      return reader.entries > 0 ? ('text' as const) : null;
    },
    get problem() {
      return reader.problem;
    },
    get entries() {
      return reader.entries;
    },
    get dropped() {
      return reader.dropped;
    },
    get isDone() {
      return reader.isDone;
    },
    push: (bytes) => reader.push(bytes),
    end: () => reader.end(),
  };
}
