/** The sitemaps that a page names: `<link rel="sitemap">`, and the same in its Link header. As written, in order. */

/** Links are in the head of a page; what follows is not read. */
export const HEAD_BYTES = 256 * 1024;
const NO_MARKUP = /<!--[\s\S]*?(?:-->|$)|<(script|style)\b[\s\S]*?(?:<\/\1|$)/gi;
const LINK_TAG = /<link\b((?:[^>"']|"[^"]*"|'[^']*')*)>/gi;
const ATTRIBUTE = /([\w-]+)\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+))/g;

export function sitemapLinks(html: Uint8Array, linkHeader: string | null): string[] {
  const text = Buffer.from(html.buffer, html.byteOffset, Math.min(html.length, HEAD_BYTES)).toString('utf8');
  const found = [...linksInHeader(linkHeader ?? '')];
  for (const [, attributes] of text.replace(NO_MARKUP, '').matchAll(LINK_TAG)) {
    const values = new Map(
      [...attributes.matchAll(ATTRIBUTE)].map(([, name, a, b, c]) => [name.toLowerCase(), a ?? b ?? c]),
    );
    const href = values.get('href')?.trim();
    if (href && isSitemapRel(values.get('rel') ?? '')) found.push(href.replaceAll('&amp;', '&'));
  }
  return [...new Set(found)];
}

/** RFC 8288: `<target>; rel="sitemap", <another>; …`. */
function* linksInHeader(header: string): Generator<string> {
  for (const [, target, parameters] of header.matchAll(/<([^>]*)>((?:[^,"]|"[^"]*")*)/g)) {
    const rel = /;\s*rel\s*=\s*(?:"([^"]*)"|([^\s;]+))/i.exec(parameters);
    if (rel !== null && isSitemapRel(rel[1] ?? rel[2])) yield target.trim();
  }
}

function isSitemapRel(rel: string): boolean {
  return rel.toLowerCase().split(/\s+/).includes('sitemap');
}
