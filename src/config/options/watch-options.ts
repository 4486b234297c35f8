/** Options of `sumi watch`: how much it may visit and when, by which rule, and who hears of what changed. */

import type { OptionGroup } from '../option-spec.ts';
import { authorizationOf } from '../url-credentials.ts';
import { readHours, readRate, readWords } from '../watch-values.ts';

const isRate = (text: string) => readRate(text) !== null;
const isWebAddress = (text: string) => URL.canParse(text) && /^https?:$/.test(new URL(text).protocol);
/** Passwords of sites go to the origins of the start URLs, by options that are never stored. */
const isFeedAddress = (text: string) => isWebAddress(text) && authorizationOf(new URL(text)) === null;

export const watchOptions = {
  revisit: {
    type: 'enum',
    choices: ['value', 'score', 'bands'],
    default: 'value',
    hashed: false,
    doc: 'How to choose the pages to visit next. value: where a visit helps most to keep the copies up to date. score: by a score of change frequency, age and depth. bands: at fixed intervals, by change frequency.',
  },
  budget: {
    type: 'string',
    default: '5000/day',
    check: isRate,
    expected: 'a number of visits, as in 5000/day (or /minute, /hour, /week)',
    placeholder: 'N/day',
    hashed: false,
    doc: 'The most visits in that time, first crawl included. After the first crawl they are spread evenly.',
  },
  'host-budget': {
    type: 'string',
    nullable: true,
    default: null,
    check: isRate,
    expected: 'a number of visits, as in 500/day (or /minute, /hour, /week)',
    placeholder: 'N/day',
    hashed: false,
    doc: 'The most visits to one host in that time.',
  },
  hours: {
    type: 'string',
    nullable: true,
    default: null,
    check: (text) => readHours(text) !== null,
    expected: 'two hours of the day, as in 22-6',
    placeholder: 'FROM-TO',
    hashed: false,
    doc: 'Visit pages only in these hours, by the clock of this machine, for example 22-6. Without it: at all hours.',
  },
  every: {
    type: 'seconds',
    default: 900,
    min: 1,
    max: 604_800,
    placeholder: 'TIME',
    hashed: false,
    doc: 'How often to look for pages that are due.',
  },
  feed: {
    type: 'list',
    default: [],
    split: 'space',
    check: isFeedAddress,
    expected: 'addresses of feeds or sitemaps, without user and password (those go to --auth)',
    placeholder: 'URL',
    hashed: false,
    doc: 'A feed (RSS, Atom) or sitemap to read besides those that the site names. Repeat it for more.',
  },
  webhook: {
    type: 'list',
    default: [],
    split: 'space',
    check: isWebAddress,
    expected: 'an https address',
    placeholder: 'URL',
    hashed: false,
    secret: true,
    doc: 'Send every page that changed, came or went to this URL, as JSON by POST. Repeat it for more.',
  },
  'webhook-allow': {
    type: 'list',
    default: [],
    check: (text) => /^[^\s/@]+$/.test(text),
    expected: 'names or addresses of hosts',
    placeholder: 'HOST',
    hashed: false,
    doc: 'Allow webhooks to this host in a private network, or by plain http. Repeat it for more.',
  },
  'webhook-secret': {
    type: 'string',
    nullable: true,
    default: null,
    check: (text) => text.trim() !== '',
    expected: 'a text that only the receiver knows',
    placeholder: 'TEXT',
    hashed: false,
    secret: 'whole',
    doc: 'Sign webhooks with this secret (HMAC-SHA256). Better given as SUMI_WEBHOOK_SECRET than as a flag.',
  },
  'webhook-secret-file': {
    type: 'string',
    nullable: true,
    default: null,
    expected: 'the path of a file',
    placeholder: 'FILE',
    hashed: false,
    doc: 'Read the secret of webhooks from this file.',
  },
  'on-change': {
    type: 'string',
    nullable: true,
    default: null,
    check: (text) => readWords(text) !== null,
    expected: 'a command with its arguments, every quote closed',
    placeholder: 'COMMAND',
    hashed: false,
    doc: 'Run this program for every page that changed, came or went. It gets the event on standard input; no shell is used.',
  },
} as const satisfies OptionGroup;
