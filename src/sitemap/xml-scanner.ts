/**
 * Cuts an XML document in UTF-8 into tags and texts, as its bytes arrive.
 *
 * Promises bounded memory for any bytes: between two pieces it holds one unfinished tag or wanted text, at most 64 KiB.
 * Comments, instructions, the document type and unwanted texts are skipped without being kept. It accepts documents
 * that are not well-formed as far as they make sense. Never handles entities, nesting and namespaces: its handler does.
 * Why it is our own: docs/decisions/0025-sitemaps.md.
 */

export interface XmlHandler {
  /** Whether the next text will be read; other texts are skipped. */
  readonly wantsText: boolean;
  /** A start tag: its name, and after it its attributes. */
  open(bytes: Buffer, nameStart: number, nameEnd: number, tagEnd: number): void;
  close(bytes: Buffer, nameStart: number, nameEnd: number): void;
  text(bytes: Buffer, start: number, end: number, isCdata: boolean): void;
  /** `<!DOCTYPE name`. */
  documentType(name: string): void;
  /** No more is to be read. */
  readonly isDone: boolean;
  /** Between two elements that it may be able to read directly. */
  readonly canTake: boolean;
  /**
   * Reads what it can from `at` on; `latin1` is the same as text, one character per byte. Returns where the rest
   * begins.
   */
  take(bytes: Buffer, latin1: string, at: number): number;
}

const MOST_HELD_BYTES = 64 * 1024;
const NEAR_BYTES = 12;
const [LESS, GREATER, SLASH, BANG, QUESTION, HYPHEN] = [0x3c, 0x3e, 0x2f, 0x21, 0x3f, 0x2d];
const [DOUBLE, SINGLE, OPEN_SQUARE, CLOSE_SQUARE] = [0x22, 0x27, 0x5b, 0x5d];
const CDATA = Buffer.from('<![CDATA[');

type Mode = 'content' | 'comment' | 'instruction' | 'type' | 'cdata';

/** A position from which nothing can be decided before more bytes come. */
const MORE = -1;

export class XmlScanner {
  private readonly handler: XmlHandler;
  private room = Buffer.allocUnsafeSlow(2 * MOST_HELD_BYTES);
  private heldBytes = 0;
  private mode: Mode = 'content';
  /** Inside a document type: the open quote, and whether the brackets of the internal subset are open. */
  private quote = 0;
  private isInSubset = false;
  private isInTypeComment = false;
  /** A wanted text became too long: the rest of it is skipped. */
  private isOverlong = false;

  constructor(handler: XmlHandler) {
    this.handler = handler;
  }

  /** Markup that had begun when the document ended, such as `</lo`. */
  get unfinished(): string {
    return this.mode === 'content' ? this.room.toString('latin1', 0, Math.min(16, this.heldBytes)) : '';
  }

  /** The bytes may be reused afterwards. */
  push(piece: Buffer): 'ok' | 'overlong-tag' {
    const bytes = this.join(piece);
    const handler = this.handler;
    let at = 0;
    let latin1: string | null = null;
    while (at < bytes.length && !handler.isDone) {
      if (handler.canTake && this.mode === 'content') {
        latin1 ??= bytes.toString('latin1');
        at = handler.take(bytes, latin1, at);
        if (at === bytes.length) break;
      }
      const next = this.mode === 'content' ? this.content(bytes, at) : this.passOver(bytes, at);
      if (next === MORE) break;
      at = next;
    }
    if (handler.isDone) at = bytes.length;
    if (bytes.length - at > MOST_HELD_BYTES) {
      if (bytes[at] === LESS && this.mode === 'content') return 'overlong-tag';
      this.isOverlong = this.mode === 'content';
      at = bytes.length - 2;
    }
    this.heldBytes = bytes.length - at;
    this.room.copyWithin(0, at, bytes.length);
    return 'ok';
  }

  /** The held bytes and the new piece, in one buffer that is reused. */
  private join(piece: Buffer): Buffer {
    const length = this.heldBytes + piece.length;
    if (this.room.length < length) {
      const larger = Buffer.allocUnsafeSlow(2 * length);
      larger.set(this.room.subarray(0, this.heldBytes));
      this.room = larger;
    }
    this.room.set(piece, this.heldBytes);
    return this.room.subarray(0, length);
  }

  private content(bytes: Buffer, at: number): number {
    if (bytes[at] !== LESS) return this.text(bytes, at);
    const second = bytes[at + 1];
    if (second === BANG || second === QUESTION) return this.declaration(bytes, at);
    const isClosing = second === SLASH;
    const nameStart = at + (isClosing ? 2 : 1);
    let nameEnd = nameStart;
    // A letter is one at a glance.
    while (bytes[nameEnd] > GREATER || isNamePart(bytes[nameEnd])) nameEnd++;
    if (nameEnd >= bytes.length) return MORE;
    // A `<` that begins no tag, as in `a < b`, is skipped.
    if (nameEnd === nameStart) return at + 1;
    const end = bytes[nameEnd] === GREATER ? nameEnd : tagEnd(bytes, nameEnd);
    if (end === MORE) return MORE;
    if (isClosing) this.handler.close(bytes, nameStart, nameEnd);
    else {
      this.handler.open(bytes, nameStart, nameEnd, end);
      if (bytes[end - 1] === SLASH) this.handler.close(bytes, nameStart, nameEnd);
    }
    return end + 1;
  }

