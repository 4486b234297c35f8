/**
 * One request and its answer. A client reports them by onConnect, onHead, onData, onComplete or onError (undici's
 * clients through undici-handler.ts).
 *
 * Promises: settles exactly once, with an Outcome, and lets its request be written at most once. If undici wants to
 * write it again (HTTP/2, connection lost), that is refused and reported as `reset`, because a second request needs a
 * slot of its own. Never throws into a client.
 */
import type { Clock } from '../primitives/clock.ts';
import type { BufferPool } from './buffer-pool.ts';
import { codingsOf, decodeBody, isStreamable, tooLarge } from './decode-body.ts';
import { failureOf, messageOf } from './failure.ts';
import type { FetchedBody, FetchFailure, FetchRequest, Outcome, ResponseHead } from './fetcher.ts';
import type { Tap, TapSink } from './tap.ts';

export interface ExchangeSurroundings {
  clock: Clock;
  buffers: BufferPool;
  /** Milliseconds of the sweep's coarse clock; see http-fetcher. */
  coarseMs(): number;
  tap: Tap | null;
  /** The outcome is decided; the client may still be busy with the request. */
  onSettled(exchange: Exchange): void;
}

/** For a body of unknown length. An announced length is believed up to the second number. */
const FIRST_BUFFER = 64 * 1024;
const LARGEST_FIRST_BUFFER = 1024 * 1024;
/** Compressed bytes may exceed the decoded ones by a little (stored blocks, headers). */
const CODING_OVERHEAD = 64 * 1024;
const NO_BYTES = new Uint8Array(1);

type Stage = 'waiting' | 'sent' | 'body';

export class Exchange {
  stage: Stage = 'waiting';
  /** Coarse time when it was requested, and when its stage began or last made progress. */
  startedMs: number;
  stageMs: number;
  isSettled = false;
  /** The receiver of the body wants no more for now: the client reads no further, and no time limit runs. */
  isHeld = false;
  /** Makes the client continue to read; set by the client. */
  readOn: (() => void) | null = null;
  /** Its place in the list of requests in flight. */
  index = -1;
  /** Called when the client has finished the request and can take another. */
  onFreed: (() => void) | null = null;
  /** True if the answer comes from a proxy that was asked in absolute form. */
  isProxied = false;

  private abort: ((error?: Error) => void) | null = null;
  private head: ResponseHead | null = null;
  private codings: string[] = [];
  private bytes: Uint8Array | null = null;
  private length = 0;
  private wireLimit = 0;
  /** The request's own receiver gets the body. */
  private isStreamed = false;
  private sentAt: number | null = null;
  private sentMonotonic = 0;
  private responseMs: number | null = null;

  constructor(
    private readonly request: FetchRequest,
    private readonly resolve: (outcome: Outcome) => void,
    private readonly around: ExchangeSurroundings,
  ) {
    this.startedMs = around.coarseMs();
    this.stageMs = this.startedMs;
  }

  /** Ends the request with a failure from outside: a time limit, abortAll. */
  fail(failure: FetchFailure, message: string): void {
    this.settle(failure, message, null);
    // Without a connection yet, onConnect ends it before a byte is written.
    this.abort?.();
  }

  /**
   * A client calls this right before it writes the request to an open connection. If this aborts, the client writes
   * nothing. `wasNotTaken`: the client wants to write it again, because the server did not take it.
   */
  onConnect(abort: (error?: Error) => void, wasNotTaken = false): void {
    if (this.sentAt !== null) this.fault('reset', 'the connection was lost before the answer', wasNotTaken);
    else if (!this.isSettled && this.request.onSend?.() === false) this.settle('not-sent', null, null);
    if (this.isSettled) {
      abort();
      return;
    }
    this.abort = abort;
    this.sentAt = this.around.clock.now();
    this.sentMonotonic = this.around.clock.monotonic();
    this.stage = 'sent';
    this.stageMs = this.around.coarseMs();
  }

  /** A client calls this when it has written the request. Null unless somebody wants to hear the bytes. */
  openTap(isExact: boolean, head: () => string): TapSink | null {
    const { tap } = this.around;
    if (tap === null) return null;
    const { url, method } = this.request;
    const sink = tap({ url, method, sentAt: this.sentAt!, isExact });
    sink?.request(Buffer.from(head(), 'latin1'));
    return sink;
  }

  /** The bytes of the request are written. */
  onWritten(): void {
    this.request.onSent?.();
  }

  /** The head of the final answer. This method and onData may end the request by the client's abort. */
  onHead(head: ResponseHead): void {
    const { status } = head;
    this.responseMs = this.around.clock.monotonic() - this.sentMonotonic;
    this.stage = 'body';
    this.stageMs = this.around.coarseMs();
    if (status === 407 && this.isProxied) {
      this.fail('proxy', 'the proxy asks for a user and password (407)');
      return;
    }
    this.head = head;
    if (this.request.method === 'HEAD') return;
    const { wantsBody, maxBytes } = this.request;
    if (status < 300 && wantsBody?.(head) === false) {
      this.settle(null, null, null, true);
      this.abort?.();
      return;
    }
    this.codings = codingsOf(head.contentEncoding);
    this.wireLimit = this.codings.length === 0 ? maxBytes : maxBytes + CODING_OVERHEAD;
    this.isStreamed = status === 200 && this.request.onPiece !== undefined && isStreamable(this.codings);
    if (head.contentLength !== null && head.contentLength > this.wireLimit && !this.request.keepsCutBody) {
      this.fail('too-large', `${head.contentLength} bytes, ${tooLarge(maxBytes)}`);
    }
  }

