/**
 * One HTTP/1.1 connection that reopens itself when it is needed.
 *
 * Promises: one request at a time, in one write right after the exchange agreed, never written twice. The connection is
 * reused only if the end of the answer was certain, nothing came after it, and it was not idle for longer than the
 * origin allows (connection-reuse.ts). A request that is lost on a reused connection before the first byte of an answer
 * is reported as not taken. An idle connection that the server closes, or sends bytes on, is dropped silently. Never
 * follows a redirect, retries or limits the time: the caller does (connecting has its own limit, see connect.ts).
 */
import type { Socket } from 'node:net';
import type { Clock } from '../primitives/clock.ts';
import type { Connector, DialTarget } from './connect.ts';
import type { ConnectionReuse } from './connection-reuse.ts';
import type { Exchange } from './exchange.ts';
import { ABORTED_CODE, PROTOCOL_ERROR_CODE, UNSAFE_REQUEST_CODE } from './failure.ts';
import type { Http1HeadReader } from './http1-head.ts';
import { Http1Reader, type Progress } from './http1-reader.ts';
import {
  type DispatchParts,
  KEEP_ALIVE_MOST_MS,
  KEEP_ALIVE_MS,
  type OriginClient,
} from './origin-clients.ts';
import type { TapSink } from './tap.ts';

export interface Http1Settings {
  connect: Connector;
  target: DialTarget;
  /** The fields of every request (see headerLines); null if they cannot be written. */
  headerLines: string | null;
  keepAlive: boolean;
  clock: Clock;
  heads: Http1HeadReader;
  /** Shared by all connections to the origin. */
  reuse: ConnectionReuse;
  /** Shared by all connections: the bytes of a read are processed before the next read. */
  readBuffer: Buffer;
}

/** The client closes so long before the server would, so that no request meets the server's close. */
const KEEP_ALIVE_MARGIN_MS = 1000;

