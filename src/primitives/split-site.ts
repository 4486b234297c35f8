/** Splits a site as people write it into name and port. The default port of http or https is left out. */
export function splitSite(text: string): { name: string; port: string | null } {
  const found = /^(.*?):(\d+)$/.exec(text);
  // An IPv6 address contains colons, and has brackets around it.
  if (found === null || (found[1].startsWith('[') && !found[1].endsWith(']')))
    return { name: text, port: null };
  return { name: found[1], port: found[2] };
}
