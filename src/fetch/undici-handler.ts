/**
 * Adapts one exchange to undici's callbacks; everything that differs from our own client is in this file. undici passes
 * each field's value as bytes. Over HTTP/1.1 these are the bytes that were sent. Over HTTP/2 they went through
 * node:http2, which makes latin1 text of them, and were encoded again as UTF-8. Reports requests that the server did
 * not take: those lost on a reused connection before an answer, and those that HTTP/2 refused. Never throws into
 * undici.
 */
import type { Clock } from '../primitives/clock.ts';
import type { ConnectionReuse } from './connection-reuse.ts';
import type { Exchange } from './exchange.ts';
import { readResponseHead } from './response-head.ts';
import type { TapSink } from './tap.ts';

/** What the client knows about its connection. */
export interface UndiciConnection {
  isHttp2: boolean;
  /** Monotonic time since when it is idle; null for a connection that served nothing yet. */
  restsSince: number | null;
}

interface UndiciSettings {
  reuse: ConnectionReuse;
  keepsFields: boolean;
  clock: Clock;
}

/** GOAWAY ends a connection, REFUSED_STREAM a request: the server worked on neither (RFC 9113 sections 6.8 and 8.7). */
const REFUSED = /"GOAWAY" frame|NGHTTP2_REFUSED_STREAM/;

export class UndiciHandler {
  /** How long the used connection had been idle; null for a new one. */
  private restedMs: number | null = null;
  private isSent = false;
  private isHeard = false;
  private tap: TapSink | null = null;

  constructor(
    private readonly exchange: Exchange,
    private readonly connection: UndiciConnection,
    private readonly settings: UndiciSettings,
    /** The request as HTTP/1.1 would write it. */
    private readonly requestHead: () => string,
  ) {}

  onConnect(abort: (error?: Error) => void): void {
    if (this.isSent) {
      this.exchange.onConnect(abort, this.learnNotTaken());
      return;
    }
    const { restsSince } = this.connection;
    this.restedMs = restsSince === null ? null : this.settings.clock.monotonic() - restsSince;
    this.exchange.onConnect(abort);
    this.isSent = !this.exchange.isSettled;
    if (this.isSent) this.tap = this.exchange.openTap(false, this.requestHead);
  }

  /** Over HTTP/2 the bytes leave in an immediate of Node's own, which comes before ours. */
  onRequestSent(): void {
    setImmediate(() => this.exchange.onWritten());
  }

  onHeaders(status: number, raw: Buffer[], readOn: () => void, statusText = ''): boolean {
    this.isHeard = true;
    this.exchange.readOn = readOn;
    const encoding = this.connection.isHttp2 ? 'utf8' : 'latin1';
    if (status >= 200) this.tap?.head(headOf(status, statusText, raw));
    if (status >= 200)
      this.exchange.onHead(readResponseHead(status, raw, encoding, this.settings.keepsFields));
    return true;
  }

  onData(chunk: Buffer): boolean {
    this.tap?.body(chunk);
    return this.exchange.onData(chunk);
  }

  onComplete(): void {
    this.settings.reuse.taken();
    this.connection.restsSince = this.settings.clock.monotonic();
    this.tap?.end(true);
    this.tap = null;
    this.exchange.onComplete();
  }

  onError(error: Error): void {
    this.tap?.end(false);
    this.tap = null;
    const isOpen = this.isSent && !this.isHeard && !this.exchange.isSettled;
    const isRefused = isOpen && REFUSED.test(error.message);
    this.exchange.onError(error, isRefused || (isOpen && this.learnNotTaken()));
  }

  private learnNotTaken(): boolean {
    if (this.isHeard || this.restedMs === null) return false;
    this.settings.reuse.notTaken(this.restedMs);
    return true;
  }
}

/** The head as HTTP/1.1 writes it, from the bytes of its fields. */
function headOf(status: number, statusText: string, raw: readonly Buffer[]): Uint8Array {
  const parts: Uint8Array[] = [Buffer.from(`HTTP/1.1 ${status} ${statusText}\r\n`, 'latin1')];
  for (let at = 0; at < raw.length; at += 2)
    parts.push(raw[at], Buffer.from(': '), raw[at + 1], Buffer.from('\r\n'));
  parts.push(Buffer.from('\r\n'));
  return Buffer.concat(parts);
}
