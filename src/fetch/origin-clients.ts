/**
 * The connections of one origin: at most `most` clients (a client is one connection that reopens itself). The client
 * used last is used first, so that few stay open. Requests beyond the limit wait in a queue. A client that failed to
 * connect counts like any other, so the limit also holds for hosts that cannot be reached.
 */
import type { Exchange } from './exchange.ts';

export interface DispatchParts {
  path: string;
  method: string;
  /** In addition to the fields of every request to the origin. */
  headers?: Record<string, string>;
  /** Do not use a connection that served other requests. */
  isFresh?: boolean;
}

/** One connection: one request at a time. It calls the exchange back, onComplete or onError last, and never throws. */
export interface OriginClient {
  dispatch(parts: DispatchParts, exchange: Exchange): void;
  destroy(): void;
}

/** How long an idle connection stays open if the server names no time; a named time counts up to the second number. */
export const KEEP_ALIVE_MS = 10_000;
export const KEEP_ALIVE_MOST_MS = 30_000;

interface Waiting {
  exchange: Exchange;
  parts: DispatchParts;
}

export class OriginClients {
  private readonly idle: OriginClient[] = [];
  private readonly waiting: Waiting[] = [];
  private readonly open = new Set<OriginClient>();
  private isForgotten = false;
  /** Coarse time of the last use. */
  usedMs = 0;

  constructor(
    private readonly most: number,
    private readonly makeClient: () => OriginClient,
  ) {}

  get isIdle(): boolean {
    return this.idle.length === this.open.size && this.waiting.length === 0;
  }

  dispatch(parts: DispatchParts, exchange: Exchange): void {
    const client = this.idle.pop() ?? (this.open.size < this.most ? this.add() : undefined);
    if (client === undefined) this.waiting.push({ exchange, parts });
    else this.send(client, parts, exchange);
  }

  /** Closes idle connections now, and busy ones when they are done. */
  forget(): void {
    this.isForgotten = true;
    for (const client of this.idle.splice(0)) this.drop(client);
  }

  /** Closes everything now, busy or not. */
  destroy(): void {
    this.isForgotten = true;
    this.waiting.length = 0;
    for (const client of this.open) client.destroy();
  }

  private add(): OriginClient {
    const client = this.makeClient();
    this.open.add(client);
    return client;
  }

  private send(client: OriginClient, parts: DispatchParts, exchange: Exchange): void {
    exchange.onFreed = () => this.free(client);
    client.dispatch(parts, exchange);
  }

  private free(client: OriginClient): void {
    for (let next = this.waiting.shift(); next !== undefined; next = this.waiting.shift()) {
      if (next.exchange.isSettled) continue;
      this.send(client, next.parts, next.exchange);
      return;
    }
    if (this.isForgotten) this.drop(client);
    else this.idle.push(client);
  }

  private drop(client: OriginClient): void {
    this.open.delete(client);
    client.destroy();
  }
}
