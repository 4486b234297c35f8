/**
 * A connection that may use HTTP/2 (or HTTP/1.1 if the server prefers that), over one of undici's clients. undici is
 * loaded with the first request, so a crawl without the http2 option never pays for it.
 */
import type { TLSSocket } from 'node:tls';
import type UndiciClient from 'undici/lib/dispatcher/client.js';
import type { Clock } from '../primitives/clock.ts';
import type { Connector } from './connect.ts';
import type { ConnectionReuse } from './connection-reuse.ts';
import type { Exchange } from './exchange.ts';
import { ABORTED_CODE } from './failure.ts';
import {
  type DispatchParts,
  KEEP_ALIVE_MOST_MS,
  KEEP_ALIVE_MS,
  type OriginClient,
} from './origin-clients.ts';
import { type UndiciConnection, UndiciHandler } from './undici-handler.ts';

export interface Http2Settings {
  origin: string;
  connect: Connector;
  /** The fields of every request: name, value, name, ... */
  headers: string[];
  keepAlive: boolean;
  keepsFields: boolean;
  clock: Clock;
  /** Shared by all connections to the origin. */
  reuse: ConnectionReuse;
}

const ALPN = ['h2', 'http/1.1'];
const MOST_HEADER_BYTES = 64 * 1024;

export function createHttp2Client(settings: Http2Settings): OriginClient {
  let client: UndiciClient | null = null;
  let isDestroyed = false;
  const connection: UndiciConnection = { isHttp2: false, restsSince: null };

  async function open(): Promise<UndiciClient> {
    const { default: Client } = await import('undici/lib/dispatcher/client.js');
    return new Client(settings.origin, {
      connect: (target, callback) =>
        settings.connect({ ...target, alpn: ALPN } as never, (...result) => {
          connection.isHttp2 = (result[1] as TLSSocket | null)?.alpnProtocol === 'h2';
          connection.restsSince = null;
          callback(...result);
        }),
      allowH2: true,
      // 0 closes the connection after each answer. More than 1 could mix up answers after a failure.
      pipelining: settings.keepAlive ? 1 : 0,
      keepAliveTimeout: KEEP_ALIVE_MS,
      keepAliveMaxTimeout: KEEP_ALIVE_MOST_MS,
      maxHeaderSize: MOST_HEADER_BYTES,
      headersTimeout: 0,
      bodyTimeout: 0,
    });
  }

  async function openAndSend(parts: DispatchParts, exchange: Exchange): Promise<void> {
    try {
      const opened = await open();
      if (isDestroyed) throw Object.assign(new Error('the connection is closed'), { code: ABORTED_CODE });
      client = opened;
      send(opened, parts, exchange);
    } catch (error) {
      exchange.onError(error as Error);
    }
  }

  function send(to: UndiciClient, { method, path, headers }: DispatchParts, exchange: Exchange): void {
    const { headers: always } = settings;
    const fields = headers === undefined ? always : always.concat(...Object.entries(headers));
    to.dispatch(
      {
        path,
        method: method as 'GET' | 'HEAD',
        // If a server wrongly sends a body after HEAD, it is noticed while the connection is idle: undici checks for
        // unexpected bytes before it writes again. So HEAD and GET of a page need not cost a handshake each.
        reset: method === 'HEAD' && settings.keepAlive ? false : undefined,
        headers: fields,
      },
      new UndiciHandler(exchange, connection, settings, () =>
        requestHead(method, path, ['host', new URL(settings.origin).host, ...fields]),
      ),
    );
  }

  /** Closes only a connection that was idle for too long, or that must not be used. The next request opens another. */
  function closeUnusable(isFresh: boolean | undefined): void {
    const { restsSince } = connection;
    const restedMs = restsSince === null ? 0 : settings.clock.monotonic() - restsSince;
    if (isFresh !== true && restedMs < settings.reuse.longestRestMs) return;
    void client?.destroy();
    client = null;
    connection.restsSince = null;
  }

  return {
    dispatch(parts, exchange) {
      closeUnusable(parts.isFresh);
      if (client === null) void openAndSend(parts, exchange);
      else send(client, parts, exchange);
    },
    destroy() {
      isDestroyed = true;
      void client?.destroy();
    },
  };
}

/** As HTTP/1.1 writes it. */
function requestHead(method: string, path: string, fields: readonly string[]): string {
  let head = `${method} ${path} HTTP/1.1\r\n`;
  for (let at = 0; at < fields.length; at += 2) head += `${fields[at]}: ${fields[at + 1]}\r\n`;
  return `${head}\r\n`;
}
