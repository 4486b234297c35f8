/** The element names of sitemaps and feeds, found in the bytes of a tag without making a string. */

const NAMES = [
  'urlset',
  'sitemapindex',
  'rss',
  'rdf',
  'feed',
  'url',
  'sitemap',
  'item',
  'entry',
  'loc',
  'lastmod',
  'changefreq',
  'priority',
  'link',
  'guid',
  'pubdate',
  'date',
  'updated',
  'published',
  'modified',
  'issued',
  'image',
  'video',
  'news',
  'source',
  'content',
  'summary',
  'title',
  'content_loc',
  'player_loc',
  'thumbnail_loc',
  'name',
  'language',
  'publication_date',
] as const;

export type TagName = (typeof NAMES)[number];

/** Case does not count: this bit is set in all letters. */
const FOLD = 0x20;
const SLOTS = 128;

interface KnownName {
  name: TagName;
  bytes: Uint8Array;
}

/** By length, first and last letter: at most two or three names share a slot. */
const slots: readonly (readonly KnownName[])[] = makeSlots();

function makeSlots(): KnownName[][] {
  const made: KnownName[][] = Array.from({ length: SLOTS }, () => []);
  for (const name of NAMES) {
    const bytes = Uint8Array.from(name, (letter) => letter.charCodeAt(0) | FOLD);
    made[slotOf(bytes, 0, bytes.length)].push({ name, bytes });
  }
  return made;
}

function slotOf(bytes: Uint8Array, start: number, end: number): number {
  return ((end - start) * 37 + (bytes[start] | FOLD) * 5 + (bytes[end - 1] | FOLD)) % SLOTS;
}

/** For a local name, without its prefix; null for an unknown one. */
export function tagNameOf(bytes: Uint8Array, start: number, end: number): TagName | null {
  const candidates = slots[slotOf(bytes, start, end)];
  for (let i = 0; i < candidates.length; i++) {
    const known = candidates[i];
    if (isSame(bytes, start, end, known.bytes)) return known.name;
  }
  return null;
}

function isSame(bytes: Uint8Array, start: number, end: number, name: Uint8Array): boolean {
  if (name.length !== end - start) return false;
  for (let i = 0; i < name.length; i++) if ((bytes[start + i] | FOLD) !== name[i]) return false;
  return true;
}
