/**
 * Addresses that webhooks may use: https to public addresses, and any host that the operator names. The check is made
 * in the name lookup of the connection itself, so that the address cannot change between check and use.
 */
import { type LookupAddress, type LookupOptions, lookup as systemLookup } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import { AddressRefused, isPublicAddress } from '../primitives/public-address.ts';

/** The host as a URL shows it, without brackets. */
const bareHost = (host: string) => host.replace(/^\[|\]$/g, '').toLowerCase();

export type Refused = { refused: string };

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
