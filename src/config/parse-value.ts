/**
 * Turns what a source gave (text of a flag or variable, a TOML value, a program's value) into the value of an
 * option, or says what was expected. Never throws and knows no places: load-config.ts makes the error.
 */

import { splitPatterns } from '../scope/split-patterns.ts';
import type { OptionSpec, OptionValue } from './option-spec.ts';
import { withoutCredentials } from './url-credentials.ts';

export type ParsedValue = { value: OptionValue } | { bad: unknown; expected: string };

const SECOND_UNITS: Record<string, number> = { ms: 0.001, s: 1, m: 60, h: 3600, d: 86_400 };
const BYTE_UNITS: Record<string, number> = { '': 1, k: 1024, m: 1024 ** 2, g: 1024 ** 3 };

export function parseValue(spec: OptionSpec, raw: unknown): ParsedValue {
  if (spec.type === 'list') return parseList(spec, raw);
  const value = spec.nullable && isNone(spec, raw) ? null : parseScalar(spec, raw);
  return value === undefined ? { bad: raw, expected: describeExpected(spec) } : { value };
}

/** "none" takes a limit away; for texts it may be a value like any other, so there only null does. */
function isNone(spec: OptionSpec, raw: unknown): boolean {
  return raw === null || (raw === 'none' && spec.type !== 'string');
}

function parseScalar(spec: OptionSpec, raw: unknown): OptionValue | undefined {
  switch (spec.type) {
    case 'boolean':
      return parseBoolean(raw);
    case 'string':
      return typeof raw === 'string' && raw !== '' && (spec.check?.(raw) ?? true) ? raw : undefined;
    case 'enum':
      return typeof raw === 'string' && spec.choices?.includes(raw) ? raw : undefined;
    case 'seconds':
      return withinLimits(spec, parseUnits(raw, /^(\d+(?:\.\d+)?|\.\d+) ?(ms|s|m|h|d)?$/, SECOND_UNITS, 's'));
    case 'bytes':
      return withinLimits(
        spec,
        floor(parseUnits(raw, /^(\d+(?:\.\d+)?) ?([kmg]?)(?:i?b)?$/i, BYTE_UNITS, '')),
      );
    default: {
      const number = parseNumber(raw);
      const isWhole = spec.type === 'number' || Number.isSafeInteger(number);
      return isWhole ? withinLimits(spec, number) : undefined;
    }
  }
}

function parseBoolean(raw: unknown): boolean | undefined {
  if (typeof raw === 'boolean') return raw;
  if (typeof raw !== 'string') return undefined;
  if (/^(true|yes|on|1)$/i.test(raw)) return true;
  return /^(false|no|off|0)$/i.test(raw) ? false : undefined;
}

function parseNumber(raw: unknown): number | undefined {
  if (typeof raw === 'number') return Number.isFinite(raw) ? raw : undefined;
  return typeof raw === 'string' && /^-?(\d+(\.\d+)?|\.\d+)$/.test(raw.trim()) ? Number(raw) : undefined;
}

function parseUnits(
  raw: unknown,
  shape: RegExp,
  units: Record<string, number>,
  plain: string,
): number | undefined {
  if (typeof raw === 'number') return parseNumber(raw);
  const match = typeof raw === 'string' ? shape.exec(raw.trim()) : null;
  if (match === null) return undefined;
  const factor = units[(match[2] || plain).toLowerCase()];
  // Milliseconds are divided, not multiplied by 0.001, so that 300ms is 0.3 and not 0.30000000000000004.
  return factor < 1 ? Number(match[1]) / Math.round(1 / factor) : Number(match[1]) * factor;
}

function floor(value: number | undefined): number | undefined {
  return value === undefined ? undefined : Math.floor(value);
}

function withinLimits(spec: OptionSpec, value: number | undefined): number | undefined {
  if (value === undefined) return undefined;
  return value >= (spec.min ?? -Infinity) && value <= (spec.max ?? Infinity) ? value : undefined;
}

function parseList(spec: OptionSpec, raw: unknown): ParsedValue {
  const expected = describeExpected(spec);
  const texts = typeof raw === 'string' ? [raw] : raw;
  if (!Array.isArray(texts)) return { bad: raw, expected };
  const items: string[] = [];
  for (const text of texts) {
    if (typeof text !== 'string') return { bad: text, expected };
    items.push(...splitItems(spec, text));
  }
  if (items.length < (spec.min ?? 0)) return { bad: raw, expected };
  const bad = items.find((item) => spec.check?.(item) === false);
  return bad === undefined ? { value: [...new Set(items)] } : { bad, expected };
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

/** A value as an error or a table shows it: passwords masked, long texts cut. */
export function showValue(value: unknown, spec?: OptionSpec): string {
  if (value === null || value === undefined) return 'none';
  const text = withoutSecret(value, spec);
  const shown = typeof text === 'object' || typeof text === 'string' ? JSON.stringify(text) : String(text);
  return shown.length > 120 ? `${shown.slice(0, 117)}…` : shown;
}

/** The value as it may be shown to anybody. */
export function withoutSecret(value: unknown, spec?: OptionSpec): unknown {
  if (Array.isArray(value)) return value.map((item) => withoutSecret(item, spec));
  // Whatever its form: a table of headers in a TOML file is a mistake, and has the same secrets in it.
  if (spec?.secret === 'whole' && value !== null) return '***';
  if (typeof value !== 'string') return value;
  // An address may stand where none belongs: then too its password is nobody's business.
  if (/https?:\/\//i.test(value) && !spec?.secret) return withoutCredentials(value);
  return spec?.secret || value.includes('://') ? maskPassword(value) : value;
}

export function maskPassword(text: string): string {
  return text
    .replace(/^([a-z][a-z\d+.-]*:\/\/)?([^/@:]*):.*@/i, '$1$2:***@')
    .replace(/([?&](?:ssl)?(?:password|passphrase)=)[^&#]*/gi, '$1***');
}
