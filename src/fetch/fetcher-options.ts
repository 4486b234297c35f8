/** The options of a fetcher; the same for all its requests. */
import type { Clock } from '../primitives/clock.ts';
import type { ResolvedAddress } from './connect.ts';
import type { EgressGuard } from './egress.ts';
import type { ProxyOptions } from './proxy.ts';
import type { Tap } from './tap.ts';

export interface FetcherOptions {
  userAgent: string;
  accept?: string;
  acceptLanguage?: string;
  /** Header fields (name, value, name, …) for these origins only, lower-case names. */
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
  /** From the call to the last byte, including the wait for a connection. */
  totalTimeoutMs: number;
  resolve: Map<string, ResolvedAddress>;
  proxy: ProxyOptions;
  /** Judges each address before it is connected to; absent: all may be. */
  egress?: EgressGuard;
  /** PEM certificates to trust instead of the built-in ones. */
  ca?: string | string[];
  /** Hears the raw bytes of every exchange. */
  tap?: Tap;
  /** Heads keep all header fields (`fields`), for whoever stores them. */
  keepsFields?: boolean;
  clock: Clock;
}
