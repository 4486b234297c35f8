/**
 * Reads one entry of `egress-allow`: a host name, an address or a network in CIDR notation. What can be read in two ways
 * is refused, with the reason.
 */
import { isIP } from 'node:net';
import { sumiError } from '../errors.ts';

export type AllowedTarget =
  | { name: string }
  /** A single address is a network of its full length. */
  | { network: string; bits: number; family: 'ipv4' | 'ipv6' };

const NAME = /^[^\s/:@?#[\]%*]+$/;

/** `place`: where it was written, for the message. */
export function readAllowedTarget(text: string, place: string): AllowedTarget {
  const value = text.trim();
  const read = value.includes('/') && !value.includes('://') ? readNetwork(value) : readHost(value);
  if (typeof read !== 'string') return read;
  throw sumiError('egress-allow-malformed', { value: text, place, reason: read });
}

/** A text: what is wrong. */
function readNetwork(value: string): AllowedTarget | string {
  const cut = value.indexOf('/');
  const network = withoutBrackets(value.slice(0, cut));
  const length = value.slice(cut + 1);
  const version = isIP(network);
  if (version === 0) return `"${value.slice(0, cut)}" is no address; a network is written as 10.0.0.0/8`;
  if (network.includes('%')) return 'an address is allowed without its zone';
  const most = version === 4 ? 32 : 128;
  if (!/^(0|[1-9]\d{0,2})$/.test(length) || Number(length) > most)
    return `expected a number from 0 to ${most} after the slash`;
  return { network, bits: Number(length), family: version === 4 ? 'ipv4' : 'ipv6' };
}

function readHost(value: string): AllowedTarget | string {
  const address = withoutBrackets(value);
  const version = isIP(address);
  if (address.includes('%')) return 'an address is allowed without its zone';
  if (version === 4) return { network: address, bits: 32, family: 'ipv4' };
  if (version === 6) return { network: address, bits: 128, family: 'ipv6' };
  if (value === '') return 'it is empty';
  if (value.includes('://')) return 'it is a URL; expected only its host';
  if (value.includes('*')) return 'an asterisk has no meaning here; expected a whole host name';
  if (/^(\[.*\]|[^:]+):\d+$/.test(value)) return 'it has a port; a host is allowed with all its ports';
  if (!NAME.test(value) || !URL.canParse(`http://${value}/`)) return 'it is no host name and no address';
  const { hostname } = new URL(`http://${value}/`);
  // 127.1, 0x7f000001 and 2130706433 are addresses to a URL; most people would take them for something else.
  if (isIP(hostname) !== 0) return `it is another spelling of ${hostname}; expected that one`;
  return { name: hostname.replace(/\.+$/, '') };
}

const withoutBrackets = (text: string) => (/^\[.*\]$/.test(text) ? text.slice(1, -1) : text);
