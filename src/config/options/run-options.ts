/** Options about the run as a whole: where it is kept and what is printed. None of them changes what is crawled. */

import { isStoreAddress } from '../../primitives/store-address.ts';
import type { OptionGroup } from '../option-spec.ts';
import { PROFILE_NAMES } from '../program.ts';

const isFilled = (text: string) => text.trim() !== '';

export const runOptions = {
  config: {
    type: 'string',
    nullable: true,
    default: null,
    expected: 'the path of a file',
    placeholder: 'FILE',
    hashed: false,
    doc: 'TOML file with options, named like the flags.',
  },
  profile: {
    type: 'enum',
    choices: PROFILE_NAMES,
    default: 'site',
    hashed: false,
    doc: 'A named set of defaults, for the kind of crawl.',
  },
  db: {
    type: 'string',
    default: './sumi.db',
    check: (text) => isFilled(text) && !/^[a-z][a-z+]*:\/\//i.test(text),
    expected: 'the path of a file (the address of a PostgreSQL database goes to --store)',
    placeholder: 'FILE',
    hashed: false,
    doc: 'The SQLite file to use.',
  },
  store: {
    type: 'string',
    nullable: true,
    default: null,
    check: isStoreAddress,
    expected: 'postgres://USER:PASSWORD@HOST:PORT/DATABASE',
    placeholder: 'URL',
    hashed: false,
    secret: true,
    doc: 'A PostgreSQL database to use in place of --db, which many machines can share.',
  },
  project: {
    type: 'string',
    nullable: true,
    default: null,
    check: isFilled,
    expected: 'a name',
    placeholder: 'NAME',
    hashed: false,
    doc: 'The project: pages and history under one name in the database. Without it a crawl takes the start hosts as the name, with their ports where these are not 80 or 443.',
  },
  isolated: {
    type: 'boolean',
    default: false,
    hashed: false,
    doc: 'Make a new project for this run only. It shares nothing with other runs, except the pauses between requests to a host.',
  },
  meta: {
    type: 'list',
    default: [],
    split: 'pair',
    check: (text) => /^[\w.-]+=/.test(text),
    expected: 'NAME=VALUE',
    placeholder: 'NAME=VALUE',
    hashed: false,
    doc: 'A note to keep with the run, shown by `sumi runs` and `sumi report`. Repeat it for more notes.',
  },
  fresh: {
    type: 'boolean',
    default: false,
    hashed: false,
    doc: 'Start from nothing: end an unfinished run and delete the pages of the project.',
  },
  json: {
    type: 'boolean',
    default: false,
    hashed: false,
    doc: 'Write events to standard output as JSON, one object per line.',
  },
  format: {
    type: 'enum',
    choices: ['table', 'json', 'jsonl', 'csv'],
    default: 'table',
    hashed: false,
    doc: 'How to print lists.',
  },
  quiet: { type: 'boolean', default: false, short: 'q', hashed: false, doc: 'Print errors only.' },
  verbose: {
    type: 'count',
    default: 0,
    min: 0,
    max: 9,
    short: 'v',
    hashed: false,
    doc: 'Print more. Repeat it for still more.',
  },
} as const satisfies OptionGroup;
