/**
 * One exchange in the form that undici calls back: what differs from our own client's calls stays in here.
 * undici hands over each field's value as bytes. Over HTTP/1.1 they are the bytes sent; over HTTP/2 they went through
 * node:http2, which makes latin1 text of them, and were written again as UTF-8. It never throws into undici.
 */
import type { Exchange } from './exchange.ts';
import { readResponseHead } from './response-head.ts';

/** What the client knows of the connection that a request goes over. */
export interface UndiciConnection {
  isHttp2: boolean;
}

export class UndiciHandler {
  constructor(
    private readonly exchange: Exchange,
    private readonly connection: UndiciConnection,
  ) {}

  onConnect(abort: (error?: Error) => void): void {
    this.exchange.onConnect(abort);
  }

  /** undici's name for it; over HTTP/2 the bytes leave in an immediate of Node's own, which comes before ours. */
  onRequestSent(): void {
    setImmediate(() => this.exchange.onWritten());
  }

  onHeaders(status: number, raw: Buffer[], readOn: () => void): boolean {
    this.exchange.readOn = readOn;
    const encoding = this.connection.isHttp2 ? 'utf8' : 'latin1';
    if (status >= 200) this.exchange.onHead(readResponseHead(status, raw, encoding));
    return true;
  }

  onData(chunk: Buffer): boolean {
    return this.exchange.onData(chunk);
  }

  onComplete(): void {
    this.exchange.onComplete();
  }

  onError(error: Error): void {
    this.exchange.onError(error);
  }
}