  private passOver(bytes: Buffer, at: number): number {
    switch (this.mode) {
      case 'comment':
        return this.until(bytes, at, '-->');
      case 'instruction':
        return this.until(bytes, at, '?>');
      case 'cdata':
        return this.cdata(bytes, at);
      default:
        return this.documentType(bytes, at);
    }
  }

  private text(bytes: Buffer, at: number): number {
    let end = at;
    const near = Math.min(bytes.length, at + NEAR_BYTES);
    while (end < near && bytes[end] !== LESS) end++;
    // Most texts are short white space. For the others, a search of the runtime is faster.
    if (end === near && end < bytes.length) {
      end = bytes.indexOf(LESS, end);
      if (end === -1) end = bytes.length;
    }
    if (!this.handler.wantsText || this.isOverlong) {
      if (end < bytes.length) this.isOverlong = false;
      return end;
    }
    if (end === bytes.length) return MORE;
    this.handler.text(bytes, at, end, false);
    return end;
  }

  private declaration(bytes: Buffer, at: number): number {
    if (bytes[at + 1] === QUESTION) {
      this.mode = 'instruction';
      return at + 2;
    }
    // `<!-` and `<!D` differ only when both bytes are here.
    if (bytes.length - at < CDATA.length) return MORE;
    if (bytes[at + 2] === HYPHEN && bytes[at + 3] === HYPHEN) {
      this.mode = 'comment';
      return at + 4;
    }
    if (bytes.compare(CDATA, 0, CDATA.length, at, at + CDATA.length) === 0) {
      this.mode = 'cdata';
      return at + CDATA.length;
    }
    const end = at + 9;
    let nameEnd = end;
    while (nameEnd < bytes.length && bytes[nameEnd] !== GREATER && nameEnd < end + 32) nameEnd++;
    if (nameEnd === bytes.length) return MORE;
    if (/^<!doctype/i.test(bytes.toString('latin1', at, end)))
      this.handler.documentType(bytes.toString('latin1', end, nameEnd).trim().split(/[\s[]/, 1)[0]);
    this.mode = 'type';
    this.quote = 0;
    this.isInSubset = false;
    return end;
  }

  private until(bytes: Buffer, at: number, mark: string): number {
    const found = bytes.indexOf(mark, at, 'latin1');
    if (found === -1) return passOver(bytes, at, mark.length - 1);
    this.mode = 'content';
    return found + mark.length;
  }

  private cdata(bytes: Buffer, at: number): number {
    const found = bytes.indexOf(']]>', at, 'latin1');
    if (found === -1) {
      const isKept = this.handler.wantsText && bytes.length - at <= MOST_HELD_BYTES;
      return isKept ? MORE : passOver(bytes, at, 2);
    }
    if (this.handler.wantsText && found > at) this.handler.text(bytes, at, found, true);
    this.mode = 'content';
    return found + 3;
  }

  /** Skipped as a whole: its declarations are never read. */
  private documentType(bytes: Buffer, at: number): number {
    for (let i = at; i < bytes.length; i++) {
      const byte = bytes[i];
      if (this.isInTypeComment) {
        const found = bytes.indexOf('-->', i, 'latin1');
        if (found === -1) return passOver(bytes, i, 2);
        this.isInTypeComment = false;
        i = found + 2;
      } else if (this.quote !== 0) {
        if (byte === this.quote) this.quote = 0;
      } else if (byte === DOUBLE || byte === SINGLE) this.quote = byte;
      else if (byte === LESS && this.isInSubset) {
        if (bytes.length - i < 4) return i === at ? MORE : i;
        this.isInTypeComment = bytes.toString('latin1', i, i + 4) === '<!--';
        if (this.isInTypeComment) i += 3;
      } else if (byte === OPEN_SQUARE) this.isInSubset = true;
      else if (byte === CLOSE_SQUARE) this.isInSubset = false;
      else if (byte === GREATER && !this.isInSubset) {
        this.mode = 'content';
        return i + 1;
      }
    }
    return bytes.length;
  }
}

/** Skips everything but the last bytes, which may be the beginning of the mark. */
function passOver(bytes: Buffer, at: number, kept: number): number {
  const next = bytes.length - kept;
  return next > at ? next : MORE;
}

/** Also false after the last byte. */
function isNamePart(byte: number): boolean {
  return byte > GREATER || (byte > 0x20 && byte !== GREATER && byte !== SLASH && byte !== LESS);
}

/** The position of the tag's `>`, without those inside quotes. */
function tagEnd(bytes: Buffer, from: number): number {
  let quote = 0;
  for (let i = from; i < bytes.length; i++) {
    const byte = bytes[i];
    if (quote !== 0) {
      if (byte === quote) quote = 0;
    } else if (byte === GREATER) return i;
    else if (byte === DOUBLE || byte === SINGLE) quote = byte;
  }
  return MORE;
}
