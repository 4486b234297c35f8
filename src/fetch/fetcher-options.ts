/** What a fetcher is made with; the same for every request it sends. */
import type { Clock } from '../primitives/clock.ts';
import type { ResolvedAddress } from './connect.ts';
import type { ProxyOptions } from './proxy.ts';

export interface FetcherOptions {
  userAgent: string;
  accept?: string;
  acceptLanguage?: string;
  /** Header fields (name, value, name, …) that only these origins get, lower-case names. */
  originHeaders?: ReadonlyMap<string, readonly string[]>;
  /** Ask for compressed bodies. */
  compress: boolean;
  keepAlive: boolean;
  http2: boolean;
  /** The most connections to one origin. */
  perHost: number;
  connectTimeoutMs: number;
  headersTimeoutMs: number;
  bodyTimeoutMs: number;
  /** From the call to the last byte, waiting for a connection included. */
  totalTimeoutMs: number;
  resolve: Map<string, ResolvedAddress>;
  proxy: ProxyOptions;
  /** PEM certificates to trust in place of the built-in ones. */
  ca?: string | string[];
  clock: Clock;
}
