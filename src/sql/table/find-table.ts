/**
 * Finds the table that a name means in a session, as DuckDB itself would: by the session's catalog and schema, in any case.
 * Refuses what is no place for rows. Changes nothing.
 */
import type { DuckDBConnection } from '@duckdb/node-api';
import { type SumiError, sumiError } from '../../errors.ts';
import { quoteName } from './quote-name.ts';

export interface TargetName {
  catalog: string | null;
  schema: string | null;
  table: string;
}

export interface FoundTable {
  catalog: string;
  schema: string;
  table: string;
  isThere: boolean;
  /** Of the catalog's file; null in memory. */
  storageVersion: string | null;
}

interface Catalog {
  name: string;
  isReadOnly: boolean;
  isInternal: boolean;
  storageVersion: string | null;
}

type Place = Pick<FoundTable, 'catalog' | 'schema'>;

const TEMPORARY = 'temp';

const isSame = (one: string, other: string) => one.toLowerCase() === other.toLowerCase();

export function refused(table: string, problem: string, advice: string): SumiError {
  return sumiError('sql-target', { table, problem, advice });
}

export async function findTable(connection: DuckDBConnection, target: TargetName): Promise<FoundTable> {
  const shown = [target.catalog, target.schema, target.table].filter((part) => part !== null).join('.');
  const catalogs = await readCatalogs(connection);
  const places = await findPlaces(connection, { target, shown, catalogs });
  const named = await readNamed(connection, target.table);
  const isUnqualified = target.schema === null;
  if (
    places.some(({ catalog }) => isSame(catalog, TEMPORARY)) ||
    (isUnqualified && named.some(({ catalog }) => catalog === TEMPORARY))
  )
    throw refused(
      shown,
      'it is a temporary table or view, which ends with the session; expected a table',
      `Write another name, or the table's schema before its name, as in main.${target.table}.`,
    );
  for (const place of places) {
    const found = named.find(
      ({ catalog, schema }) => isSame(catalog, place.catalog) && isSame(schema, place.schema),
    );
    if (found?.isView)
      throw refused(
        shown,
        'it is a view; expected a table or a new name',
        `Write the name of the table behind the view, or a new one: INTO ${target.table}_pages.`,
      );
    if (found !== undefined) return checked(shown, { ...found, isThere: true }, catalogs);
  }
  return checked(shown, { ...places[0], table: target.table, isThere: false }, catalogs);
}

function checked(
  shown: string,
  found: Omit<FoundTable, 'storageVersion'>,
  catalogs: readonly Catalog[],
): FoundTable {
  const { name, isReadOnly, isInternal, storageVersion } = catalogs.find(
    (catalog) => catalog.name === found.catalog,
  )!;
  if (isReadOnly)
    throw refused(
      shown,
      `the database ${name} is read-only; expected one that may be written`,
      'Open the file without --readonly, or write the rows into another database.',
    );
  if (isInternal)
    throw refused(
      shown,
      `${name} belongs to DuckDB; expected a database of yours`,
      'Write the name of another database, or none.',
    );
  return { ...found, storageVersion };
}

async function readCatalogs(connection: DuckDBConnection): Promise<Catalog[]> {
  const found = await connection.runAndReadAll(
    `SELECT database_name, readonly, internal AND database_name <> '${TEMPORARY}', tags['storage_version']
     FROM duckdb_databases()`,
  );
  return (found.getRowsJS() as [string, boolean, boolean, string | null][]).map(
    ([name, isReadOnly, isInternal, storageVersion]) => ({ name, isReadOnly, isInternal, storageVersion }),
  );
}

interface Named extends Place {
  table: string;
  isView: boolean;
}

/** All tables and views of that name, wherever. */
async function readNamed(connection: DuckDBConnection, name: string): Promise<Named[]> {
  const found = await connection.runAndReadAll(
    `SELECT database_name, schema_name, table_name, false FROM duckdb_tables() WHERE lower(table_name) = lower($1)
     UNION ALL
     SELECT database_name, schema_name, view_name, true FROM duckdb_views() WHERE lower(view_name) = lower($1)`,
    [name],
  );
  return (found.getRowsJS() as [string, string, string, boolean][]).map(
    ([catalog, schema, table, isView]) => ({ catalog, schema, table, isView }),
  );
}

