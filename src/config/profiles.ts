/**
 * The profiles: the defaults on which the specifications disagree (DESIGN section 4), and the limits that one
 * of them narrows. Plain data; an option that differs between profiles has its default here and nowhere else.
 */

import type { OptionName, ProfileDefaults } from './option-table.ts';
import type { ProfileName } from './program.ts';

interface Profile {
  doc: string;
  defaults: ProfileDefaults;
  limits: Partial<Record<OptionName, { min?: number; max?: number }>>;
}

const HTML = ['text/html', 'application/xhtml+xml'];

/** The defaults of `site`; the three after it are the same but for a few. */
const SITE: ProfileDefaults = {
  'allowed-hosts': ['host'],
  'max-depth': null,
  'max-domain-requests': null,
  normalize: 'standard',
  'allow-http': true,
  delay: 0.5,
  concurrency: 5,
  'per-host': 5,
  'on-429': 'backoff',
  retries: 3,
  'retry-backoff': 'exponential',
  'retry-delay': 1,
  'retry-refused': true,
  'head-first': false,
  'accept-types': HTML,
  timeout: 60,
  'respect-nofollow': true,
  'respect-noindex': false,
  'store-text': true,
  discover: ['sitemap', 'links'],
  mode: 'full',
};

export const PROFILES: Readonly<Record<ProfileName, Profile>> = {
  site: {
    doc: 'one site or a few, for `sumi crawl` and projects',
    defaults: SITE,
    limits: {},
  },
  terrain: {
    doc: 'maps of the web around chosen domains',
    defaults: {
      'allowed-hosts': ['any'],
      'max-depth': 3,
      'max-domain-requests': 500,
      normalize: 'terrain',
      'allow-http': false,
      delay: 1,
      concurrency: 10,
      'per-host': 1,
      'on-429': 'suspend',
      retries: 3,
      'retry-backoff': 'constant',
      'retry-delay': 5,
      'retry-refused': false,
      'head-first': true,
      'accept-types': HTML,
      timeout: 30,
      'respect-nofollow': false,
      'respect-noindex': false,
      // A map is of links; their pages' words can be had with --store-text.
      'store-text': false,
      discover: ['links'],
      mode: 'full',
    },
    // Specification 004 section 2.2.
    limits: { concurrency: { max: 100 }, delay: { min: 0.1 } },
  },
  sql: {
    doc: 'CRAWL statements',
    defaults: {
      'allowed-hosts': ['host'],
      'max-depth': null,
      'max-domain-requests': null,
      normalize: 'standard',
      'allow-http': true,
      delay: 1,
      concurrency: 32,
      'per-host': 8,
      'on-429': 'backoff',
      retries: 5,
      'retry-backoff': 'fibonacci',
      'retry-delay': 1,
      'retry-refused': true,
      'head-first': false,
      'accept-types': ['*/*'],
      timeout: 30,
      'respect-nofollow': true,
      'respect-noindex': true,
      'store-text': true,
      discover: ['links'],
      mode: 'full',
    },
    limits: {},
  },
  // Appendix C of specification 003.
  conservative: {
    doc: 'a site that can take few requests: long pauses, and no request for a page that did not change',
    defaults: {
      ...SITE,
      'max-depth': 3,
      delay: 2,
      concurrency: 2,
      'per-host': 1,
      'head-first': true,
      mode: 'incremental',
    },
    limits: {},
  },
  balanced: {
    doc: 'a site that is crawled again and again: only pages that changed are read',
    defaults: { ...SITE, 'max-depth': 5, mode: 'incremental' },
    limits: {},
  },
  aggressive: {
    doc: 'a site that can take many requests and must be fresh: all pages; a sample decides how',
    defaults: {
      ...SITE,
      delay: 0.2,
      concurrency: 32,
      'per-host': 8,
      mode: 'smart',
    },
    limits: {},
  },
};
