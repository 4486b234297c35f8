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
    doc: 'TOML file with options; its keys are the names of the flags.',
  },
  profile: {
    type: 'enum',
    choices: PROFILE_NAMES,
    default: 'site',
    hashed: false,
    doc: 'Named set of defaults.',
  },
  db: {
    type: 'string',
    default: './sumi.db',
    check: (text) => isFilled(text) && !/^[a-z][a-z+]*:\/\//i.test(text),
    expected: 'the path of a file (the address of a PostgreSQL database goes to --store)',
    placeholder: 'FILE',
    hashed: false,
    doc: 'The database, an SQLite file.',
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
    doc: 'A PostgreSQL database that many workers share, in place of --db.',
  },
  project: {
    type: 'string',
    nullable: true,
    default: null,
    check: isFilled,
    expected: 'a name',
    placeholder: 'NAME',
    hashed: false,
    doc: 'Name of the corpus in the database. Without it: the start hosts, with their ports where these are not those of http and https.',
  },
  isolated: {
    type: 'boolean',
    default: false,
    hashed: false,
    doc: 'A project of its own for this run: nothing is shared with other runs but the hosts’ clocks.',
  },
  meta: {
    type: 'list',
    default: [],
    split: 'pair',
    check: (text) => /^[\w.-]+=/.test(text),
    expected: 'NAME=VALUE',
    placeholder: 'NAME=VALUE',
    hashed: false,
    doc: 'Notes kept with the run and shown by `sumi runs` and `sumi report`; may be repeated.',
  },
  fresh: {
    type: 'boolean',
    default: false,
    hashed: false,
    doc: 'Close an unfinished run, forget the pages of the project, and start anew.',
  },
  json: {
    type: 'boolean',
    default: false,
    hashed: false,
    doc: 'Write events to standard output, one JSON object a line.',
  },
  format: {
    type: 'enum',
    choices: ['table', 'json', 'jsonl', 'csv'],
    default: 'table',
    hashed: false,
    doc: 'How lists are printed.',
  },
  quiet: { type: 'boolean', default: false, short: 'q', hashed: false, doc: 'Print errors only.' },
  verbose: {
    type: 'count',
    default: 0,
    min: 0,
    max: 9,
    short: 'v',
    hashed: false,
    doc: 'Print more; may be repeated.',
  },
} as const satisfies OptionGroup;