interface PlaceQuestion {
  target: TargetName;
  shown: string;
  catalogs: readonly Catalog[];
}

/** Where the table may be, first the place where it would be made. */
async function findPlaces(
  connection: DuckDBConnection,
  { target, shown, catalogs }: PlaceQuestion,
): Promise<Place[]> {
  if (target.schema === null) return readSearchPath(connection);
  const schemas = await readSchemas(connection);
  const schemaOf = (place: Place) =>
    schemas.find(({ catalog, schema }) => isSame(catalog, place.catalog) && isSame(schema, place.schema));
  const findCatalog = (name: string) => catalogs.find((catalog) => isSame(catalog.name, name))?.name;
  if (target.catalog !== null) {
    const catalog = findCatalog(target.catalog);
    if (catalog === undefined)
      throw refused(
        shown,
        `there is no database ${target.catalog}; expected one of ${namesOf(catalogs)}`,
        `Attach it first, with ATTACH 'FILE' AS ${quoteName(target.catalog)}, or correct the name.`,
      );
    const found = schemaOf({ catalog, schema: target.schema });
    if (found === undefined)
      throw noSchema(shown, `${catalog}.${target.schema}`, quoteName(catalog, target.schema));
    return [found];
  }
  // Of two parts the first is a schema or a database.
  const current = (await readSearchPath(connection))[0].catalog;
  const inCurrent = schemaOf({ catalog: current, schema: target.schema });
  const catalog = findCatalog(target.schema);
  if (inCurrent !== undefined && catalog !== undefined && catalog !== current)
    throw refused(
      shown,
      `${target.schema} is a schema and a database; expected a name that means one of them`,
      `Write ${quoteName(current, target.schema, target.table)} or ${quoteName(catalog, 'main', target.table)}.`,
    );
  if (inCurrent !== undefined) return [inCurrent];
  if (catalog !== undefined) return [{ catalog, schema: 'main' }];
  throw noSchema(shown, target.schema, quoteName(target.schema));
}

function noSchema(shown: string, schema: string, quoted: string): SumiError {
  return refused(
    shown,
    `there is no schema ${schema}; expected one that exists`,
    `Create it first, with CREATE SCHEMA ${quoted}, or correct the name.`,
  );
}

function namesOf(catalogs: readonly Catalog[]): string {
  return catalogs
    .filter(({ isInternal, name }) => !isInternal && name !== TEMPORARY)
    .map(({ name }) => name)
    .join(', ');
}

async function readSchemas(connection: DuckDBConnection): Promise<Place[]> {
  const found = await connection.runAndReadAll('SELECT database_name, schema_name FROM duckdb_schemas()');
  return (found.getRowsJS() as [string, string][]).map(([catalog, schema]) => ({ catalog, schema }));
}

/** DuckDB writes each entry with its catalog; it is empty as long as nobody has set it. */
async function readSearchPath(connection: DuckDBConnection): Promise<Place[]> {
  const found = await connection.runAndReadAll(
    `SELECT current_setting('search_path'), current_catalog(), current_schema()`,
  );
  const [path, catalog, schema] = found.getRowsJS()[0] as [string, string, string];
  const places: Place[] = [];
  for (const [, first, second] of path.matchAll(
    /((?:"(?:[^"]|"")*"|[^",.])+)(?:\.((?:"(?:[^"]|"")*"|[^",.])+))?/g,
  ))
    places.push(
      second === undefined
        ? { catalog, schema: unquote(first) }
        : { catalog: unquote(first), schema: unquote(second) },
    );
  return places.length === 0 ? [{ catalog, schema }] : places;
}

function unquote(name: string): string {
  const trimmed = name.trim();
  return trimmed.startsWith('"') ? trimmed.slice(1, -1).replaceAll('""', '"') : trimmed;
}
