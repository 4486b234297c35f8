/**
 * Decodes the chunked coding (RFC 9112 section 7.1) from pieces that may be cut anywhere. Chunk extensions and trailers
 * are ignored, and line ends may be a bare LF. Anything else that differs from the standard is malformed. Keeps no
 * bytes.
 */

const SIZE = 0;
const EXTENSION = 1;
const SIZE_LF = 2;
const DATA = 3;
const DATA_END = 4;
const DATA_LF = 5;
const TRAILER = 6;
const TRAILER_LINE = 7;
const TRAILER_LF = 8;
const DONE = 9;
const MALFORMED = 10;

const LF = 10;
const CR = 13;
/** The limit of a size line with its extensions, and of all trailers together. */
const MOST_LINE = 16 * 1024;
const MOST_TRAILER = 64 * 1024;

/** Receives a body. When settled, it wants no more. */
export interface BodySink {
  onData(chunk: Buffer): unknown;
  readonly isSettled: boolean;
}

export class Http1Chunks {
  private state = SIZE;
  private left = 0;
  private digits = 0;
  private lineBytes = 0;

  begin(): void {
    this.state = SIZE;
    this.left = 0;
    this.digits = 0;
    this.lineBytes = 0;
  }

  get isDone(): boolean {
    return this.state === DONE;
  }

  get isMalformed(): boolean {
    return this.state === MALFORMED;
  }

  /**
   * Passes the data on until the sink wants no more, and returns the position that it reached: after the body when it
   * is done.
   */
  feed(bytes: Buffer, from: number, end: number, sink: BodySink): number {
    let at = from;
    while (at < end && this.state < DONE) {
      if (this.state !== DATA) {
        this.step(bytes[at]);
        at += 1;
        continue;
      }
      const stop = Math.min(end, at + this.left);
      this.left -= stop - at;
      if (this.left === 0) this.state = DATA_END;
      sink.onData(bytes.subarray(at, stop));
      at = stop;
      if (sink.isSettled) return at;
    }
    return at;
  }

  private step(byte: number): void {
    switch (this.state) {
      case SIZE:
        this.readSize(byte);
        break;
      case EXTENSION:
        if (byte === CR) this.state = SIZE_LF;
        else if (byte === LF) this.endSize();
        else this.count(MOST_LINE);
        break;
      case SIZE_LF:
        if (byte === LF) this.endSize();
        else this.state = MALFORMED;
        break;
      case DATA_END:
      case DATA_LF:
        if (byte === LF) this.begin();
        else this.state = byte === CR && this.state === DATA_END ? DATA_LF : MALFORMED;
        break;
      case TRAILER:
        if (byte === LF) this.state = DONE;
        else if (byte === CR) this.state = TRAILER_LF;
        else {
          this.state = TRAILER_LINE;
          this.count(MOST_TRAILER);
        }
        break;
      case TRAILER_LINE:
        if (byte === LF) this.state = TRAILER;
        else this.count(MOST_TRAILER);
        break;
      case TRAILER_LF:
        this.state = byte === LF ? DONE : MALFORMED;
        break;
    }
  }

  private readSize(byte: number): void {
    const digit = hexDigit(byte);
    if (digit >= 0) {
      this.digits += 1;
      this.left = this.left * 16 + digit;
      if (this.left > Number.MAX_SAFE_INTEGER) this.state = MALFORMED;
      else this.count(MOST_LINE);
    } else if (this.digits === 0) this.state = MALFORMED;
    else if (byte === LF) this.endSize();
    else if (byte === CR) this.state = SIZE_LF;
    else if (byte === 0x3b || byte === 0x20 || byte === 0x09) this.state = EXTENSION;
    else this.state = MALFORMED;
  }

  private endSize(): void {
    this.lineBytes = 0;
    this.state = this.left === 0 ? TRAILER : DATA;
  }

  private count(most: number): void {
    this.lineBytes += 1;
    if (this.lineBytes > most) this.state = MALFORMED;
  }
}

function hexDigit(byte: number): number {
  if (byte >= 48 && byte <= 57) return byte - 48;
  const letter = byte | 0x20;
  return letter >= 97 && letter <= 102 ? letter - 87 : -1;
}
