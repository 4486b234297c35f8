/**
 * Reads the answers of one HTTP/1.1 connection from pieces that may be cut anywhere, and calls the exchange: the head
 * once, the body in pieces. Keeps bytes only of a head that came in parts, at most MOST_HEAD_BYTES; the body is passed
 * on directly. Knows no socket: the caller decides what an end or a fault means for the connection.
 */
import type { ResponseHead } from './fetcher.ts';
import { type BodySink, Http1Chunks } from './http1-chunks.ts';
import { decideFraming, type Framing } from './http1-framing.ts';
import { beginsLikeStatus, type Http1HeadReader } from './http1-head.ts';
import type { TapSink } from './tap.ts';

export interface AnswerSink extends BodySink {
  onHead(head: ResponseHead): void;
}

/** `stopped`: the sink wants no more, and has handled its connection itself. */
export type Progress = 'more' | 'done' | 'malformed' | 'stopped';

const MOST_HEAD_BYTES = 64 * 1024;
const MOST_INFORMATIONAL = 16;

const LF = 10;
const CR = 13;
const SPACE = 32;
const TAB = 9;

const INCOMPLETE = -1;
const BAD = -2;

export class Http1Reader {
  /** The problem, after `malformed`. */
  problem = '';
  /** Bytes of the last piece that follow the answer, after `done`. */
  extra = 0;
  /** Of the current answer; valid when its head is read. */
  readonly framing: Framing = { end: 'none', length: 0, isReusable: false, idleSeconds: null };

  private method = 'GET';
  /** Read, and not passed on yet. */
  private head: ResponseHead | null = null;
  private isInHead = true;
  private left = 0;
  private informational = 0;
  private tap: TapSink | null = null;
  private readonly chunks = new Http1Chunks();
  /** The beginning of a head that came in parts; the search for its end continues at `scanned`. */
  private part: Buffer | null = null;
  private partLength = 0;
  private scanned = 0;
  private isUntidy = false;
  private blankBytes = 0;

  constructor(private readonly heads: Http1HeadReader) {}

  /** Prepares for the answer to a request. */
  begin(method: string): void {
    this.tap = null;
    this.method = method;
    this.informational = 0;
    this.beginHead();
  }

  /** From now on the sink hears the bytes of the answer, as they are received. */
  tapInto(sink: TapSink | null): void {
    this.tap = sink;
  }

  /** Takes `bytes` up to `end`; they may be overwritten afterwards. */
  feed(bytes: Buffer, end: number, sink: AnswerSink): Progress {
    let at = 0;
    if (this.isInHead) {
      at = this.feedHead(bytes, end);
      if (at < 0) return at === BAD ? 'malformed' : 'more';
      sink.onHead(this.head!);
      this.head = null;
      if (sink.isSettled) return 'stopped';
    }
    const progress = this.feedBody(bytes, at, end, sink);
    if (this.tap !== null) {
      const bodyEnd = progress === 'done' ? end - this.extra : end;
      if (bodyEnd > at) this.tap.body(bytes.subarray(at, bodyEnd));
    }
    return progress;
  }

  /** The connection has ended: `done` if that also ends the body. */
  finish(): 'done' | 'cut' | 'short' {
    if (this.isInHead) return 'cut';
    const { end, isReusable } = this.framing;
    if (end === 'close') return 'done';
    // A server that announced the close has sent everything: its length was wrong.
    return end === 'length' && !isReusable ? 'short' : 'cut';
  }

  private beginHead(): void {
    this.isInHead = true;
    this.part = null;
    this.partLength = 0;
    this.scanned = 0;
    this.isUntidy = false;
    this.blankBytes = 0;
  }

  /** Reads heads up to the final one. Returns where its body begins, INCOMPLETE or BAD. */
  private feedHead(bytes: Buffer, end: number): number {
    let at = 0;
    for (;;) {
      at = this.completeHead(bytes, at, end);
      if (at < 0) return at;
      const { status } = this.head!;
      if (status >= 200) break;
      if (status === 101) return this.bad('switched to a protocol nobody asked for (101)');
      this.informational += 1;
      if (this.informational > MOST_INFORMATIONAL) return this.bad('too many informational answers');
      this.beginHead();
    }
    const problem = decideFraming(this.framing, this.head!, this.heads.framing, this.method);
    if (problem !== null) return this.bad(problem);
    this.isInHead = false;
    this.left = this.framing.length;
    if (this.framing.end === 'chunks') this.chunks.begin();
    return at;
  }

