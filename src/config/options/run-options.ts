/** Options about the run as a whole: where it is kept and what is printed. None of them changes what is crawled. */

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
    check: isFilled,
    expected: 'the path of a file',
    placeholder: 'FILE',
    hashed: false,
    doc: 'The database.',
  },
  project: {
    type: 'string',
    nullable: true,
    default: null,
    check: isFilled,
    expected: 'a name',
    placeholder: 'NAME',
    hashed: false,
    doc: 'Name of the corpus in the database. Without it: the start hosts.',
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
