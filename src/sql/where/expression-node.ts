/** The nodes that json_serialize_sql gives for an expression, read without trust: whatever is not as expected is null. */
export type ExpressionNode = Readonly<Record<string, unknown>>;

export function asNode(value: unknown): ExpressionNode | null {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as ExpressionNode)
    : null;
}

export function nodesOf(value: unknown): ExpressionNode[] {
  const list = Array.isArray(value) ? value.map(asNode) : [];
  return list.filter((node) => node !== null);
}

/** The type's name; null for a type with more to it, such as a collation. */
export function plainType(value: unknown): string | null {
  const type = asNode(value);
  if (type === null || typeof type.id !== 'string' || (type.type_info ?? null) !== null) return null;
  return type.id;
}

export interface Constant {
  type: string;
  /** Null for NULL. */
  value: unknown;
}

export function constantOf(node: ExpressionNode): Constant | null {
  if (node.class !== 'CONSTANT') return null;
  const given = asNode(node.value);
  const type = plainType(given?.type);
  if (given === null || type === null) return null;
  if (given.is_null === true) return { type, value: null };
  return given.value === undefined ? null : { type, value: given.value };
}

export interface Call {
  /** In lower case. */
  name: string;
  values: ExpressionNode[];
}

/** A plain call of a function of DuckDB's own: no aggregate with its words, none of another catalogue. */
export function callOf(node: ExpressionNode): Call | null {
  if (node.class !== 'FUNCTION' || typeof node.function_name !== 'string') return null;
  const { schema, catalog, filter, distinct, export_state: exportsState, children } = node;
  const isPlain = (schema === '' || schema === 'main') && catalog === '' && filter === null;
  if (!isPlain || distinct !== false || exportsState !== false) return null;
  if (nodesOf(asNode(node.order_bys)?.orders).length > 0) return null;
  return { name: node.function_name.toLowerCase(), values: nodesOf(children) };
}

/** The column `url`, whose subquery is called `found` (check-condition.ts). */
export function isUrl(node: ExpressionNode): boolean {
  const { column_names: names } = node;
  if (node.class !== 'COLUMN_REF' || !Array.isArray(names)) return false;
  const path = names.map((name) => String(name).toLowerCase()).join('.');
  return path === 'url' || path === 'found.url';
}

/** The names of all functions that are called somewhere in it. */
export function functionNames(value: unknown, names = new Set<string>()): Set<string> {
  if (Array.isArray(value)) for (const item of value) functionNames(item, names);
  else if (typeof value === 'object' && value !== null) {
    for (const [key, item] of Object.entries(value)) {
      if (key === 'function_name') names.add(String(item).toLowerCase());
      else functionNames(item, names);
    }
  }
  return names;
}
