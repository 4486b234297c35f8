/**
 * Makes an extracted value a value of a database type. Only what is written plainly is understood: `12.5`, `true`,
 * `2024-05-31T10:00Z`. Nothing is guessed: `1.299,00 €` is no number. What does not fit becomes null with a problem, and
 * never an error: pages are data. Values are plain data.
 */
import { dayOf, microsecondsOf } from './iso-time.ts';
import { type JsonValue, readLooseJson } from './read-loose-json.ts';

export type ValueType =
  | { readonly family: 'text' | 'json' | 'boolean' | 'date' | 'timestamp' }
  | { readonly family: 'integer'; readonly least: bigint; readonly most: bigint }
  | { readonly family: 'decimal'; readonly width: number; readonly scale: number }
  | { readonly family: 'float'; readonly isSingle: boolean }
  | { readonly family: 'list'; readonly of: ValueType };

/**
 * Text, and JSON as text: string. Integers: bigint. Decimals: bigint, the value times 10 to the power of the scale.
 * Floats: number. Date: days since 1970-01-01, a number. Timestamps: microseconds since then, UTC, bigint.
 */
export type TypedValue = string | number | bigint | boolean | null | TypedValue[];

export interface Converted {
  /** Null where it does not fit; in a list, those values that do not. */
  value: TypedValue;
  /** What does not fit, the first of a list. */
  problem: string | null;
}

function integer(bits: number, isSigned: boolean): ValueType {
  const most = 2n ** BigInt(isSigned ? bits - 1 : bits) - 1n;
  return { family: 'integer', least: isSigned ? -most - 1n : 0n, most };
}

const TYPES = new Map<string, ValueType>();
for (const [names, type] of [
  ['varchar char bpchar text string', { family: 'text' }],
  ['json', { family: 'json' }],
  ['boolean bool logical', { family: 'boolean' }],
  ['date', { family: 'date' }],
  ['timestamp datetime timestamp_us timestamptz', { family: 'timestamp' }],
  ['float float4 real', { family: 'float', isSingle: true }],
  ['double float8', { family: 'float', isSingle: false }],
  ['tinyint int1', integer(8, true)],
  ['smallint int2 int16 short', integer(16, true)],
  ['integer int int4 int32 signed', integer(32, true)],
  ['bigint int8 int64 long', integer(64, true)],
  ['hugeint int128', integer(128, true)],
  ['utinyint uint8', integer(8, false)],
  ['usmallint uint16', integer(16, false)],
  ['uinteger uint32', integer(32, false)],
  ['ubigint uint64', integer(64, false)],
  ['uhugeint uint128', integer(128, false)],
] as [string, ValueType][])
  for (const name of names.split(' ')) TYPES.set(name, type);

/** The type of a DuckDB type name; null for one that no value is converted to. */
export function valueTypeOf(written: string): ValueType | null {
  const name = written.trim().toLowerCase().replace(/\s+/g, ' ');
  if (name.endsWith('[]')) {
    const of = valueTypeOf(name.slice(0, -2));
    return of === null ? null : { family: 'list', of };
  }
  const [, word, numbers] = /^"?([a-z0-9_ ]+?)"? ?(?:\(([\d, ]+)\))?$/.exec(name) ?? [];
  if (word === undefined) return null;
  if (word === 'decimal' || word === 'numeric' || word === 'dec') return decimalOf(numbers);
  const known = TYPES.get(SPELLINGS[word] ?? word) ?? null;
  // A length means nothing in DuckDB.
  return numbers === undefined || known?.family === 'text' ? known : null;
}

const SPELLINGS: Readonly<Record<string, string>> = {
  'double precision': 'double',
  'timestamp with time zone': 'timestamptz',
  'timestamp without time zone': 'timestamp',
};

function decimalOf(numbers = '18,3'): ValueType | null {
  const [width, scale = 0, ...rest] = numbers.split(',').map(Number);
  const isValid = rest.length === 0 && width >= 1 && width <= 38 && scale >= 0 && scale <= width;
  return isValid ? { family: 'decimal', width, scale } : null;
}

export function convertValue(value: JsonValue, type: ValueType): Converted {
  if (value === null) return { value: null, problem: null };
  if (type.family === 'list') return convertList(Array.isArray(value) ? value : [value], type.of);
  const converted = convertOne(value, type);
  return converted === null ? { value: null, problem: describe(value) } : { value: converted, problem: null };
}

function convertList(values: readonly JsonValue[], type: ValueType): Converted {
  const converted = values.map((value) => convertValue(value, type));
  const problem = converted.find((one) => one.problem !== null)?.problem ?? null;
  return { value: converted.map((one) => one.value), problem };
}

function describe(value: JsonValue): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return text.length > 100 ? `${text.slice(0, 100)}…` : text;
}

/** Null for what does not fit. */
function convertOne(value: JsonValue, type: Exclude<ValueType, { family: 'list' }>): TypedValue {
  if (type.family === 'text') return typeof value === 'object' ? JSON.stringify(value) : String(value);
  if (type.family === 'json') return jsonOf(value);
  if (typeof value === 'object') return null;
  const text = String(value).trim();
  switch (type.family) {
    case 'boolean':
      return /^(?:true|t|1)$/i.test(text) ? true : /^(?:false|f|0)$/i.test(text) ? false : null;
    case 'date':
      return dayOf(text);
    case 'timestamp':
      return microsecondsOf(text);
    case 'float':
      return floatOf(text, type.isSingle);
    case 'integer': {
      const digits = digitsOf(text, 0, false);
      return digits === null || digits < type.least || digits > type.most ? null : digits;
    }
    case 'decimal': {
      const digits = digitsOf(text, type.scale, true);
      const end = 10n ** BigInt(type.width);
      return digits === null || digits >= end || digits <= -end ? null : digits;
    }
  }
}

/** Text that is an object or a list in JSON counts as that, other text as a string. */
function jsonOf(value: JsonValue): string {
  const read = typeof value === 'string' && /^\s*[{[]/.test(value) ? readLooseJson(value) : undefined;
  return JSON.stringify(read ?? value);
}

const NUMERAL = /^([+-]?)(\d+(?:\.\d*)?|\.\d+)(?:e([+-]?\d{1,4}))?$/i;
/** More digits than any type has. */
const MOST_DIGITS = 100;

/** The number times 10 to the power of `scale`. With more digits than that it is rounded, or null. */
function digitsOf(text: string, scale: number, isRounded: boolean): bigint | null {
  const parts = NUMERAL.exec(text);
  if (parts === null) return null;
  const [, sign, mantissa, exponent = '0'] = parts;
  const [whole, fraction = ''] = mantissa.split('.');
  const digits = (whole + fraction).replace(/^0+/, '');
  if (digits === '') return 0n;
  const end = digits.length - fraction.length + Number(exponent) + scale;
  if (end > MOST_DIGITS) return null;
  const kept = end <= 0 ? '0' : digits.slice(0, end).padEnd(end, '0');
  const rest = end < 0 ? '0' : digits.slice(end);
  if (!isRounded && /[1-9]/.test(end < 0 ? digits : rest)) return null;
  const size = BigInt(kept) + (rest >= '5' ? 1n : 0n);
  return sign === '-' ? -size : size;
}

function floatOf(text: string, isSingle: boolean): number | null {
  if (!NUMERAL.test(text)) return null;
  const value = isSingle ? Math.fround(Number(text)) : Number(text);
  return Number.isFinite(value) ? value : null;
}
