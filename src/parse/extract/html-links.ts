/**
 * The links of a page that a reader can follow: `a` and `area` with an address. Addresses are resolved as browsers do,
 * against `<base>` and the page's own address. Nothing is left out by scheme; what cannot be resolved has no URL.
 */
import { attributeOf, type PageDocument, type PageElement } from './page-tree.ts';
import { foldSpaces, textOf } from './text-of.ts';

export interface HtmlLink {
  /** As written, without the white space around it. */
  href: string;
  /** Null if it cannot be resolved: it is relative and there is no base, or it is no URL. */
  url: string | null;
  text: string;
  rel: string | null;
  /** By its own rel. */
  isNofollow: boolean;
}

export function linksOf(document: PageDocument, address: string | null = null): HtmlLink[] {
  const base = baseOf(document, address);
  const links: HtmlLink[] = [];
  for (const element of document.elements) {
    if (element.isForeign || (element.name !== 'a' && element.name !== 'area')) continue;
    const href = attributeOf(element, 'href');
    if (href === null) continue;
    const rel = attributeOf(element, 'rel');
    links.push({
      href: href.trim(),
      url: resolve(href, base),
      text: labelOf(element),
      rel: rel === null ? null : foldSpaces(rel),
      isNofollow: rel?.toLowerCase().split(/\s+/).includes('nofollow') === true,
    });
  }
  return links;
}

function labelOf(element: PageElement): string {
  if (element.name === 'area') return foldSpaces(attributeOf(element, 'alt') ?? '');
  return textOf(element, { hasAlt: true, isOneLine: true });
}

/** The first `<base href>` counts. */
function baseOf({ elements }: PageDocument, address: string | null): string | null {
  for (const element of elements) {
    const href = element.name === 'base' ? attributeOf(element, 'href') : null;
    if (href !== null) return resolve(href, address) ?? address;
  }
  return address;
}

function resolve(href: string, base: string | null): string | null {
  const against = base ?? undefined;
  return URL.canParse(href, against) ? new URL(href, against).href : null;
}