  private completeHead(bytes: Buffer, from: number, end: number): number {
    if (this.part !== null) return this.completePart(bytes, from, end);
    let start = from;
    // Robust readers ignore empty lines before the status line (RFC 9112 section 2.2 says so for requests).
    while (start < end && (bytes[start] === CR || bytes[start] === LF)) start += 1;
    this.blankBytes += start - from;
    if (this.blankBytes > MOST_HEAD_BYTES) return this.bad('nothing but empty lines');
    if (start === end) return INCOMPLETE;
    const headEnd = this.scan(bytes, start, end);
    if (headEnd === BAD) return BAD;
    if (headEnd === INCOMPLETE) {
      if (end - start > MOST_HEAD_BYTES) return this.bad('the head is too long');
      this.scanned -= start;
      return this.keepPart(bytes, start, end);
    }
    return this.readHead(bytes, start, headEnd) ? headEnd : BAD;
  }

  private completePart(bytes: Buffer, from: number, end: number): number {
    const before = this.partLength;
    if (this.keepPart(bytes, from, end) === BAD) return BAD;
    const headEnd = this.scan(this.part!, this.scanned, this.partLength);
    if (headEnd === BAD) return BAD;
    if (headEnd === INCOMPLETE) {
      return this.partLength > MOST_HEAD_BYTES ? this.bad('the head is too long') : INCOMPLETE;
    }
    const part = this.part!;
    this.part = null;
    return this.readHead(part, 0, headEnd) ? from + headEnd - before : BAD;
  }

  /** Copies the available part of a head, at most as much as shows that it is too long. */
  private keepPart(bytes: Buffer, start: number, end: number): number {
    const length = this.partLength + Math.min(end - start, MOST_HEAD_BYTES + 1);
    if (this.part === null || length > this.part.length) {
      const grown = Buffer.allocUnsafe(Math.max(1024, length * 2));
      this.part?.copy(grown, 0, 0, this.partLength);
      this.part = grown;
    }
    bytes.copy(this.part, this.partLength, start, end);
    this.partLength = length;
    // A server of another protocol may never send an empty line.
    return beginsLikeStatus(this.part, 0, length) ? INCOMPLETE : this.bad('not an HTTP/1.x answer');
  }

  private readHead(bytes: Buffer, start: number, end: number): boolean {
    if (end - start > MOST_HEAD_BYTES) this.bad('the head is too long');
    else {
      this.head = this.heads.read(bytes, start, this.isUntidy);
      if (this.head !== null) {
        if (this.tap !== null && this.head.status >= 200) this.tap.head(bytes.subarray(start, end));
        return true;
      }
      this.bad('not an HTTP/1.x answer');
    }
    return false;
  }

  /** The end of the head, after its empty line. If it is not there yet, `scanned` says where to continue. */
  private scan(bytes: Buffer, from: number, end: number): number {
    let at = from;
    for (; at < end; at += 1) {
      const byte = bytes[at];
      if (byte > CR) continue;
      if (byte === 0) return this.bad('a zero byte in the head');
      if (byte !== LF && byte !== CR) continue;
      if (at + 1 === end) break;
      const next = bytes[at + 1];
      if (byte === CR) {
        if (next !== LF) this.isUntidy = true;
        continue;
      }
      if (next === LF) return at + 2;
      if (next === SPACE || next === TAB) this.isUntidy = true;
      else if (next === CR) {
        if (at + 2 === end) break;
        if (bytes[at + 2] === LF) return at + 3;
      }
    }
    this.scanned = at;
    return INCOMPLETE;
  }

  private feedBody(bytes: Buffer, from: number, end: number, sink: AnswerSink): Progress {
    let at = from;
    switch (this.framing.end) {
      case 'none':
        break;
      case 'length':
        at = Math.min(end, from + this.left);
        this.left -= at - from;
        if (at > from) sink.onData(bytes.subarray(from, at));
        if (sink.isSettled) return 'stopped';
        if (this.left > 0) return 'more';
        break;
      case 'chunks':
        at = this.chunks.feed(bytes, from, end, sink);
        if (sink.isSettled) return 'stopped';
        if (this.chunks.isMalformed) {
          this.problem = 'a malformed chunk';
          return 'malformed';
        }
        if (!this.chunks.isDone) return 'more';
        break;
      case 'close':
        if (end > from) sink.onData(bytes.subarray(from, end));
        return sink.isSettled ? 'stopped' : 'more';
    }
    this.extra = end - at;
    return 'done';
  }

  private bad(problem: string): typeof BAD {
    this.problem = problem;
    return BAD;
  }
}
