/**
 * Which addresses are public: reached over the internet, and by nobody's inner network alone. The one table of networks
 * for everything that connects on somebody else's word (the egress guard of the service, webhooks of a watch).
 *
 * Promises: what is no address is not public, and neither is an address that contains another one in a way that a router
 * or this machine may follow (6to4, Teredo, translated and mapped IPv4).
 */
import { BlockList, isIP } from 'node:net';

const NOT_PUBLIC = new BlockList();
for (const [network, bits] of [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  // An address of the host below a virtual machine, where it has answered with the machine's own secrets.
  ['168.63.129.16', 32],
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

/** An address as a connection has it: without the brackets of a URL and without the zone (`fe80::1%eth0`). */
export function bareAddress(address: string): string {
  const text = address.replace(/^\[|\]$/g, '');
  const zone = text.indexOf('%');
  return zone === -1 ? text : text.slice(0, zone);
}

export function isPublicAddress(address: string): boolean {
  const version = isIP(address);
  if (version === 4) return !NOT_PUBLIC.check(address, 'ipv4');
  return version === 6 && PUBLIC_V6.check(address, 'ipv6') && !NOT_PUBLIC.check(address, 'ipv6');
}

/** The first six groups of addresses whose last two are an IPv4 address that is connected to. */
const CARRIERS: ReadonlySet<string> = new Set(['0:0:0:0:0:ffff', '64:ff9b:0:0:0:0']);

/**
 * The IPv4 address that a connection to this IPv6 address ends at: of a mapped address (this machine uses IPv4), and of
 * one with the well-known prefix by which networks without IPv4 reach IPv4 hosts. Any other address as it is.
 */
export function reachedAddress(address: string): string {
  const bare = bareAddress(address);
  if (isIP(bare) !== 6) return bare;
  const groups = groupsOf(bare);
  if (!CARRIERS.has(groups.slice(0, 6).join(':'))) return bare;
  const [high, low] = groups.slice(6).map((group) => Number.parseInt(group, 16));
  return [high >> 8, high & 255, low >> 8, low & 255].join('.');
}

/** The eight groups of an IPv6 address, without leading zeros. */
function groupsOf(address: string): string[] {
  // The URL parser writes an address in one way only, and never with a dotted part.
  const [head, tail] = new URL(`http://[${address}]/`).hostname.slice(1, -1).split('::');
  const [before, after] = [head, tail].map((part) => (part ? part.split(':') : []));
  return [...before, ...Array<string>(8 - before.length - after.length).fill('0'), ...after];
}

export const ADDRESS_REFUSED_CODE = 'SUMI_EGRESS';

/** Every address that was found is refused. Another try changes nothing. */
export class AddressRefused extends Error {
  readonly code = ADDRESS_REFUSED_CODE;
}
