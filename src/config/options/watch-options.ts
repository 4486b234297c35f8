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
    doc: 'How pages are chosen to be visited again: by the freshness that a visit buys, by 003’s priority, or by the intervals of its appendix B.',
  },
  budget: {
    type: 'string',
    default: '5000/day',
    check: isRate,
    expected: 'a number of visits, as in 5000/day (or /minute, /hour, /week)',
    placeholder: 'N/day',
    hashed: false,
    doc: 'Visits that a watch may make in that time, its first crawl included: never more, and evenly spread after the first crawl.',
  },
  'host-budget': {
    type: 'string',
    nullable: true,
    default: null,
    check: isRate,
    expected: 'a number of visits, as in 500/day (or /minute, /hour, /week)',
    placeholder: 'N/day',
    hashed: false,
    doc: 'The same for each host.',
  },
  hours: {
    type: 'string',
    nullable: true,
    default: null,
    check: (text) => readHours(text) !== null,
    expected: 'two hours of the day, as in 22-6',
    placeholder: 'FROM-TO',
    hashed: false,
    doc: 'A watch visits pages in these hours only, by the clock of this machine; all hours unless said.',
  },
  every: {
    type: 'seconds',
    default: 900,
    min: 1,
    max: 604_800,
    placeholder: 'TIME',
    hashed: false,
    doc: 'A watch looks this often for what is due.',
  },
  feed: {
    type: 'list',
    default: [],
    split: 'space',
    check: isFeedAddress,
    expected: 'addresses of feeds or sitemaps, without user and password (those go to --auth)',
    placeholder: 'URL',
    hashed: false,
    doc: 'Feeds (RSS, Atom) and sitemaps read besides those that the sites name; may be repeated.',
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
    doc: 'Every page that changed, came or went is sent there as JSON by POST; may be repeated.',
  },
  'webhook-allow': {
    type: 'list',
    default: [],
    check: (text) => /^[^\s/@]+$/.test(text),
    expected: 'names or addresses of hosts',
    placeholder: 'HOST',
    hashed: false,
    doc: 'Hosts of webhooks that may be in a private network, or speak plain http; may be repeated.',
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
    doc: 'Webhooks are signed with it (HMAC-SHA256); better given as SUMI_WEBHOOK_SECRET than as a flag.',
  },
  'webhook-secret-file': {
    type: 'string',
    nullable: true,
    default: null,
    expected: 'the path of a file',
    placeholder: 'FILE',
    hashed: false,
    doc: 'The same, read from a file.',
  },
  'on-change': {
    type: 'string',
    nullable: true,
    default: null,
    check: (text) => readWords(text) !== null,
    expected: 'a command with its arguments, every quote closed',
    placeholder: 'COMMAND',
    hashed: false,
    doc: 'Program run for every page that changed, came or went, without a shell: the event is its standard input.',
  },
} as const satisfies OptionGroup;
