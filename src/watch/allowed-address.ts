/**
 * Addresses that webhooks may use: https to public addresses, and any host that the operator names. The check is made
 * in the name lookup of the connection itself, so that the address cannot change between check and use.
 */
import { type LookupAddress, type LookupOptions, lookup as systemLookup } from 'node:dns';
import { BlockList, isIP, type LookupFunction } from 'node:net';

const NOT_PUBLIC = new BlockList();
for (const [network, bits] of [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 3],
] as const)
  NOT_PUBLIC.addSubnet(network, bits, 'ipv4');
/** IPv6: only global unicast is public, except for ranges that contain or represent other addresses. */
const PUBLIC_V6 = new BlockList();
PUBLIC_V6.addSubnet('2000::', 3, 'ipv6');
for (const [network, bits] of [
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['3fff::', 20],
] as const)
  NOT_PUBLIC.addSubnet(network, bits, 'ipv6');

export function isPublicAddress(address: string): boolean {
  const version = isIP(address);
  if (version === 4) return !NOT_PUBLIC.check(address, 'ipv4');
  return version === 6 && PUBLIC_V6.check(address, 'ipv6') && !NOT_PUBLIC.check(address, 'ipv6');
}

/** The host as a URL shows it, without brackets. */
const bareHost = (host: string) => host.replace(/^\[|\]$/g, '').toLowerCase();

export type Refused = { refused: string };

/** The name has only addresses that are refused. Another try changes nothing. */
export class AddressRefused extends Error {}

export interface AddressGuard {
  /** Null: the URL may be tried. */
  refuse(url: URL): Refused | null;
  /** Name lookup of the connection: answers only allowed addresses. */
  lookup: LookupFunction;
}

export function createAddressGuard(allowed: readonly string[], resolve = systemLookup): AddressGuard {
  const named = new Set(allowed.map(bareHost));
  const refuse = (url: URL): Refused | null => {
    const host = bareHost(url.hostname);
    if (named.has(host)) return null;
    if (url.protocol !== 'https:') return { refused: `${url.protocol}// is not allowed to ${host}` };
    if (isIP(host) !== 0 && !isPublicAddress(host)) return { refused: `${host} is no public address` };
    return null;
  };
  const lookup: LookupFunction = (hostname, options, callback) => {
    const wanted: LookupOptions = { ...(typeof options === 'object' ? options : {}), all: true };
    resolve(hostname, wanted, (error, found) => {
      if (error) return callback(error, '', 4);
      const all = found as unknown as LookupAddress[];
      const isNamed = named.has(bareHost(hostname));
      const good = isNamed ? all : all.filter(({ address }) => isPublicAddress(address));
      if (good.length === 0) {
        const shown = all.map(({ address }) => address).join(', ');
        return callback(new AddressRefused(`${hostname} is ${shown}, no public address`), '', 4);
      }
      if (typeof options === 'object' && options.all) return callback(null, good);
      callback(null, good[0].address, good[0].family);
    });
  };
  return { refuse, lookup };
}
