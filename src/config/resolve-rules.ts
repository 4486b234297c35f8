/** Reads --resolve NAME=ADDRESS[:PORT]: a host name that is connected to a given address without asking DNS. */

import { isIP } from 'node:net';

export interface ResolveRule {
  name: string;
  address: string;
  /** Null keeps the port of the URL. */
  port: number | null;
}

/** Names that are connected to without a lookup. */
export function resolvedNames({ resolveRules }: { resolveRules: readonly ResolveRule[] }) {
  return new Map<string, { address: string; port?: number }>(
    resolveRules.map(({ name, address, port }) => [name, { address, port: port ?? undefined }]),
  );
}

/** Null when the text is not such a rule. */
export function parseResolveRule(text: string): ResolveRule | null {
  const equals = text.indexOf('=');
  const name = text.slice(0, Math.max(equals, 0)).trim().toLowerCase().replace(/\.$/, '');
  const target = text.slice(equals + 1).trim();
  if (name === '' || /[\s/:@?#*]/.test(name) || !URL.canParse(`http://${name}/`)) return null;
  const hostname = new URL(`http://${name}/`).hostname;
  if (isIP(target) !== 0) return { name: hostname, address: target, port: null };
  const match = /^(?:\[([^\]]+)\]|([^:[\]]+))(?::(\d{1,5}))?$/.exec(target);
  const address = match?.[1] ?? match?.[2] ?? '';
  const port = match?.[3] === undefined ? null : Number(match[3]);
  if (isIP(address) === 0 || (port !== null && (port < 1 || port > 65_535))) return null;
  return { name: hostname, address, port };
}
