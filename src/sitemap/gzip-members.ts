/**
 * A stream that unpacks gzip, member by member (RFC 1952), and ignores bytes after the last member that are no gzip.
 * zlib's own stream calls such bytes an error and loses what it had unpacked. Checksum and size of each member are
 * checked. A stream that is cut fails after everything that could be unpacked was passed on.
 */
import { Transform, type TransformCallback } from 'node:stream';
import * as zlib from 'node:zlib';
import { beginsGzip, gzipHeaderEnd } from '../primitives/gzip-header.ts';

const TRAILER_BYTES = 8;
const MAGIC_BYTES = 3;
/** A longer header contains names and comments that nobody needs. */
const MOST_HEADER_BYTES = 128 * 1024;
const NOTHING = Buffer.alloc(0);

export class GzipMembers extends Transform {
  private readonly chunkSize: number;
  private inflate: zlib.InflateRaw | null = null;
  /** Bytes passed to the member's engine. */
  private fed = 0;
  private checksum = 0;
  private size = 0;
  /** The beginning of a header or trailer whose end is missing. */
  private part: Buffer = NOTHING;
  private expects: 'member' | 'data' | 'trailer' | 'nothing' = 'member';
  private members = 0;

  constructor(chunkSize: number) {
    super();
    this.chunkSize = chunkSize;
  }

  override _transform(chunk: Buffer, _encoding: BufferEncoding, done: TransformCallback): void {
    const bytes = this.part.length === 0 ? chunk : Buffer.concat([this.part, chunk]);
    this.part = NOTHING;
    this.takeIn(bytes, done);
  }

  override _flush(done: TransformCallback): void {
    this.flush(() => {
      const isWhole = this.expects === 'nothing' || (this.expects === 'member' && this.members > 0);
      done(isWhole ? null : gzipError('unexpected end of file'));
    });
  }

  override _read(size: number): void {
    this.inflate?.resume();
    super._read(size);
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.inflate?.destroy();
    super._destroy(error, done);
  }

  /** Calls back when everything unpacked so far was passed on. */
  flush(done: () => void): void {
    if (this.inflate === null) done();
    else this.inflate.flush(zlib.constants.Z_SYNC_FLUSH, done);
  }

  private takeIn(bytes: Buffer, done: TransformCallback): void {
    switch (this.expects) {
      case 'member':
        this.begin(bytes, done);
        break;
      case 'data':
        this.unpack(bytes, done);
        break;
      case 'trailer':
        this.check(bytes, done);
        break;
      case 'nothing':
        done();
    }
  }

  private begin(bytes: Buffer, done: TransformCallback): void {
    const isFirst = this.members === 0;
    if (bytes.length < MAGIC_BYTES) {
      this.part = bytes;
      done();
      return;
    }
    if (!beginsGzip(bytes, 0)) {
      this.expects = 'nothing';
      done(isFirst ? gzipError('incorrect header check') : null);
      return;
    }
    const end = gzipHeaderEnd(bytes, 0);
    if (end === null) {
      this.part = bytes;
      done(bytes.length > MOST_HEADER_BYTES ? gzipError('a header without an end') : null);
      return;
    }
    this.open();
    this.takeIn(bytes.subarray(end), done);
  }

  private open(): void {
    const inflate = zlib.createInflateRaw({ chunkSize: this.chunkSize });
    [this.fed, this.checksum, this.size] = [0, 0, 0];
    this.members += 1;
    this.expects = 'data';
    this.inflate = inflate;
    inflate.on('data', (piece: Buffer) => {
      this.checksum = zlib.crc32(piece, this.checksum);
      this.size = (this.size + piece.length) >>> 0;
      if (!this.push(piece)) inflate.pause();
    });
    inflate.on('error', (error) => this.destroy(error));
  }

  private unpack(bytes: Buffer, done: TransformCallback): void {
    const inflate = this.inflate!;
    this.fed += bytes.length;
    if (bytes.length === 0) {
      done();
      return;
    }
    inflate.write(bytes, () => {
      const left = this.fed - inflate.bytesWritten;
      if (left === 0 || this.destroyed) {
        done();
        return;
      }
      // It takes no more: the member ends when all of it was passed on.
      const goOn = () => {
        inflate.destroy();
        this.inflate = null;
        this.expects = 'trailer';
        this.takeIn(bytes.subarray(bytes.length - left), done);
      };
      if (inflate.readableEnded) goOn();
      else inflate.once('end', goOn);
    });
  }

  private check(bytes: Buffer, done: TransformCallback): void {
    if (bytes.length < TRAILER_BYTES) {
      this.part = bytes;
      done();
      return;
    }
    if (bytes.readUInt32LE(0) !== this.checksum) done(gzipError('incorrect data check'));
    else if (bytes.readUInt32LE(4) !== this.size) done(gzipError('incorrect length check'));
    else {
      this.expects = 'member';
      this.takeIn(bytes.subarray(TRAILER_BYTES), done);
    }
  }
}

function gzipError(message: string): Error {
  return new Error(message);
}
