/**
 * Checks a statement of a stranger before it runs: it is one statement that only reads, and it names nothing but the views of
 * the project and functions that compute. What it looks at is DuckDB's own tree of the statement, so that no spelling hides
 * a name. Runs nothing of the statement.
 */
import type { DuckDBConnection } from '@duckdb/node-api';
import { sumiError } from '../../errors.ts';
import { nextToken } from '../language/lex.ts';
import { errorInScript, type Place, placeInScript, placeOf } from '../language/place.ts';
import { readStatement } from '../language/read-statement.ts';
import { splitScript } from '../language/split-script.ts';
import { jsonText } from '../output/json-text.ts';
import { offsetOfByte, toSqlError, withPlace } from '../thread/duckdb-errors.ts';
import {
  CATALOG,
  CATALOG_VIEWS,
  REFUSED_FUNCTIONS,
  SHOWN_LISTS,
  TABLE_FUNCTIONS,
  VIEW_NAMES,
} from './allowed-names.ts';

export interface CheckedQuery {
  /** The one statement, without its semicolon. */
  text: string;
  /** Where it begins in what was sent. */
  place: Place;
}

type Node = Readonly<Record<string, unknown>>;

function refused(problem: string): Error {
  return sumiError('query-refused', { problem });
}

export async function checkQuery(connection: DuckDBConnection, script: string): Promise<CheckedQuery> {
  const statements = splitScript(script);
  if (statements.length !== 1) throw refused(`it holds ${statements.length} statements; expected one`);
  const [{ text, line, column }] = statements;
  // Says where a quote never ends, and reads what is ours.
  if (kindIn(text, { line, column }) !== 'duckdb') throw refused('statements of crawls are not for queries');
  const from = behindExplain(text);
  const words = text.slice(from);
  const tree = await treeOf(connection, words);
  if (tree === 'syntax') throw await syntaxErrorOf(connection, text, { line, column });
  if (tree === 'refused') throw refused(kindOf(text));
  checkTree(tree, text, from, { line, column });
  return { text, place: { line, column } };
}

/** DuckDB says best what is wrong, with its place, when it reads the statement as it would run it. */
async function syntaxErrorOf(connection: DuckDBConnection, text: string, place: Place): Promise<unknown> {
  try {
    (await connection.prepare(text)).destroySync();
  } catch (error) {
    return errorInScript(
      withPlace(toSqlError(error, text), text, (offset) => offset),
      place,
    );
  }
  return refused(kindOf(text));
}

function kindIn(text: string, place: Place): string {
  try {
    return readStatement(text).kind;
  } catch (error) {
    throw errorInScript(error, place);
  }
}

/** Where the explained statement begins; 0 where nothing is explained. */
function behindExplain(text: string): number {
  const first = nextToken(text, 0);
  if (first?.value !== 'EXPLAIN' || first.kind !== 'word') return 0;
  let token = nextToken(text, first.end);
  if (token?.kind === 'word' && token.value === 'ANALYZE') token = nextToken(text, token.end);
  if (token?.text === '(') {
    while (token !== null && token.text !== ')') token = nextToken(text, token.end);
    if (token !== null) token = nextToken(text, token.end);
  }
  return token?.start ?? text.length;
}

const READING_WORDS: ReadonlySet<string> = new Set(['SELECT', 'FROM', 'WITH', 'VALUES', 'EXPLAIN', '(']);

function kindOf(text: string): string {
  const word = nextToken(text, 0)?.value.slice(0, 40) ?? '';
  return READING_WORDS.has(word)
    ? 'it has a part that does more than read, or that cannot be checked'
    : `it begins with ${word}; expected a statement that only reads`;
}

interface Serialized {
  error: boolean;
  error_type?: string;
  statements?: { node: Node }[];
}

