/**
 * The egress guard: which addresses a service may connect to on somebody else's word. Public ones, and those that the
 * operator allows; never the port of the service itself on this machine, even when that is allowed.
 *
 * Promises: an address is judged in the moment when a connection to it is opened, after the name was resolved and in the
 * lookup of the connection itself, so nothing changes between check and use. Names of inner networks are refused before
 * any lookup. A connection that is kept was judged when it was opened. It never opens a connection itself.
 */
import { type LookupAddress, type LookupAllOptions, lookup as systemLookup } from 'node:dns';
import { BlockList, isIP, type LookupFunction } from 'node:net';
import { networkInterfaces } from 'node:os';
import { sumiError } from '../errors.ts';
import { readAllowedTarget } from '../primitives/allowed-target.ts';
import {
  AddressRefused,
  bareAddress,
  isPublicAddress,
  reachedAddress,
} from '../primitives/public-address.ts';

/** The system's resolver, or one in its place. */
export type SystemLookup = (
  hostname: string,
  options: LookupAllOptions,
  callback: (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void,
) => void;

export interface EgressOptions {
  /** Host names, addresses and networks that may be reached although they are not public. */
  allow: readonly string[];
  /** The service's own port; null where it has none. */
  ownPort: number | null;
  /** Names that are connected to without a lookup, as `resolve` gives them. */
  resolve?: ReadonlyMap<string, { address: string; port?: number }>;
  lookup?: SystemLookup;
  /** Where `allow` was written, for messages. */
  place?: string;
}

/** What a connection is opened to: the host of the URL, and the port that is connected to. */
export interface EgressTarget {
  hostname: string;
  port: number;
}

export interface EgressGuard {
  /** What can be said of a URL at once, by its name or address; null: it may be tried. */
  refuse(url: string | URL): string | null;
  /** The same after a lookup; a name that is not found is refused by nobody. */
  judge(url: string | URL): Promise<string | null>;
  /** What can be said of a target before a lookup. */
  refuseTarget(target: EgressTarget): string | null;
  /** An address that the target's name stands for, or the target itself; null: it may be connected to. */
  refuseAddress(target: EgressTarget, address: string): string | null;
  /** The lookup of a connection to this port: gives only addresses that may be connected to. */
  lookupFor(port: number, inner?: LookupFunction): LookupFunction;
  readonly lookup: SystemLookup;
}

/** Names of inner networks: nobody else answers for them. One without a dot is of an inner network, too. */
const INNER_NAMES = /(?:^|\.)(?:localhost|internal|local|home\.arpa)$/;
const MOST_SHOWN = 3;

export function createEgressGuard(options: EgressOptions): EgressGuard {
  const { ownPort, resolve, lookup = systemLookup as SystemLookup, place = 'egress-allow' } = options;
  const { names, networks } = readAllowed(options.allow, place);

  function refuseAddress({ hostname, port }: EgressTarget, address: string): string | null {
    const bare = bareAddress(address);
    const reached = reachedAddress(bare);
    if (port === ownPort && isThisMachine(reached)) return `${shown(bare)}:${port} is this service itself`;
    const name = bareName(hostname);
    if (names.has(name) || isIn(networks, bare) || isIn(networks, reached)) return null;
    if (isPublicAddress(reached)) return null;
    return isIP(name) === 0 ? `${name} is ${bare}, no public address` : `${bare} is no public address`;
  }

  function refuseTarget(target: EgressTarget): string | null {
    const name = bareName(target.hostname);
    if (isIP(name) !== 0) return refuseAddress(target, name);
    const isInner = !name.includes('.') || INNER_NAMES.test(name);
    return isInner && !names.has(name) ? `${name} is refused by name` : null;
  }

  function refuse(url: string | URL): string | null {
    const { target, mapped } = targetOf(url);
    const refused = refuseTarget(target);
    if (refused !== null || mapped === undefined) return refused;
    return refuseAddress({ ...target, port: mapped.port ?? target.port }, mapped.address);
  }

  function targetOf(url: string | URL) {
    const { protocol, hostname, port } = typeof url === 'string' ? new URL(url) : url;
    const target = { hostname, port: Number(port || (protocol === 'https:' ? 443 : 80)) };
    return { target, mapped: resolve?.get(hostname) };
  }

  /** Those that may be connected to; a text: why there are none. */
  function choose(target: EgressTarget, found: readonly LookupAddress[]): LookupAddress[] | string {
    const refusals: string[] = [];
    const good = found.filter(({ address }) => {
      const refused = refuseAddress(target, address);
      if (refused !== null) refusals.push(refused);
      return refused === null;
    });
    if (good.length > 0 || found.length === 0) return good;
    if (refusals.length === 1) return refusals[0];
    // In one order, so that each run gives the same reason.
    const all = found.map(({ address }) => address).sort();
    const more = all.length > MOST_SHOWN ? ' …' : '';
    const isOwn = refusals.every((text) => text.endsWith('itself'));
    const list = `${bareName(target.hostname)} is ${all.slice(0, MOST_SHOWN).join(', ')}${more}`;
    return `${list}, ${isOwn ? 'with this port the service itself' : 'no public address'}`;
  }

  function lookupFor(port: number, inner: LookupFunction = lookup as LookupFunction): LookupFunction {
    return (hostname, asked, callback) => {
      inner(hostname, { ...asked, all: true }, (error, answer) => {
        if (error) return callback(error, '', 0);
        const wanted = familyOf(asked.family);
        const found = (answer as LookupAddress[]).filter(({ family }) => wanted === 0 || family === wanted);
        const good = choose({ hostname, port }, found);
        if (typeof good === 'string') return callback(new AddressRefused(good), '', 0);
        if (good.length === 0) {
          const missing = new Error(`no address of the family ${wanted} for ${hostname}`);
          return callback(Object.assign(missing, { code: 'ENOTFOUND' }), '', 0);
        }
        if (asked.all) return callback(null, good);
        callback(null, good[0].address, good[0].family);
      });
    };
  }

  return {
    lookup,
    refuse,
    refuseTarget,
    refuseAddress,
    lookupFor,
    async judge(url) {
      const refused = refuse(url);
      const { target, mapped } = targetOf(url);
      if (refused !== null || mapped !== undefined || isIP(bareName(target.hostname)) !== 0) return refused;
      return new Promise((settle) => {
        lookupFor(target.port)(target.hostname, { all: true }, (error) =>
          settle(error instanceof AddressRefused ? error.message : null),
        );
      });
    },
  };
}

/** Throws `egress-refused` for a URL that the service would not connect to. Of the URL only its host is shown. */
export async function checkEgress(guard: EgressGuard, url: string | URL): Promise<void> {
  const reason = await guard.judge(url);
  if (reason !== null) throw sumiError('egress-refused', { target: new URL(url).host, reason });
}

function readAllowed(allow: readonly string[], place: string) {
  const names = new Set<string>();
  const networks = new BlockList();
  for (const text of allow) {
    const allowed = readAllowedTarget(text, place);
    if ('name' in allowed) names.add(bareName(allowed.name));
    else networks.addSubnet(allowed.network, allowed.bits, allowed.family);
  }
  return { names, networks };
}

/** Without brackets and the dot at the end, which names the same host. */
function bareName(hostname: string): string {
  return bareAddress(hostname).toLowerCase().replace(/\.+$/, '');
}

function isIn(networks: BlockList, address: string): boolean {
  const version = isIP(address);
  return version !== 0 && networks.check(address, version === 4 ? 'ipv4' : 'ipv6');
}

/** Loopback, "this host" and the interfaces as they are now: they may come and go while the service runs. */
function isThisMachine(address: string): boolean {
  const own = new BlockList();
  own.addSubnet('127.0.0.0', 8, 'ipv4');
  own.addSubnet('0.0.0.0', 8, 'ipv4');
  own.addAddress('::1', 'ipv6');
  own.addAddress('::', 'ipv6');
  for (const entry of Object.values(networkInterfaces()).flatMap((entries) => entries ?? []))
    own.addAddress(bareAddress(entry.address), entry.family === 'IPv4' ? 'ipv4' : 'ipv6');
  return isIn(own, address);
}

function familyOf(family: number | string | undefined): 0 | 4 | 6 {
  if (family === 4 || family === 'IPv4') return 4;
  return family === 6 || family === 'IPv6' ? 6 : 0;
}

const shown = (address: string) => (isIP(address) === 6 ? `[${address}]` : address);
