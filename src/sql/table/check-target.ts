/**
 * Opens the table of a CRAWL before any request: makes it if it is not there, else checks that its columns can take the
 * rows, and adds columns for EXTRACT. Gives the plan by which rows are written. Whatever cannot work ends here, with the
 * table as it was.
 */
import type { DuckDBConnection } from '@duckdb/node-api';
import { sumiError } from '../../errors.ts';
import { FUNCTIONS } from '../functions/function-list.ts';
import { readDuckDbError } from '../thread/duckdb-errors.ts';
import { checkExtractedNames, type ExtractedColumn, planColumns, type TableColumn } from './check-columns.ts';
import { COLUMNS, type ColumnName, CREATED_COLUMNS } from './columns.ts';
import { type FoundTable, findTable, refused, type TargetName } from './find-table.ts';
import { quoteName } from './quote-name.ts';
import type { TargetPlan } from './target-plan.ts';

export interface WantedColumn {
  name: string;
  /** As it was written; null: not said. */
  type: { text: string } | null;
  /** Where no type is said: the type of what the rule gives. */
  otherwise?: string;
}

export interface TargetRequest {
  target: TargetName;
  extracted: readonly WantedColumn[];
  /** A transaction of the user is open on the connection. */
  isInTransaction?: boolean;
  /** Only looked at: no table and no column is made. */
  isDry?: boolean;
  /** The catalog of the session's file, which is left out of the table's name for people. */
  home?: string;
}

/** `connection`: the user's, because it decides what a name means. */
export async function openTarget(connection: DuckDBConnection, request: TargetRequest): Promise<TargetPlan> {
  const { target, isInTransaction = false, isDry = false, home } = request;
  if (isInTransaction)
    throw refused(
      target.table,
      'a transaction is open (BEGIN); expected none, because a CRAWL commits its rows batch by batch',
      'Run COMMIT or ROLLBACK first.',
    );
  const found = await findTable(connection, target);
  const { catalog, schema, table } = found;
  const qualified = quoteName(catalog, schema, table);
  const name = nameOf(found, home);
  const extracted = await readTypes(connection, name, request.extracted);
  checkExtractedNames(name, extracted);
  const columns = found.isThere ? await readColumns(connection, found, qualified) : createdColumns();
  if (found.isThere) await refuseOwnFunctions(connection, found, columns);
  const lacking = extracted.filter((one) => !columns.some((column) => isSame(column.name, one.name)));
  // Columns that are added stand behind the others.
  const all = [...columns, ...lacking.map(asColumn)];
  const planned = planColumns({ table: name, quoted: qualified, columns: all, extracted });
  if (!isDry) await change(connection, { name, found, qualified, lacking });
  const has = (wanted: ColumnName) =>
    planned.some(({ source }) => source.from === 'row' && source.column === wanted);
  return {
    ...{ catalog, schema, table, qualified, name },
    isNew: !found.isThere,
    columns: planned,
    missing: CREATED_COLUMNS.filter((column) => !has(column)),
    wantsBody: has('body'),
    wantsText: has('text'),
    wantsHeaders: has('headers'),
    shape: isDry ? '' : await readShape(connection, qualified),
  };
}

const OWN_CALL = new RegExp(`\\b(?:sumi_)?(${FUNCTIONS.map(({ name }) => name).join('|')})"?\\s*\\(`, 'i');

/** Rows are written while the thread that runs our functions is held by the writing: it would wait for itself. */
async function refuseOwnFunctions(
  connection: DuckDBConnection,
  { catalog, schema, table }: FoundTable,
  columns: readonly TableColumn[],
): Promise<void> {
  const found = await connection.runAndReadAll(
    `SELECT constraint_text FROM duckdb_constraints()
     WHERE database_name = $1 AND schema_name = $2 AND table_name = $3`,
    [catalog, schema, table],
  );
  const texts = found.getRows().map(([text]) => String(text));
  for (const { defaultExpression } of columns) if (defaultExpression !== null) texts.push(defaultExpression);
  const wrong = texts.find((text) => OWN_CALL.test(text));
  if (wrong === undefined) return;
  throw refused(
    table,
    `its rule ${wrong} calls ${OWN_CALL.exec(wrong)![1]}(), which cannot run while rows are written; expected rules of DuckDB's own functions`,
    'Remove the CHECK or DEFAULT from the table, and check its rows in a query.',
  );
}

const isSame = (one: string, other: string) => one.toLowerCase() === other.toLowerCase();

function nameOf({ catalog, schema, table }: FoundTable, home: string | undefined): string {
  if (catalog !== home) return `${catalog}.${schema}.${table}`;
  return schema === 'main' ? table : `${schema}.${table}`;
}

function asColumn({ name, type }: { name: string; type: string }): TableColumn {
  return { name, type, defaultExpression: null, isNullable: true, isGenerated: false };
}

