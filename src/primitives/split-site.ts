/** A site as people write it, in its two parts; the port of http or https is no part of it. */
export function splitSite(text: string): { name: string; port: string | null } {
  const found = /^(.*?):(\d+)$/.exec(text);
  // The address of IPv6 has colons of its own, and brackets around them.
  if (found === null || (found[1].startsWith('[') && !found[1].endsWith(']')))
    return { name: text, port: null };
  return { name: found[1], port: found[2] };
}
