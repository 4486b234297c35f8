/**
 * Entries as nearly every urlset writes them: loc, lastmod, changefreq and priority, in this order, each at most once,
 * without attributes, references or characters beyond ASCII. One regular expression reads such an entry, and V8 runs it
 * at full speed from the second entry on. Any other entry is left to the scanner, from the same place.
 */

const SPACE = '[\\t\\n\\r ]*';
/** Plain characters: no white space, no `&`, no `<`. */
const VALUE = "([!-%'-;=-~]+)";
const field = (name: string) => `<${name}>${SPACE}${VALUE}${SPACE}</${name}>${SPACE}`;

const ENTRY = new RegExp(
  `(${SPACE}<url>${SPACE}<loc>${SPACE})${VALUE}${SPACE}</loc>${SPACE}` +
    `(?:${field('lastmod')})?(?:${field('changefreq')})?(?:${field('priority')})?</url>`,
  'y',
);

export interface PlainEntry {
  /** The position of the URL, and the end of the entry. */
  locStart: number;
  locEnd: number;
  end: number;
  lastmod: string | undefined;
  changefreq: string | undefined;
  priority: string | undefined;
}

/** The entry that begins here; null if there is none, if it is not plain, or if it is not complete. */
export function readPlainEntry(text: string, at: number): PlainEntry | null {
  ENTRY.lastIndex = at;
  const match = ENTRY.exec(text);
  if (match === null) return null;
  const locStart = at + match[1].length;
  return {
    locStart,
    locEnd: locStart + match[2].length,
    end: at + match[0].length,
    lastmod: match[3],
    changefreq: match[4],
    priority: match[5],
  };
}