  /** Returns false for undici: no more, until readOn is called. */
  onData(chunk: Buffer): boolean {
    if (this.isSettled || this.request.method === 'HEAD') return true;
    if (this.isStreamed) {
      this.stream(chunk);
      return !this.isHeld;
    }
    const end = this.length + chunk.length;
    if (end > this.wireLimit && this.request.keepsCutBody && this.codings.length === 0) {
      this.onData(chunk.subarray(0, this.wireLimit - this.length));
      this.settleBody();
      this.abort?.();
      return true;
    }
    if (end > this.wireLimit) {
      this.fail('too-large', tooLarge(this.request.maxBytes));
      return true;
    }
    // One byte more than the body, for the end mark of the scanner.
    if (this.bytes === null || end >= this.bytes.length) this.grow(end + 1);
    this.bytes!.set(chunk, this.length);
    this.length = end;
    this.stageMs = this.around.coarseMs();
    return true;
  }

  onComplete(): void {
    if (!this.isSettled) {
      if (this.request.method === 'HEAD') this.settle(null, null, null);
      else this.settleBody();
    }
    this.freed();
  }

  /** `isNotTaken`: the client knows that the server did not take the request. */
  onError(error: Error, isNotTaken = false): void {
    this.fault(failureOf(error), messageOf(error), isNotTaken);
    this.freed();
  }

  private fault(failure: FetchFailure, message: string, isNotTaken: boolean): void {
    // The second time, it is a failure like any other.
    const isToResend = isNotTaken && this.request.isResent !== true && this.head === null;
    this.settle(isToResend ? 'not-taken' : failure, message, null);
  }

  private stream(chunk: Buffer): void {
    const piece = chunk.subarray(0, this.wireLimit - this.length);
    this.length += piece.length;
    this.stageMs = this.around.coarseMs();
    const wantsMore = this.request.onPiece!(piece, this.head!);
    if (wantsMore === false || piece.length < chunk.length) {
      this.settleBody();
      this.abort?.();
    } else if (wantsMore !== true && !this.isHeld) this.hold(wantsMore);
  }

  private hold(until: Promise<void>): void {
    const heldMs = this.around.coarseMs();
    this.isHeld = true;
    const release = () => {
      this.isHeld = false;
      this.stageMs = this.around.coarseMs();
      this.startedMs += this.stageMs - heldMs;
      if (!this.isSettled) this.readOn?.();
    };
    until.then(release, release);
  }

  private grow(needed: number): void {
    const { buffers } = this.around;
    const old = this.bytes;
    if (old === null) {
      // A server that announces much and sends little must not cost as much memory as it announced.
      const announced = Math.min((this.head?.contentLength ?? FIRST_BUFFER) + 1, LARGEST_FIRST_BUFFER);
      this.bytes = buffers.acquire(Math.max(announced, needed));
      return;
    }
    this.bytes = buffers.acquire(Math.max(needed, old.length * 2));
    this.bytes.set(old.subarray(0, this.length));
    buffers.release(old);
  }

  private settleBody(): void {
    const { buffers } = this.around;
    if (this.codings.length > 0 && this.bytes !== null) {
      const decoded = decodeBody(this.bytes.subarray(0, this.length), this.codings, this.request.maxBytes);
      if ('failure' in decoded) {
        this.settle(decoded.failure, decoded.message, null);
        return;
      }
      const wire = this.bytes;
      const wireLength = this.length;
      this.bytes = buffers.acquire(decoded.bytes.length + 1);
      this.bytes.set(decoded.bytes);
      buffers.release(wire);
      this.settle(null, null, pooledBody(this.bytes, decoded.bytes.length, buffers), false, wireLength);
      return;
    }
    this.settle(null, null, pooledBody(this.bytes, this.length, buffers));
  }

  private settle(
    failure: FetchFailure | null,
    message: string | null,
    body: FetchedBody | null,
    bodyRefused = false,
    wireBytes = this.length,
  ): void {
    if (this.isSettled) return;
    this.isSettled = true;
    if (body === null && this.bytes !== null) this.around.buffers.release(this.bytes);
    this.bytes = null;
    this.around.onSettled(this);
    this.resolve({
      head: this.head,
      body,
      bodyRefused,
      failure,
      message,
      sentAt: this.sentAt,
      responseMs: this.head === null ? null : this.responseMs,
      wireBytes,
    });
  }

  private freed(): void {
    const { onFreed } = this;
    this.onFreed = null;
    onFreed?.();
  }
}

function pooledBody(bytes: Uint8Array | null, length: number, buffers: BufferPool): FetchedBody {
  if (bytes === null) return { bytes: NO_BYTES, length: 0, release() {} };
  bytes[length] = 0;
  let isReleased = false;
  return {
    bytes,
    length,
    release() {
      // If it were given back twice, one buffer would serve two bodies.
      if (isReleased) return;
      isReleased = true;
      buffers.release(bytes);
    },
  };
}
