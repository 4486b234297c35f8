/** The paths at which a sitemap is looked for when robots.txt names none, and what the words of `sitemap-paths` mean. */

/** Nearly every site whose sitemap can be guessed has it at one of these two. */
export const SHORT_GUESSES: readonly string[] = ['/sitemap.xml', '/sitemap_index.xml'];

export const LONG_GUESSES: readonly string[] = [
  ...SHORT_GUESSES,
  '/sitemap-index.xml',
  '/sitemapindex.xml',
  '/sitemap/sitemap.xml',
  '/sitemaps/sitemap.xml',
  '/sitemap1.xml',
  '/wp-sitemap.xml',
  '/sitemap.xml.gz',
  '/sitemap/index.xml',
  '/sitemap.txt',
];

const WORDS: Readonly<Record<string, readonly string[]>> = { none: [], long: LONG_GUESSES };

/** The paths that a value of the option `sitemap-paths` stands for, each once. */
export function guessedPaths(values: readonly string[]): readonly string[] {
  return [...new Set(values.flatMap((value) => WORDS[value] ?? [value]))];
}
