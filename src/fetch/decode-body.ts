/**
 * Decodes the content encodings of a complete body. The synchronous zlib calls cost less than half the CPU of streams,
 * and they enforce the limit on decoded bytes themselves, so a zip bomb is stopped before it is unpacked. A truncated
 * stream gives what could be decoded, as in browsers; bytes after the end of a stream are ignored. Never throws: a
 * broken body is an answer.
 */
import * as zlib from 'node:zlib';
import { beginsGzip, gzipHeaderEnd } from '../primitives/gzip-header.ts';

export type Decoded = { bytes: Uint8Array } | { failure: 'decode' | 'too-large'; message: string };

type Decoder = (bytes: Uint8Array, maxBytes: number) => Uint8Array;

const MOST_CODINGS = 4;
/** A body with more members is an attempt to keep us busy. */
const MOST_MEMBERS = 1000;
/** Checksum and size after each member of a gzip file. */
const TRAILER_BYTES = 8;

/** zstd came with Node 22.15. Older versions neither offer nor decode it. */
const zstd = zlib as typeof zlib & {
  zstdDecompressSync?: (
    bytes: Uint8Array,
    options: { maxOutputLength: number; finishFlush: number },
  ) => Buffer;
};
const zstdConstants = zlib.constants as typeof zlib.constants & { ZSTD_e_flush?: number };

const decoders: Record<string, Decoder | 'unknown'> = {
  gzip: gunzip,
  'x-gzip': gunzip,
  deflate: inflate,
  br: (bytes, maxBytes) =>
    zlib.brotliDecompressSync(bytes, {
      maxOutputLength: maxBytes,
      chunkSize: guessChunk(bytes.length),
      finishFlush: zlib.constants.BROTLI_OPERATION_FLUSH,
    }),
  zstd: zstd.zstdDecompressSync
    ? (bytes, maxBytes) =>
        zstd.zstdDecompressSync!(bytes, {
          maxOutputLength: maxBytes,
          finishFlush: zstdConstants.ZSTD_e_flush ?? 0,
        })
    : 'unknown',
  compress: 'unknown',
  'x-compress': 'unknown',
  dcb: 'unknown',
  dcz: 'unknown',
};

export const acceptEncoding = zstd.zstdDecompressSync ? 'gzip, deflate, br, zstd' : 'gzip, deflate, br';

/**
 * The encodings to decode, the last applied first. Words that name no encoding (servers do send `utf-8` and `none`)
 * leave the bytes as they are.
 */
export function codingsOf(contentEncoding: string | null): string[] {
  if (contentEncoding === null) return [];
  return contentEncoding
    .toLowerCase()
    .split(',')
    .map((token) => token.trim())
    .filter((token) => decoders[token] !== undefined)
    .reverse();
}

/** Whether the receiver of the body can decode it in pieces. */
export function isStreamable(codings: readonly string[]): boolean {
  return codings.length === 0 || (codings.length === 1 && /^(?:x-)?gzip$|^br$/.test(codings[0]));
}

export function decodeBody(wire: Uint8Array, codings: string[], maxBytes: number): Decoded {
  if (codings.length > MOST_CODINGS)
    return { failure: 'decode', message: `${codings.length} content encodings` };
  let bytes = wire;
  for (const coding of codings) {
    const decoder = decoders[coding];
    if (decoder === 'unknown') return { failure: 'decode', message: `content encoding ${coding}` };
    if (bytes.length === 0) break;
    try {
      // zlib refuses a limit of 0; the length is checked again below.
      bytes = decoder(bytes, Math.max(maxBytes, 1));
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException;
      if (code === 'ERR_BUFFER_TOO_LARGE') return { failure: 'too-large', message: tooLarge(maxBytes) };
      return { failure: 'decode', message: `${coding}: ${message}` };
    }
  }
  return bytes.length > maxBytes ? { failure: 'too-large', message: tooLarge(maxBytes) } : { bytes };
}

export function tooLarge(maxBytes: number): string {
  return `more than ${maxBytes} bytes`;
}

/**
 * Some servers send line ends, text or zeros after the packed bytes. zlib takes everything but zeros for a broken
 * member.
 */
function gunzip(bytes: Uint8Array, maxBytes: number): Uint8Array {
  try {
    return gunzipWhole(bytes, maxBytes);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'Z_DATA_ERROR') throw error;
    const end = endOfGzip(bytes, maxBytes);
    if (end === 0 || end >= bytes.length) throw error;
    return gunzipWhole(bytes.subarray(0, end), maxBytes);
  }
}

/** The end of the consecutive members that can be unpacked. Their content is not checked here. */
function endOfGzip(bytes: Uint8Array, maxBytes: number): number {
  let end = 0;
  for (let members = 0; beginsGzip(bytes, end); members++) {
    if (members === MOST_MEMBERS) return 0;
    const start = gzipHeaderEnd(bytes, end);
    if (start === null) return 0;
    const options = { info: true, maxOutputLength: maxBytes, finishFlush: zlib.constants.Z_SYNC_FLUSH };
    // With `info` it also returns the engine, whose count of bytes ends with the packed data.
    const { engine } = zlib.inflateRawSync(bytes.subarray(start), options) as unknown as {
      engine: zlib.Gunzip;
    };
    end = start + engine.bytesWritten + TRAILER_BYTES;
  }
  return end;
}

function gunzipWhole(bytes: Uint8Array, maxBytes: number): Uint8Array {
  return zlib.gunzipSync(bytes, {
    maxOutputLength: maxBytes,
    chunkSize: gzipChunk(bytes),
    finishFlush: zlib.constants.Z_SYNC_FLUSH,
  });
}

function inflate(bytes: Uint8Array, maxBytes: number): Uint8Array {
  const options = {
    maxOutputLength: maxBytes,
    chunkSize: guessChunk(bytes.length),
    finishFlush: zlib.constants.Z_SYNC_FLUSH,
  };
  // RFC 9110 section 8.4.1.2 means zlib; many servers send raw deflate. The zlib header has a check of its own.
  const isZlib = (bytes[0] & 0x0f) === 8 && ((bytes[0] << 8) | bytes[1]) % 31 === 0;
  return isZlib ? zlib.inflateSync(bytes, options) : zlib.inflateRawSync(bytes, options);
}

/** A gzip file ends with its decoded size (RFC 1952 section 2.3.1). One chunk of that size avoids joining many. */
function gzipChunk(bytes: Uint8Array): number {
  const end = bytes.length;
  if (end < 18) return 4096;
  const size = bytes[end - 4] | (bytes[end - 3] << 8) | (bytes[end - 2] << 16) | (bytes[end - 1] << 24);
  // The number may be wrong, or random in a truncated body.
  return size > 0 && size <= 1 << 20 && size >= end >> 1 ? Math.max(size + 1, 4096) : guessChunk(end);
}

function guessChunk(wireLength: number): number {
  return Math.min(Math.max(wireLength * 4, 4096), 256 * 1024);
}
