/**
 * Checks the condition of a CRAWL before anything is requested: it is one BOOLEAN expression over `url` (also `found.url`,
 * for subqueries), without aggregates, windows and parameters. It runs nothing of the condition. What it gives besides is
 * the condition's tree, unless something in the database changes what its words mean.
 */
import { type DuckDBConnection, DuckDBTypeId } from '@duckdb/node-api';
import { sumiError } from '../../errors.ts';
import { type Carrier, carry, toConditionError } from './condition-errors.ts';
import { asNode, constantOf, type ExpressionNode, functionNames, nodesOf } from './expression-node.ts';
import { functionsOfOurs } from './functions-of-ours.ts';

export interface CheckedCondition {
  /** For compileCondition. Null: only DuckDB can say what it means. */
  ast: unknown;
}

const FROM_ONE = 'FROM (SELECT NULL::VARCHAR AS url) AS found';

const ADVICE = "Write a condition on url that is true or false, as in WHERE url LIKE '%/blog/%'.";

/** A page that waits for its condition holds its host: what the condition asks there would wait for that page. */
const ASKS_WEB: ReadonlySet<string> = new Set(
  ['crawl', 'sitemap', 'links', 'robots_check', 'fetch'].map((name) => `sumi_${name}`),
);

export async function checkCondition(
  connection: DuckDBConnection,
  condition: string,
): Promise<CheckedCondition> {
  // First, since its errors say it best: as a condition it may hold neither aggregates nor windows.
  await describe(connection, carry(`SELECT 1 ${FROM_ONE} WHERE `, condition, ''));
  const asItem = carry('SELECT ', condition, ` ${FROM_ONE}`);
  const described = await describe(connection, asItem);
  if (described.columns !== 1) throw refused('expected one condition', 0);
  if (described.parameters > 0)
    throw refused('it has parameters, and these are for the query of the CRAWL alone', 0);
  const ast = await treeOf(connection, asItem);
  if (described.type !== 'BOOLEAN' && constantOf(ast)?.type !== 'NULL')
    throw refused(`it is of type ${described.type}; expected BOOLEAN`, 0);
  const asking = (await functionsOfOurs(connection, condition)).find((name) => ASKS_WEB.has(name));
  if (asking !== undefined)
    throw sumiError('sql-condition', {
      problem: `it asks the web (${asking.replace('sumi_', '')}), where its own CRAWL may hold the host; expected a condition on the text of url`,
      advice:
        'Keep in a table what is asked first, as in CREATE TABLE known AS FROM sitemap(…), and compare url with that.',
      offset: 0,
    });
  return { ast: (await isAsWritten(connection, ast)) ? ast : null };
}

function refused(problem: string, offset: number): Error {
  return sumiError('sql-condition', { problem, advice: ADVICE, offset });
}

async function describe(connection: DuckDBConnection, carrier: Carrier) {
  try {
    const statement = await connection.prepare(carrier.text);
    try {
      return {
        columns: statement.columnCount,
        parameters: statement.parameterCount,
        type: DuckDBTypeId[statement.columnTypeId(0)],
      };
    } finally {
      statement.destroySync();
    }
  } catch (error) {
    throw toConditionError(error, carrier);
  }
}

async function treeOf(connection: DuckDBConnection, { text }: Carrier): Promise<ExpressionNode> {
  const found = await connection.runAndReadAll('SELECT json_serialize_sql($1::VARCHAR)', [text]);
  const read = asNode(JSON.parse(String(found.getRowsJS()[0][0])));
  const statements = nodesOf(read?.statements);
  const select = asNode(statements[0]?.node);
  const items = nodesOf(select?.select_list);
  const isWhole =
    statements.length === 1 && items.length === 1 && asNode(select?.from_table)?.alias === 'found';
  if (!isWhole) throw refused('expected one condition', 0);
  return items[0];
}

/** No function of its names was made by the user, and texts are compared byte by byte. */
async function isAsWritten(connection: DuckDBConnection, ast: ExpressionNode): Promise<boolean> {
  const found = await connection.runAndReadAll(
    `SELECT current_setting('default_collation') = '' AND NOT EXISTS (FROM duckdb_functions()
       WHERE NOT internal AND lower(function_name) IN (SELECT unnest($1::VARCHAR::JSON::VARCHAR[])))`,
    [JSON.stringify([...functionNames(ast)])],
  );
  return found.getRowsJS()[0][0] === true;
}
