/**
 * What an option is: the shape of one entry of the option table, and the type of its value in the configuration.
 * Everything else about options (flags, environment names, TOML keys, help, docs/options.md, validation, the Config
 * type) is derived from these entries; nothing about an option is written a second time.
 */

import type { FormatName } from './option-formats.ts';

/**
 * seconds: a number of seconds or text with a unit (500ms, 2m). bytes: a number or text with a unit (10MB).
 * list: text items; comma-separated or repeated. count: a flag that may be repeated (-vv).
 */
type OptionType =
  | 'boolean'
  | 'integer'
  | 'number'
  | 'string'
  | 'enum'
  | 'list'
  | 'seconds'
  | 'bytes'
  | 'count';

/**
 * Who may set an option. operator: only whoever runs the program on this machine. project: it may be kept with a project,
 * and be set by somebody who only reaches the API. command: it applies to a single command only.
 */
export type SetBy = 'operator' | 'project' | 'command';

export type OptionValue = boolean | number | string | readonly string[] | null;

export interface OptionSpec {
  /** Required, so that nobody forgets it: docs/decisions/0048-who-may-set-an-option.md says how to decide. */
  setBy: SetBy;
  type: OptionType;
  /** One sentence for help and docs. */
  doc: string;
  /** What --no-NAME does, for help; a boolean that is on by default has it. */
  offDoc?: string;
  /** Absent when every profile gives its own (profiles.ts). */
  default?: OptionValue;
  /** The option may have no value (null); text sources say it with "none". */
  nullable?: true;
  /** Of a list: the least number of items. */
  min?: number;
  max?: number;
  choices?: readonly string[];
  /**
   * How one text splits into items: at commas, at commas outside brackets (patterns), at white space (URLs), or at
   * commas before the next NAME= (pairs); none: each text is one item.
   */
  split?: 'comma' | 'pattern' | 'space' | 'pair' | 'none';
  /** A regular expression that a text (each item of a list) has to match; `expected` then says what is meant. */
  pattern?: string;
  /** The same, for what takes more than a pattern. */
  format?: FormatName;
  expected?: string;
  /** What stands for the value in help: --delay SECONDS. */
  placeholder?: string;
  /** One-letter flag. */
  short?: string;
  /** False for what does not change what a crawl does; the rest makes up the config hash. */
  hashed?: false;
  /** False for what a watch may spend: each watch gets it anew, and no stored run passes it on. */
  ofRun?: false;
  /** May hold a password, and is shown without it; whole: it is one, and never shown. Never stored. */
  secret?: true | 'whole';
}

export type OptionGroup = Readonly<Record<string, OptionSpec>>;

type PlainValue<Spec extends OptionSpec> = Spec['type'] extends 'boolean'
  ? boolean
  : Spec['type'] extends 'string'
    ? string
    : Spec['type'] extends 'list'
      ? readonly string[]
      : Spec['type'] extends 'enum'
        ? Spec extends { choices: readonly (infer Choice)[] }
          ? Choice
          : never
        : number;

export type ValueOf<Spec extends OptionSpec> =
  | PlainValue<Spec>
  | (Spec extends { nullable: true } ? null : never);

export type CamelCase<Name extends string> = Name extends `${infer Head}-${infer Tail}`
  ? `${Head}${Capitalize<CamelCase<Tail>>}`
  : Name;

export function camelCase<Name extends string>(name: Name): CamelCase<Name> {
  return name.replace(/-(.)/g, (_, letter: string) => letter.toUpperCase()) as CamelCase<Name>;
}

export function environmentName(name: string): string {
  return `SUMI_${name.replaceAll('-', '_').toUpperCase()}`;
}
