/**
 * Checks a value by the schema of its option. Knows the few words of JSON Schema that valueSchema writes, and agrees with a
 * full validator on them (check-value.test.ts). Small, because every command that has options loads it.
 */

import { FORMATS, type FormatName } from './option-formats.ts';
import type { ValueSchema } from './option-schema.ts';

/** What is wrong: the value itself, or the item of a list that is. */
export interface Misfit {
  bad: unknown;
}

/** Null for a value that fits. */
export function findMisfit(schema: ValueSchema, value: unknown): Misfit | null {
  if (!hasType(schema.type, value)) return { bad: value };
  if (schema.enum !== undefined && !schema.enum.includes(value as string)) return { bad: value };
  if (typeof value === 'number') return isWithin(schema, value) ? null : { bad: value };
  if (typeof value === 'string') return isText(schema, value) ? null : { bad: value };
  return Array.isArray(value) ? findItem(schema, value) : null;
}

function hasType(type: ValueSchema['type'], value: unknown): boolean {
  if (type === undefined) return true;
  const types: readonly string[] = typeof type === 'string' ? [type] : type;
  if (value === null) return types.includes('null');
  if (Array.isArray(value)) return types.includes('array');
  if (typeof value !== 'number') return types.includes(typeof value);
  if (!Number.isFinite(value)) return false;
  return types.includes('number') || (types.includes('integer') && Number.isInteger(value));
}

function isWithin({ minimum = -Infinity, maximum = Infinity }: ValueSchema, value: number): boolean {
  return value >= minimum && value <= maximum;
}

function isText({ minLength = 0, pattern, format }: ValueSchema, text: string): boolean {
  if (text.length < minLength) return false;
  if (pattern !== undefined && !compiled(pattern).test(text)) return false;
  return format === undefined || FORMATS[format as FormatName](text);
}

function findItem({ items = {}, minItems = 0 }: ValueSchema, list: readonly unknown[]): Misfit | null {
  if (list.length < minItems) return { bad: list };
  for (const item of list) {
    const misfit = findMisfit(items, item);
    if (misfit !== null) return misfit;
  }
  return null;
}

const patterns = new Map<string, RegExp>();

function compiled(pattern: string): RegExp {
  let found = patterns.get(pattern);
  if (found === undefined) {
    found = new RegExp(pattern, 'u');
    patterns.set(pattern, found);
  }
  return found;
}