async function treeOf(connection: DuckDBConnection, text: string): Promise<Node | 'refused' | 'syntax'> {
  const found = await connection.runAndReadAll('SELECT json_serialize_sql($1::VARCHAR)', [text]);
  // DuckDB writes infinite numbers into it, which JSON has not.
  const read = JSON.parse(jsonText(String(found.getRowsJS()[0][0]))) as Serialized;
  if (read.error) return read.error_type === 'parser' ? 'syntax' : 'refused';
  return read.statements?.length === 1 ? read.statements[0].node : 'refused';
}

function checkTree(tree: Node, text: string, from: number, start: Place): void {
  const named = new Set<string>();
  const behind = text.slice(from);
  const at = ({ query_location: location }: Node): Place =>
    typeof location === 'number' && location <= Buffer.byteLength(behind)
      ? placeInScript(start, placeOf(text, from + offsetOfByte(behind, location)))
      : start;
  forEachNode(tree, (node) => {
    for (const { key } of nodesAt(node.cte_map)) named.add(String(key).toLowerCase());
  });
  forEachNode(tree, (node) => {
    if (node.type === 'BASE_TABLE') checkTable(node, named, at);
    else if (node.type === 'TABLE_FUNCTION') checkTableFunction(node);
    else if (node.type === 'SHOW_REF') checkShow(node);
    else if (REFUSED_TABLES.has(String(node.type))) throw refused(`it reads from ${String(node.type)}`);
    if (typeof node.function_name === 'string') checkFunction(node.function_name);
  });
}

/** Rows that no text of SQL can name: only a tree that was made by hand has them. */
const REFUSED_TABLES: ReadonlySet<string> = new Set(['COLUMN_DATA', 'DELIM_GET', 'BOUND_TABLE_REF']);

function nodesAt(map: unknown): Node[] {
  const entries = (map as { map?: unknown } | null | undefined)?.map;
  return Array.isArray(entries) ? (entries as Node[]) : [];
}

/** Without a recursion of its own: a statement may be as deep as it is long. */
function forEachNode(tree: unknown, see: (node: Node) => void): void {
  const waiting: unknown[] = [tree];
  while (waiting.length > 0) {
    const value = waiting.pop();
    if (typeof value !== 'object' || value === null) continue;
    if (!Array.isArray(value)) see(value as Node);
    for (const inner of Object.values(value)) if (typeof inner === 'object') waiting.push(inner);
  }
}

/** Names that DuckDB answers itself, whatever a query calls its own. */
const OF_DUCKDB = /^(?:duckdb_|pragma_|pg_|sqlite_)/;

function checkTable(node: Node, named: ReadonlySet<string>, at: (node: Node) => Place): void {
  const [catalog, schema, table] = [node.catalog_name, node.schema_name, node.table_name].map((name) =>
    String(name ?? '').toLowerCase(),
  );
  const isUnqualified = catalog === '' && schema === '';
  if (isUnqualified && named.has(table) && !OF_DUCKDB.test(table)) return;
  const isHome = catalog === '' || catalog === CATALOG;
  if (isHome && schema === 'information_schema' && CATALOG_VIEWS.has(table)) return;
  const isOwn = isHome && (schema === '' || schema === 'main' || (schema === CATALOG && catalog === ''));
  if (isOwn && VIEW_NAMES.has(table)) return;
  const name = [node.catalog_name, node.schema_name, node.table_name].filter((part) => part !== '').join('.');
  throw sumiError('query-no-table', {
    table: name.slice(0, 100),
    expected: [...VIEW_NAMES].join(', '),
    ...at(node),
  });
}

function checkTableFunction(node: Node): void {
  const called = String((node.function as Node | undefined)?.function_name ?? '').toLowerCase();
  if (!TABLE_FUNCTIONS.has(called)) throw refused(`it calls the table function ${called.slice(0, 100)}`);
}

function checkFunction(name: string): void {
  const called = name.toLowerCase();
  if (REFUSED_FUNCTIONS.has(called)) throw refused(`it calls the function ${called}`);
}

function checkShow({ table_name: name, query }: Node): void {
  if (query === null && !SHOWN_LISTS.has(String(name)))
    throw refused(`it shows ${String(name).slice(0, 100)}; expected SHOW TABLES or the name of a table`);
}