// Written as latin1, a character past U+00FF would lose its upper byte and could become any other, even a line end.
const UNSAFE_PATH = /[^\x21-\x7e\x80-\xff]/;
const UNSAFE_VALUE = /[^\t\x20-\x7e\x80-\xff]/;
const UNSAFE_NAME = /[^\w!#$%&'*+\-.^`|~]|^$/;

/** Header fields (name, value, name, ...) as they are written; null if a field would break the request. */
export function headerLines(fields: readonly string[]): string | null {
  let lines = '';
  for (let at = 0; at < fields.length; at += 2) {
    if (UNSAFE_NAME.test(fields[at]) || UNSAFE_VALUE.test(fields[at + 1])) return null;
    lines += `${fields[at]}: ${fields[at + 1]}\r\n`;
  }
  return lines;
}

function linesOf(headers: Readonly<Record<string, string>>): string | null {
  let lines = '';
  for (const name in headers) {
    if (UNSAFE_NAME.test(name) || UNSAFE_VALUE.test(headers[name])) return null;
    lines += `${name}: ${headers[name]}\r\n`;
  }
  return lines;
}

export class Http1Client implements OriginClient {
  private socket: Socket | null = null;
  /** Counts connections: callbacks of a connection that was given up are ignored. */
  private connection = 0;
  private exchange: Exchange | null = null;
  private request = '';
  private method = 'GET';
  private isWritten = false;
  /** A byte of the answer has arrived. */
  private isHeard = false;
  /** How long the reused connection had been idle; null for a new connection. */
  private restedMs: number | null = null;
  private isDestroyed = false;
  private restsSince = 0;
  private idleUntil = 0;
  private cancelIdle: (() => void) | null = null;
  private tap: TapSink | null = null;
  private readonly reader: Http1Reader;

  constructor(private readonly settings: Http1Settings) {
    this.reader = new Http1Reader(settings.heads);
  }

  dispatch(parts: DispatchParts, exchange: Exchange): void {
    this.exchange = exchange;
    const request = this.requestOf(parts);
    if (this.isDestroyed) this.fail(codedError(ABORTED_CODE, 'the connection is closed'));
    else if (request === null) {
      this.fail(codedError(UNSAFE_REQUEST_CODE, 'a path or header that cannot be written'));
    } else {
      this.request = request;
      this.method = parts.method;
      if (this.socket !== null && !this.mayUseAgain(parts)) this.drop();
      if (this.socket === null) this.connect();
      else this.write();
    }
  }

  destroy(): void {
    this.isDestroyed = true;
    this.drop();
    this.fail(codedError(ABORTED_CODE, 'the connection is closed'));
  }

  private mayUseAgain({ isFresh }: DispatchParts): boolean {
    const now = this.settings.clock.monotonic();
    this.restedMs = now - this.restsSince;
    return now < this.idleUntil && isFresh !== true && this.restedMs < this.settings.reuse.longestRestMs;
  }

  private requestOf({ method, path, headers }: DispatchParts): string | null {
    const { headerLines: always } = this.settings;
    const more = headers === undefined ? '' : linesOf(headers);
    if (always === null || more === null || UNSAFE_PATH.test(path)) return null;
    return `${method} ${path} HTTP/1.1\r\n${always}${more}\r\n`;
  }

  private connect(): void {
    this.connection += 1;
    const id = this.connection;
    const { target, connect, readBuffer } = this.settings;
    const callback = (size: number, bytes: Uint8Array) => {
      if (id === this.connection) this.read(bytes as Buffer, size);
      return true;
    };
    connect({ ...target, onread: { buffer: readBuffer, callback } }, (error, socket) => {
      if (id !== this.connection) {
        // Nobody listens any more, and an error without a listener would end the program.
        socket?.on('error', () => {}).destroy();
      } else if (error !== null) this.fail(error);
      else {
        this.adopt(socket!, id);
        this.write();
      }
    });
  }

  private adopt(socket: Socket, id: number): void {
    this.socket = socket;
    this.restedMs = null;
    // If the encoding were named with each write, Node would look it up each time.
    socket.setDefaultEncoding('latin1');
    this.restsSince = this.settings.clock.monotonic();
    this.idleUntil = this.restsSince + KEEP_ALIVE_MS;
    const lost = (error?: Error) => {
      if (id === this.connection) this.lose(error);
    };
    // A connection that reads into our buffer emits none of these; a tunnel's does.
    socket.on('data', (chunk: Buffer) => {
      if (id === this.connection) this.read(chunk, chunk.length);
    });
    socket.on('end', () => {
      if (id === this.connection) this.end();
    });
    socket.on('error', lost);
    socket.on('close', () => lost());
  }

  private write(): void {
    const exchange = this.exchange!;
    this.reader.begin(this.method);
    try {
      exchange.onConnect(this.abort);
    } catch (error) {
      // An exception in the caller's callback ends its own request, not the program.
      this.fail(error as Error);
    }
    if (exchange.isSettled) this.fail(codedError(ABORTED_CODE, 'not sent'));
    // Refused, or closed from within the call. The connection itself is as usable as before.
    if (this.exchange !== exchange) {
      this.rest(this.idleUntil - this.settings.clock.monotonic());
      return;
    }
    this.isWritten = true;
    this.isHeard = false;
    this.socket!.write(this.request);
    this.tap = exchange.openTap(true, this.requestWritten);
    if (this.tap !== null) this.reader.tapInto(this.tap);
    exchange.onWritten();
  }

  private readonly requestWritten = (): string => this.request;

  private endTap(isWhole: boolean): void {
    if (this.tap === null) return;
    this.tap.end(isWhole);
    this.tap = null;
  }

  /** Given to each exchange in turn. It has no effect before the request is written: write() notices that itself. */
  private readonly abort = (): void => {
    if (!this.isWritten) return;
    this.drop();
    this.fail(codedError(ABORTED_CODE, 'aborted'));
  };

  private read(bytes: Buffer, size: number): void {
    const { exchange, reader } = this;
    if (exchange === null || !this.isWritten) {
      // Bytes that nobody asked for would be taken for the next answer.
      if (this.socket !== null) this.drop();
      return;
    }
    this.isHeard = true;
    let progress: Progress;
    try {
      progress = reader.feed(bytes, size, exchange);
    } catch (error) {
      this.lose(error as Error);
      return;
    }
    switch (progress) {
      case 'done':
        this.complete(exchange, reader.extra === 0);
        break;
      case 'malformed':
        this.drop();
        this.fail(codedError(PROTOCOL_ERROR_CODE, reader.problem));
        break;
      default:
        if (exchange.isHeld) this.hold(exchange);
    }
  }

  /** Bytes that have arrived are read. The rest stays in the network until the receiver of the body can take more. */
  private hold(exchange: Exchange): void {
    const { socket } = this;
    socket?.pause();
    exchange.readOn = () => socket?.resume();
  }

  /** The server has ended the connection. */
  private end(): void {
    const { exchange } = this;
    const finish = exchange !== null && this.isWritten ? this.reader.finish() : 'cut';
    if (finish === 'done') this.complete(exchange!, false);
    else if (finish === 'short') {
      this.drop();
      this.fail(codedError(PROTOCOL_ERROR_CODE, 'the body is shorter than its content-length'));
    } else this.lose();
  }

  private lose(error?: Error): void {
    // As far as we can know, the connection was closed before the request reached the server.
    const isNotTaken = this.isWritten && !this.isHeard && this.restedMs !== null;
    if (isNotTaken) this.settings.reuse.notTaken(this.restedMs!);
    this.drop();
    this.fail(
      error ?? codedError('ECONNRESET', 'the server closed the connection before the end of its answer'),
      isNotTaken,
    );
  }

  private complete(exchange: Exchange, isClean: boolean): void {
    const { isReusable, idleSeconds } = this.reader.framing;
    const idleMs =
      idleSeconds === null
        ? KEEP_ALIVE_MS
        : Math.min(idleSeconds * 1000 - KEEP_ALIVE_MARGIN_MS, KEEP_ALIVE_MOST_MS);
    this.exchange = null;
    this.isWritten = false;
    const { clock, reuse, keepAlive } = this.settings;
    reuse.taken();
    this.restsSince = clock.monotonic();
    this.idleUntil = this.restsSince + idleMs;
    if (!isClean || !isReusable || idleMs <= 0 || !keepAlive || reuse.longestRestMs === 0) this.drop();
    // This may start the next request at once.
    this.endTap(true);
    exchange.onComplete();
    if (this.exchange === null) this.rest(idleMs);
  }

  /**
   * Makes sure that an idle connection is closed in time. One timer serves many answers: if it fires too early, it
   * starts again.
   */
  private rest(idleMs: number): void {
    if (this.socket === null) return;
    this.cancelIdle ??= this.settings.clock.after(idleMs, () => this.endIdle());
  }

  private endIdle(): void {
    this.cancelIdle = null;
    if (this.socket === null || this.exchange !== null) return;
    const leftMs = this.idleUntil - this.settings.clock.monotonic();
    if (leftMs <= 0) this.drop();
    else this.cancelIdle = this.settings.clock.after(leftMs, () => this.endIdle());
  }

  /** Gives up the connection, or the attempt to open one. */
  private drop(): void {
    this.connection += 1;
    this.socket?.destroy();
    this.socket = null;
    this.cancelIdle?.();
    this.cancelIdle = null;
  }

  private fail(error: Error, isNotTaken = false): void {
    const { exchange } = this;
    this.exchange = null;
    this.isWritten = false;
    const { tap } = this;
    this.tap = null;
    // Deferred: a caller that ends many requests must not see the next ones start in between.
    if (exchange === null) return;
    queueMicrotask(() => {
      tap?.end(false);
      exchange.onError(error, isNotTaken);
    });
  }
}

function codedError(code: string, message: string): Error {
  return Object.assign(new Error(message), { code });
}