function createdColumns(): TableColumn[] {
  return CREATED_COLUMNS.map((name) => asColumn({ name, type: COLUMNS[name].type }));
}

/** Types as DuckDB writes them. */
async function readTypes(
  connection: DuckDBConnection,
  table: string,
  wanted: readonly WantedColumn[],
): Promise<ExtractedColumn[]> {
  const columns: ExtractedColumn[] = [];
  for (const { name, type, otherwise = 'VARCHAR' } of wanted) {
    if (type === null) {
      columns.push({ name, type: otherwise, isTypeGiven: false });
      continue;
    }
    try {
      const found = await connection.runAndReadAll(`SELECT typeof(CAST(NULL AS ${type.text}))`);
      columns.push({ name, type: found.getRowsJS()[0][0] as string, isTypeGiven: true });
    } catch (error) {
      const { message } = readDuckDbError(error, '');
      throw sumiError(
        'sql-target-column',
        {
          ...{ table, column: name },
          found: `of the type ${type.text}, which DuckDB does not know`,
          expected: 'a type of DuckDB',
          advice: `DuckDB says: ${message.split('\n')[0]}`,
        },
        error,
      );
    }
  }
  return columns;
}

async function readColumns(
  connection: DuckDBConnection,
  { catalog, schema, table }: FoundTable,
  qualified: string,
): Promise<TableColumn[]> {
  const found = await connection.runAndReadAll(
    `SELECT column_name, data_type, column_default, is_nullable FROM duckdb_columns()
     WHERE database_name = $1 AND schema_name = $2 AND table_name = $3 ORDER BY column_index`,
    [catalog, schema, table],
  );
  const columns: TableColumn[] = [];
  for (const row of found.getRowsJS() as [string, string, string | null, boolean][]) {
    const [name, type, written, isNullable] = row;
    const defaultExpression = written === 'NULL' ? null : written;
    const isGenerated = defaultExpression !== null && (await isGeneratedColumn(connection, qualified, name));
    columns.push({ name, type, defaultExpression, isNullable, isGenerated });
  }
  return columns;
}

/** DuckDB lists what a generated column is made of as its default; only an INSERT tells one from the other. */
async function isGeneratedColumn(
  connection: DuckDBConnection,
  qualified: string,
  name: string,
): Promise<boolean> {
  try {
    const statement = await connection.prepare(
      `INSERT INTO ${qualified} (${quoteName(name)}) SELECT NULL WHERE false`,
    );
    statement.destroySync();
    return false;
  } catch (error) {
    return /generated column/i.test((error as Error).message);
  }
}

/** The type of a whole row: names, order and types of all columns. */
async function readShape(connection: DuckDBConnection, qualified: string): Promise<string> {
  const found = await connection.runAndReadAll(`SELECT typeof(any_value(t)) FROM ${qualified} t WHERE false`);
  return found.getRowsJS()[0][0] as string;
}

interface TableChange {
  name: string;
  found: FoundTable;
  qualified: string;
  lacking: readonly ExtractedColumn[];
}

async function change(
  connection: DuckDBConnection,
  { name, found, qualified, lacking }: TableChange,
): Promise<void> {
  try {
    if (!found.isThere) {
      await connection.run(createStatement(qualified, found, lacking));
      return;
    }
    for (const { name: column, type } of lacking)
      await connection.run(`ALTER TABLE ${qualified} ADD COLUMN IF NOT EXISTS ${quoteName(column)} ${type}`);
  } catch (error) {
    const { message } = readDuckDbError(error, '');
    const problem = `${found.isThere ? 'a column for EXTRACT could not be added' : 'it could not be made'}: ${message.split('\n')[0]}`;
    throw sumiError(
      'sql-target',
      { table: name, problem, advice: 'Remove the cause, or give the name of another table.' },
      error,
    );
  }
}

function createStatement(
  qualified: string,
  { storageVersion }: FoundTable,
  extracted: readonly ExtractedColumn[],
): string {
  const columns = CREATED_COLUMNS.map((column) => {
    const packed = column === 'body' && hasZstd(storageVersion) ? ' USING COMPRESSION zstd' : '';
    return `${column} ${COLUMNS[column].type}${packed}`;
  });
  const more = extracted.map(({ name, type }) => `${quoteName(name)} ${type}`);
  return `CREATE TABLE IF NOT EXISTS ${qualified} (${[...columns, ...more].join(', ')})`;
}

/** A file in an older format takes the word and then packs nothing at all. In memory nothing is packed. */
function hasZstd(storageVersion: string | null): boolean {
  const [, major, minor] = /^v(\d+)\.(\d+)/.exec(storageVersion ?? '') ?? [];
  return Number(major) > 1 || (Number(major) === 1 && Number(minor) >= 2);
}
