/**
 * A condition on `url`, as json_serialize_sql gives it, as a function: exactly DuckDB's answer with its three values, or
 * none. What is not certain to be the same is left to DuckDB (ask-condition.ts), the whole condition with it.
 */
import {
  asNode,
  type Call,
  callOf,
  constantOf,
  type ExpressionNode,
  nodesOf,
  plainType,
} from './expression-node.ts';
import { isAscii, lowerAscii } from './fold-case.ts';
import { compileGlob } from './match-glob.ts';
import { compileLike, type TextTest } from './match-like.ts';
import { compileRegexp } from './match-regexp.ts';
import { areComparable, compareValues, type Operand, readOperand, textOf } from './read-operand.ts';

/** Null is SQL's NULL: whoever asks takes true alone. */
export type CompiledCondition = (url: string) => boolean | null;

const COMPARISONS: Readonly<Record<string, (order: number) => boolean>> = {
  COMPARE_EQUAL: (order) => order === 0,
  COMPARE_NOTEQUAL: (order) => order !== 0,
  COMPARE_LESSTHAN: (order) => order < 0,
  COMPARE_LESSTHANOREQUALTO: (order) => order <= 0,
  COMPARE_GREATERTHAN: (order) => order > 0,
  COMPARE_GREATERTHANOREQUALTO: (order) => order >= 0,
};

export function compileCondition(ast: unknown): CompiledCondition | null {
  const node = asNode(ast);
  return node === null ? null : compile(node);
}

function compile(node: ExpressionNode): CompiledCondition | null {
  switch (node.class) {
    case 'CONSTANT':
    case 'CAST':
      return compileTruth(node);
    case 'CONJUNCTION':
      return compileConjunction(node);
    case 'OPERATOR':
      return compileOperator(node);
    case 'COMPARISON':
      return compileComparison(node);
    case 'BETWEEN':
      return compileBetween(node);
    case 'FUNCTION':
      return compileCall(node);
    default:
      return null;
  }
}

/** TRUE and FALSE come as a text that is cast, or as themselves. A condition that is cast is itself. */
function compileTruth(node: ExpressionNode): CompiledCondition | null {
  const constant = constantOf(node);
  if (constant !== null) {
    if (constant.value === null) return () => null;
    if (constant.type !== 'BOOLEAN' || typeof constant.value !== 'boolean') return null;
    const { value } = constant;
    return () => value as boolean;
  }
  if (node.try_cast !== false || plainType(node.cast_type) !== 'BOOLEAN') return null;
  const child = asNode(node.child);
  if (child === null) return null;
  const given = constantOf(child);
  if (given?.type !== 'VARCHAR') return compile(child);
  if (given.value === 't') return () => true;
  return given.value === 'f' ? () => false : null;
}

function compileConjunction({ type, children }: ExpressionNode): CompiledCondition | null {
  const parts = compileAll(nodesOf(children));
  if (parts === null || (type !== 'CONJUNCTION_AND' && type !== 'CONJUNCTION_OR')) return null;
  const decides = type === 'CONJUNCTION_OR';
  return (url) => {
    let answer: boolean | null = !decides;
    for (const part of parts) {
      const found = part(url);
      if (found === decides) return decides;
      if (found === null) answer = null;
    }
    return answer;
  };
}

function compileAll(nodes: readonly ExpressionNode[]): CompiledCondition[] | null {
  const parts = nodes.map(compile).filter((part) => part !== null);
  return parts.length === nodes.length && parts.length > 0 ? parts : null;
}

function compileOperator({ type, children }: ExpressionNode): CompiledCondition | null {
  const nodes = nodesOf(children);
  if (type === 'COMPARE_IN') return compileIn(nodes);
  if (type === 'COMPARE_NOT_IN') return negated(compileIn(nodes));
  if (nodes.length !== 1) return null;
  if (type === 'OPERATOR_NOT') return negated(compile(nodes[0]));
  if (type !== 'OPERATOR_IS_NULL' && type !== 'OPERATOR_IS_NOT_NULL') return null;
  const isNull = type === 'OPERATOR_IS_NULL';
  const of = readOperand(nodes[0])?.of ?? compile(nodes[0]);
  return of === null ? null : (url) => (of(url) === null) === isNull;
}

function negated(condition: CompiledCondition | null): CompiledCondition | null {
  if (condition === null) return null;
  return (url) => {
    const found = condition(url);
    return found === null ? null : !found;
  };
}

function compileComparison(node: ExpressionNode): CompiledCondition | null {
  const { type } = node;
  const [left, right] = [asNode(node.left), asNode(node.right)];
  if (left === null || right === null || typeof type !== 'string') return null;
  if (type === 'COMPARE_DISTINCT_FROM') return negated(compileSame(left, right));
  if (type === 'COMPARE_NOT_DISTINCT_FROM') return compileSame(left, right);
  const operands = readOperands([left, right]);
  const holds = Object.hasOwn(COMPARISONS, type) ? COMPARISONS[type] : undefined;
  return operands === null || holds === undefined ? null : comparison(operands[0], operands[1], holds);
}

function readOperands(nodes: readonly ExpressionNode[]): Operand[] | null {
  const operands = nodes.map(readOperand).filter((operand) => operand !== null);
  return operands.length === nodes.length && areComparable(operands) ? operands : null;
}

