/**
 * Turns what a source gave (text of a flag or variable, a TOML value, a program's value) into the value of an
 * option, or says what was expected. Never throws and knows no places: load-config.ts makes the error.
 */

import { splitPatterns } from '../scope/split-patterns.ts';
import { findMisfit } from './check-value.ts';
import { valueSchema } from './option-schema.ts';
import type { OptionSpec, OptionValue } from './option-spec.ts';
import { BYTES_PATTERN, SECONDS_PATTERN } from './text-patterns.ts';

export type ParsedValue = { value: OptionValue } | { bad: unknown; expected: string };

const SECOND_UNITS: Record<string, number> = { ms: 0.001, s: 1, m: 60, h: 3600, d: 86_400 };
const BYTE_UNITS: Record<string, number> = { '': 1, k: 1024, m: 1024 ** 2, g: 1024 ** 3 };

const SECONDS = new RegExp(SECONDS_PATTERN);
const BYTES = new RegExp(BYTES_PATTERN);

export function parseValue(spec: OptionSpec, raw: unknown): ParsedValue {
  const value = spec.type === 'list' ? readList(spec, raw) : readScalar(spec, raw);
  const misfit = findMisfit(valueSchema(spec), value);
  if (misfit === null) return { value: value as OptionValue };
  // Of a value that was read from a text the text is shown, of a list the item.
  return {
    bad: Array.isArray(value) && misfit.bad !== value ? misfit.bad : raw,
    expected: describeExpected(spec),
  };
}

/** The value that a text stands for; what stands for none is given back and does not fit the schema. */
function readScalar(spec: OptionSpec, raw: unknown): unknown {
  if (typeof raw !== 'string' || spec.type === 'string' || spec.type === 'enum') return raw;
  // "none" takes a limit away; for texts it may be a value like any other.
  if (raw === 'none') return spec.nullable ? null : raw;
  switch (spec.type) {
    case 'boolean':
      return parseBoolean(raw) ?? raw;
    case 'seconds':
      return parseUnits(SECONDS.exec(raw), SECOND_UNITS, 's') ?? raw;
    case 'bytes': {
      const bytes = parseUnits(BYTES.exec(raw), BYTE_UNITS, '');
      return bytes === undefined ? raw : Math.floor(bytes);
    }
    default:
      return parseNumber(raw) ?? raw;
  }
}

function parseBoolean(text: string): boolean | undefined {
  if (/^(true|yes|on|1)$/i.test(text)) return true;
  return /^(false|no|off|0)$/i.test(text) ? false : undefined;
}

function parseNumber(text: string): number | undefined {
  return /^-?(\d+(\.\d+)?|\.\d+)$/.test(text.trim()) ? Number(text) : undefined;
}

function parseUnits(
  match: RegExpExecArray | null,
  units: Record<string, number>,
  plain: string,
): number | undefined {
  if (match === null) return undefined;
  const factor = units[(match[2] || plain).toLowerCase()];
  // Milliseconds are divided, not multiplied by 0.001, so that 300ms is 0.3 and not 0.30000000000000004.
  return factor < 1 ? Number(match[1]) / Math.round(1 / factor) : Number(match[1]) * factor;
}

/** Every text is split into its items, also inside an array. */
function readList(spec: OptionSpec, raw: unknown): unknown {
  const texts = typeof raw === 'string' ? [raw] : raw;
  if (!Array.isArray(texts)) return raw;
  const items = texts.flatMap((text: unknown) =>
    typeof text === 'string' ? splitItems(spec, text) : [text],
  );
  return [...new Set(items)];
}

const SEPARATORS = { comma: ',', space: /\s+/, pair: /,(?=\s*[\w.-]+=)/ } as const;

function splitItems(spec: OptionSpec, text: string): string[] {
  if (spec.split === 'pattern') return splitPatterns(text);
  if (spec.split === 'none') return [text];
  return text
    .split(SEPARATORS[spec.split ?? 'comma'])
    .map((item) => item.trim())
    .filter((item) => item !== '');
}

/** What the option takes, in words, with its limits: for errors and docs. */
export function describeExpected(spec: OptionSpec): string {
  const none = spec.nullable && spec.type !== 'string' ? ', or none' : '';
  return `${describeType(spec)}${none}`;
}

function describeType(spec: OptionSpec): string {
  if (spec.expected !== undefined) return spec.expected;
  switch (spec.type) {
    case 'boolean':
      return 'true or false';
    case 'string':
      return 'text';
    case 'enum':
      return spec.choices!.join(', ').replace(/, ([^,]*)$/, ' or $1');
    case 'list':
      if (spec.choices !== undefined) return `one or more of ${spec.choices.join(', ')}`;
      if (spec.split === 'pattern') return 'regular expressions separated by commas';
      return 'a list separated by commas';
    case 'seconds':
      return `seconds${describeLimits(spec)} (also as 500ms, 2m, 1h, 1d)`;
    case 'bytes':
      return `bytes${describeLimits(spec)} (also as 512k, 10MB, 1GB, in powers of 1024)`;
    case 'number':
      return `a number${describeLimits(spec)}`;
    default:
      return `a whole number${describeLimits(spec)}`;
  }
}

function describeLimits({ min, max }: OptionSpec): string {
  if (min !== undefined && max !== undefined) return ` from ${min} to ${max}`;
  if (min !== undefined) return ` of at least ${min}`;
  return max === undefined ? '' : ` of at most ${max}`;
}
