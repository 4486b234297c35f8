/** Options of sitemaps: whether and where they are looked for, how much of one is read, how long it is remembered. */

import { LONG_GUESSES, SHORT_GUESSES } from '../guessed-paths.ts';
import type { OptionGroup } from '../option-spec.ts';

const WAYS: readonly string[] = ['sitemap', 'links'];

export const sitemapOptions = {
  discover: {
    type: 'list',
    min: 1,
    check: (text) => WAYS.includes(text),
    expected: 'sitemap, links, or both',
    placeholder: 'sitemap,links',
    doc: 'How pages are found: by the sitemaps of the start hosts, by links. Without links they are recorded and not followed.',
  },
  'sitemap-cache-hours': {
    type: 'number',
    default: 24,
    min: 0,
    max: 8760,
    placeholder: 'HOURS',
    hashed: false,
    doc: 'How long what was found of the sitemaps of a host is believed before they are looked for again.',
  },
  'sitemap-paths': {
    type: 'list',
    default: SHORT_GUESSES,
    check: (text) => text === 'none' || text === 'long' || /^\/\S*$/.test(text),
    expected: 'paths that begin with /, or one of the words none and long',
    placeholder: 'LIST',
    hashed: false,
    doc: `Paths tried on a site whose robots.txt names no sitemap, up to the first that has one. Each costs a request per start host. none: no path is tried. long: ${LONG_GUESSES.length} usual paths are tried.`,
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
