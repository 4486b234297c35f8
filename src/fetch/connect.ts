/**
 * Opens connections for the fetcher: `--resolve` names, cached DNS, and one time limit for name resolution, TCP, proxy
 * tunnel and TLS together. The TLS server name is always that of the URL, whatever address is used. Keeps no connection
 * (the clients do), only TLS sessions, so that a second handshake costs both sides less.
 */
import { type LookupAddress, lookup as systemLookup } from 'node:dns';
import { connect, isIP, type LookupFunction, type OnReadOpts, type Socket } from 'node:net';
import type { Clock } from '../primitives/clock.ts';
import { AddressRefused } from '../primitives/public-address.ts';
import type { EgressGuard, EgressTarget, SystemLookup } from './egress.ts';
import { CONNECT_TIMEOUT_CODE } from './failure.ts';

/** The target as the URL has it; `hostname` without brackets, `port` empty for the default port. */
export interface DialTarget {
  protocol: string;
  hostname: string;
  host?: string;
  port: string;
  /** Read into this buffer instead of 'data' events, if the connection can. */
  onread?: OnReadOpts;
  /** The protocols offered by TLS. */
  alpn?: string[];
  /** A connection that TLS uses, such as a proxy's tunnel. */
  httpSocket?: Socket;
}

export type DialCallback = (...result: [error: null, socket: Socket] | [error: Error, socket: null]) => void;

/**
 * Starts a connection; `abort` ends the attempt. The callback is called at most once, and never before this function
 * returns.
 */
export type Dial = (target: DialTarget, callback: DialCallback) => { abort(error: Error): void };

export interface ResolvedAddress {
  address: string;
  port?: number;
}

export interface DialSettings {
  resolve: Map<string, ResolvedAddress>;
  /** PEM certificates to trust instead of the built-in ones. */
  ca?: string | string[];
  lookup: LookupFunction;
  /** Judges what is connected to; absent: all may be. A connection over `httpSocket` was judged by whoever opened it. */
  egress?: EgressGuard;
}

const HTTP1_ONLY = ['http/1.1'];
const MOST_SESSIONS = 1000;

export function createDial(settings: DialSettings): Dial {
  const { resolve, ca, egress } = settings;
  const sessions = new Map<string, Buffer>();

  function openTls(target: DialTarget, host: string, port: number, lookup: LookupFunction): Socket {
    // Loaded with the first https host: a crawl of http hosts starts without it.
    const tls = process.getBuiltinModule('node:tls');
    const { hostname, httpSocket, onread } = target;
    const key = `${hostname}:${port}`;
    const socket = tls.connect({
      host,
      port,
      lookup,
      // An address is no server name (RFC 6066 section 3); the certificate is then checked against the host.
      servername: isIP(hostname) ? '' : hostname,
      session: sessions.get(key),
      ALPNProtocols: target.alpn ?? HTTP1_ONLY,
      ...(ca === undefined ? {} : { ca }),
      ...(httpSocket === undefined ? { onread } : { socket: httpSocket }),
    });
    socket.setNoDelay(true);
    // Node emits this only after it has checked the certificate.
    socket.on('session', (session) => {
      if (sessions.size >= MOST_SESSIONS) sessions.delete(sessions.keys().next().value!);
      sessions.set(key, session);
    });
    socket.once('error', () => sessions.delete(key));
    return socket;
  }

  return (target, callback) => {
    const isTls = target.protocol === 'https:';
    const mapped = resolve.get(target.hostname);
    const host = mapped?.address ?? target.hostname;
    const port = mapped?.port ?? portOf(target);
    const isJudged = egress !== undefined && target.httpSocket === undefined;
    const refused = isJudged ? refusalOf({ hostname: target.hostname, port }, mapped, egress) : null;
    if (refused !== null) return refuseDial(refused, callback);
    const lookup = isJudged ? egress.lookupFor(port, settings.lookup) : settings.lookup;
    const socket = isTls
      ? openTls(target, host, port, lookup)
      : connect({ host, port, lookup, noDelay: true, onread: target.onread });
    const readyEvent = isTls ? 'secureConnect' : 'connect';
    const onError = (error: Error) => {
      socket.off(readyEvent, onReady);
      callback(error, null);
    };
    const onReady = () => {
      socket.off('error', onError);
      callback(null, socket);
    };
    socket.once(readyEvent, onReady);
    socket.once('error', onError);
    return {
      abort(error) {
        // A late error of a connection that was given up; nobody needs it.
        socket.on('error', () => {});
        socket.destroy(error);
      },
    };
  };
}

function portOf({ protocol, port }: DialTarget): number {
  return Number(port || (protocol === 'https:' ? 443 : 80));
}

/** What is known before a lookup: the name or address of the URL, and the address that was given for it. */
function refusalOf(
  target: EgressTarget,
  mapped: ResolvedAddress | undefined,
  egress: EgressGuard,
): AddressRefused | null {
  const refused =
    egress.refuseTarget(target) ?? (mapped ? egress.refuseAddress(target, mapped.address) : null);
  return refused === null ? null : new AddressRefused(refused);
}