function comparison(left: Operand, right: Operand, holds: (order: number) => boolean): CompiledCondition {
  return (url) => {
    const [a, b] = [left.of(url), right.of(url)];
    return a === null || b === null ? null : holds(compareValues(a, b));
  };
}

/** IS NOT DISTINCT FROM, and IS TRUE with it: NULL is a value like others. */
function compileSame(left: ExpressionNode, right: ExpressionNode): CompiledCondition | null {
  const operands = readOperands([left, right]);
  const sides: readonly ({ of: (url: string) => unknown } | null)[] =
    operands ?? [left, right].map((node) => asSide(compile(node)));
  const [a, b] = sides;
  return a === null || b === null ? null : (url) => a.of(url) === b.of(url);
}

function asSide(of: CompiledCondition | null): { of: CompiledCondition } | null {
  return of === null ? null : { of };
}

function compileBetween(node: ExpressionNode): CompiledCondition | null {
  const sides = [asNode(node.input), asNode(node.lower), asNode(node.upper)];
  if (sides.some((side) => side === null)) return null;
  const operands = readOperands(sides as ExpressionNode[]);
  if (operands === null) return null;
  const [input, lower, upper] = operands;
  const from = comparison(input, lower, COMPARISONS.COMPARE_GREATERTHANOREQUALTO);
  const to = comparison(input, upper, COMPARISONS.COMPARE_LESSTHANOREQUALTO);
  return (url) => {
    const [isAbove, isBelow] = [from(url), to(url)];
    if (isAbove === false || isBelow === false) return false;
    return isAbove === null || isBelow === null ? null : true;
  };
}

function compileIn(nodes: readonly ExpressionNode[]): CompiledCondition | null {
  const operands = readOperands(nodes);
  if (operands === null || operands.length < 2) return null;
  const [input, ...list] = operands;
  const constants = new Set(list.map(({ constant }) => constant));
  const others = list.filter(({ constant }) => constant === undefined);
  const hasNull = constants.has(null);
  return (url) => {
    const value = input.of(url);
    if (value === null) return null;
    if (constants.has(value) || others.some((other) => other.of(url) === value)) return true;
    return hasNull ? null : false;
  };
}

/** What makes a test of a constant text. An operand that is folded is compared with ASCII alone. */
type MakeTest = (pattern: string, more: string | undefined) => TextTest | null;

const TESTS: Readonly<Record<string, MakeTest>> = {
  '~~': (pattern) => compileLike(pattern, ''),
  like_escape: (pattern, mark) => (mark === undefined ? null : compileLike(pattern, mark)),
  '~~*': (pattern) => compileIlike(pattern, ''),
  ilike_escape: (pattern, mark) => (mark === undefined ? null : compileIlike(pattern, mark)),
  '~~~': (pattern) => compileGlob(pattern),
  '^@': (start) => (text) => text.startsWith(start),
  starts_with: (start) => (text) => text.startsWith(start),
  prefix: (start) => (text) => text.startsWith(start),
  ends_with: (end) => (text) => text.endsWith(end),
  suffix: (end) => (text) => text.endsWith(end),
  contains: (part) => (text) => text.includes(part),
  regexp_matches: (pattern, options) => compileRegexp(pattern, options ?? '', 'part'),
  regexp_full_match: (pattern, options) => compileRegexp(pattern, options ?? '', 'all'),
};
const NEGATED: Readonly<Record<string, string>> = {
  '!~~': '~~',
  not_like_escape: 'like_escape',
  '!~~*': '~~*',
  not_ilike_escape: 'ilike_escape',
};
/** They have a third argument. */
const WITH_MORE: ReadonlySet<string> = new Set([
  'like_escape',
  'ilike_escape',
  'regexp_matches',
  'regexp_full_match',
]);
/** What of these a folded text may be compared with is more than its letters. */
const BY_CHARACTERS: ReadonlySet<string> = new Set(['~~~', 'regexp_matches', 'regexp_full_match']);

function compileCall(node: ExpressionNode): CompiledCondition | null {
  const call = callOf(node);
  if (call === null) return null;
  if (Object.hasOwn(NEGATED, call.name)) return negated(compileTest({ ...call, name: NEGATED[call.name] }));
  return compileTest(call);
}

function compileTest({ name, values }: Call): CompiledCondition | null {
  const makeTest = Object.hasOwn(TESTS, name) ? TESTS[name] : undefined;
  if (makeTest === undefined || values.length < 2) return null;
  if (values.length > (WITH_MORE.has(name) ? 3 : 2)) return null;
  const [text, pattern, more] = values.map(readOperand);
  if (text?.kind !== 'text' || !pattern || more === null) return null;
  // DuckDB knows the kinds of NULL better.
  const wanted = textOf(pattern);
  const wantedMore = more === undefined ? undefined : textOf(more);
  if (wanted === null || wantedMore === null) return null;
  if (text.isFolded && (!isAscii(wanted) || BY_CHARACTERS.has(name))) return null;
  const test = makeTest(wanted, wantedMore);
  return test === null ? null : (url) => test(text.of(url) as string);
}

/** Both sides in lower case, the escape character as it is. */
function compileIlike(pattern: string, mark: string): TextTest | null {
  if (!isAscii(pattern) || /[a-z]/i.test(mark)) return null;
  const test = compileLike(pattern.toLowerCase(), mark);
  return test === null ? null : (text) => test(lowerAscii(text));
}
