/** Options of sitemaps: where they are looked for, and how much of one is read. */

import type { OptionGroup } from '../option-spec.ts';

export const sitemapOptions = {
  'sitemap-paths': {
    type: 'list',
    default: [
      '/sitemap.xml',
      '/sitemap_index.xml',
      '/sitemap-index.xml',
      '/sitemapindex.xml',
      '/sitemap/sitemap.xml',
      '/sitemaps/sitemap.xml',
      '/sitemap1.xml',
      '/wp-sitemap.xml',
      '/sitemap.xml.gz',
      '/sitemap/index.xml',
      '/sitemap.txt',
    ],
    check: (text) => /^\/\S*$/.test(text),
    expected: 'paths that begin with /',
    placeholder: 'LIST',
    hashed: false,
    doc: 'Paths tried, up to the first hit, on a site whose robots.txt names no sitemap.',
  },
  'max-sitemap-bytes': {
    type: 'bytes',
    default: 104_857_600,
    min: 1,
    max: 1_073_741_824,
    hashed: false,
    doc: 'So much of a sitemap is read, after unpacking; the protocol allows 50 MB.',
  },
} as const satisfies OptionGroup;
