/**
 * What stands on the sides of a comparison: the URL, what lower(), upper() or length() make of it, and constants. Operands
 * of two kinds are never compared with each other here: DuckDB would convert one of them.
 */
import {
  type Constant,
  callOf,
  constantOf,
  type ExpressionNode,
  isUrl,
  plainType,
} from './expression-node.ts';
import { isAscii, lowerAscii, upperAscii } from './fold-case.ts';
import { compareUtf8, countCharacters } from './utf8-order.ts';

type Value = string | number;

export interface Operand {
  kind: 'text' | 'number' | 'null';
  /** A constant's value: null for NULL. Undefined for what depends on the URL. */
  constant?: Value | null;
  /** Its characters beyond ASCII are not DuckDB's: only ASCII may be compared with it. */
  isFolded?: true;
  of(url: string): Value | null;
}

const NULL_OPERAND: Operand = { kind: 'null', constant: null, of: () => null };
const URL_OPERAND: Operand = { kind: 'text', of: (url) => url };

const FOLDED: Readonly<Record<string, (text: string) => string>> = {
  lower: lowerAscii,
  lcase: lowerAscii,
  upper: upperAscii,
  ucase: upperAscii,
};
const LENGTHS: ReadonlySet<string> = new Set(['length', 'len', 'char_length', 'character_length']);
const INTEGERS: ReadonlySet<string> = new Set(['INTEGER', 'BIGINT']);

/** Null where the answer is left to DuckDB. */
export function readOperand(node: ExpressionNode): Operand | null {
  if (isUrl(node)) return URL_OPERAND;
  const constant = constantOf(withoutTextCast(node));
  if (constant !== null) return constantOperand(constant);
  const call = callOf(node);
  if (call === null || call.values.length !== 1 || !isUrl(call.values[0])) return null;
  if (LENGTHS.has(call.name)) return { kind: 'number', of: countCharacters };
  const fold = Object.hasOwn(FOLDED, call.name) ? FOLDED[call.name] : undefined;
  return fold === undefined ? null : { kind: 'text', isFolded: true, of: fold };
}

/** `'a'::VARCHAR` is `'a'`. */
function withoutTextCast(node: ExpressionNode): ExpressionNode {
  if (node.class !== 'CAST' || node.try_cast !== false || plainType(node.cast_type) !== 'VARCHAR')
    return node;
  const child = node.child as ExpressionNode;
  return constantOf(child)?.type === 'VARCHAR' ? child : node;
}

function constantOperand({ type, value }: Constant): Operand | null {
  if (value === null) return NULL_OPERAND;
  if (type === 'VARCHAR' && typeof value === 'string')
    return { kind: 'text', constant: value, of: () => value };
  if (INTEGERS.has(type) && Number.isSafeInteger(value)) {
    const number = value as number;
    return { kind: 'number', constant: number, of: () => number };
  }
  return null;
}

/** A constant text; null for anything else, NULL included. */
export function textOf(operand: Operand | null): string | null {
  return typeof operand?.constant === 'string' ? operand.constant : null;
}

/** Whether these may be compared with each other, each with the first. */
export function areComparable([first, ...others]: readonly Operand[]): boolean {
  const all = [first, ...others];
  const kinds = new Set(all.map(({ kind }) => kind).filter((kind) => kind !== 'null'));
  if (kinds.size > 1) return false;
  if (!all.some(({ isFolded }) => isFolded)) return true;
  // Beside a folded text there are constants alone, in ASCII.
  return all.filter(({ constant }) => constant === undefined).length === 1 && all.every(isAsciiConstant);
}

function isAsciiConstant({ constant }: Operand): boolean {
  return typeof constant !== 'string' || isAscii(constant);
}

/** Less than 0, 0 or more. */
export function compareValues(a: Value, b: Value): number {
  return typeof a === 'string' ? compareUtf8(a, b as string) : a - (b as number);
}