function refuseDial(refused: AddressRefused, callback: DialCallback): ReturnType<Dial> {
  process.nextTick(callback, refused, null);
  return { abort() {} };
}

/** Address and port that a proxy is told to connect to. */
export type FindAuthority = (
  target: DialTarget,
  callback: (error: Error | null, authority: string) => void,
) => void;

/** As the URL has them: the proxy finds the address. */
export const namedAuthority: FindAuthority = (target, callback) => {
  callback(null, target.port ? target.host! : `${target.host}:${portOf(target)}`);
};

/** The address is found and judged here, so that the proxy has no name to look up, which it may find elsewhere. */
export function createJudgedAuthority({
  resolve,
  lookup,
  egress,
}: Pick<DialSettings, 'resolve' | 'lookup'> & { egress: EgressGuard }): FindAuthority {
  return (target, callback) => {
    const mapped = resolve.get(target.hostname);
    const port = mapped?.port ?? portOf(target);
    const hostname = target.hostname.replace(/^\[|\]$/g, '');
    const found = (address: string) =>
      callback(null, isIP(address) === 6 ? `[${address}]:${port}` : `${address}:${port}`);
    const refused = refusalOf({ hostname, port }, mapped, egress);
    if (refused !== null) process.nextTick(callback, refused, '');
    else if (mapped !== undefined || isIP(hostname) !== 0) found(mapped?.address ?? hostname);
    else
      egress.lookupFor(port, lookup)(hostname, { all: true }, (error, addresses) => {
        if (error) return callback(error, '');
        const all = addresses as LookupAddress[];
        // More proxies have IPv4 than IPv6.
        found((all.find(({ family }) => family === 4) ?? all[0]).address);
      });
  };
}

/** Connections being opened: closing the fetcher ends them. */
export type Attempts = Set<{ abort(error: Error): void }>;

export type Connector = (target: DialTarget, callback: DialCallback) => void;

/** A dial with a time limit of `timeoutMs`. */
export function withConnectTimeout(
  dial: Dial,
  timeoutMs: number,
  clock: Clock,
  attempts: Attempts,
): Connector {
  return (target, callback) => {
    let isDone = false;
    const finish: DialCallback = (...result) => {
      if (isDone) return;
      isDone = true;
      cancelTimer();
      attempts.delete(attempt);
      callback(...result);
    };
    const attempt = dial(target, finish);
    attempts.add(attempt);
    // setImmediate: a connection that was made while the event loop was busy is noticed first.
    const cancelTimer = clock.after(timeoutMs, () => setImmediate(expire));
    function expire() {
      if (isDone) return;
      const error = Object.assign(new Error(`no connection within ${timeoutMs} ms`), {
        code: CONNECT_TIMEOUT_CODE,
      });
      finish(error, null);
      attempt.abort(error);
    }
  };
}

interface DnsEntry {
  error: NodeJS.ErrnoException | null;
  addresses: LookupAddress[];
  expiresAt: number;
  /** Callers that wait; null when the answer is there. */
  waiting: (() => void)[] | null;
}

const POSITIVE_MS = 5 * 60_000;
const NEGATIVE_MS = 30_000;
const MOST_NAMES = 10_000;

/** A bounded cache before the system's resolver. Simultaneous questions for one name become one question. */
export function createCachedLookup(
  clock: Clock,
  lookup: SystemLookup = systemLookup,
  mostNames = MOST_NAMES,
): LookupFunction {
  const entries = new Map<string, DnsEntry>();

  function ask(hostname: string): DnsEntry {
    const entry: DnsEntry = { error: null, addresses: [], expiresAt: Number.POSITIVE_INFINITY, waiting: [] };
    // A Map keeps the order of insertion: the first key is the oldest.
    if (entries.size >= mostNames) entries.delete(entries.keys().next().value!);
    entries.set(hostname, entry);
    lookup(hostname, { all: true }, (error, addresses) => {
      entry.error = error;
      entry.addresses = addresses ?? [];
      entry.expiresAt = clock.monotonic() + (error ? NEGATIVE_MS : POSITIVE_MS);
      const waiting = entry.waiting!;
      entry.waiting = null;
      for (const tell of waiting) tell();
    });
    return entry;
  }

  return (hostname, options, callback) => {
    let entry = entries.get(hostname);
    if (entry === undefined || entry.expiresAt <= clock.monotonic()) {
      entries.delete(hostname);
      entry = ask(hostname);
    }
    const found = entry;
    const answer = () => {
      if (found.error) return callback(found.error, '', 0);
      if (options.all) return callback(null, found.addresses);
      const wanted = options.family === 4 || options.family === 'IPv4' ? 4 : options.family ? 6 : 0;
      const address = found.addresses.find(({ family }) => wanted === 0 || family === wanted);
      if (address) return callback(null, address.address, address.family);
      const error = new Error(`no address of the family ${wanted} for ${hostname}`);
      return callback(Object.assign(error, { code: 'ENOTFOUND' }), '', 0);
    };
    // net.connect expects the answer after the call has returned.
    if (found.waiting === null) process.nextTick(answer);
    else found.waiting.push(answer);
  };
}
