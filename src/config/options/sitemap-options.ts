/** Options for sitemaps: whether and where the crawl tries to find them, how much of one is read, how long it is used. */

import { LONG_GUESSES, SHORT_GUESSES } from '../guessed-paths.ts';
import type { OptionGroup } from '../option-spec.ts';

export const sitemapOptions = {
  discover: {
    setBy: 'project',
    type: 'list',
    min: 1,
    choices: ['sitemap', 'links'],
    expected: 'sitemap, links, or both',
    placeholder: 'sitemap,links',
    doc: 'How to find pages: by the sitemaps of the start hosts, by links, or both. Without links, links are recorded and not followed.',
  },
  'sitemap-cache-hours': {
    setBy: 'project',
    type: 'number',
    default: 24,
    min: 0,
    max: 8760,
    placeholder: 'HOURS',
    hashed: false,
    doc: 'How long to use the stored content of a host’s sitemaps before they are read again.',
  },
  'sitemap-paths': {
    setBy: 'project',
    type: 'list',
    default: SHORT_GUESSES,
    pattern: '^(none|long|/\\S*)$',
    expected: 'paths that begin with /, or one of the words none and long',
    placeholder: 'LIST',
    hashed: false,
    doc: `Paths to try for a sitemap if robots.txt names none. The first sitemap found is used. Each path costs at most one request per start host. none: try no path. long: try ${LONG_GUESSES.length} usual paths.`,
  },
  'max-sitemap-bytes': {
    setBy: 'project',
    type: 'bytes',
    default: 104_857_600,
    min: 1,
    max: 1_073_741_824,
    hashed: false,
    doc: 'The most bytes to read of a sitemap, after decompression (the protocol allows 50 MB).',
  },
} as const satisfies OptionGroup;
