/**
 * Opens the DuckDB file of a session: attached to an instance in memory, so that row groups can be small and a crawl's
 * memory and longest pause stay small. What is written is an ordinary DuckDB file, which versions from 1.2 on read. Every
 * connection begins in the file. Without a file everything is in memory. Settings of the user, such as TimeZone, are left
 * alone.
 */
import { existsSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api';
import { sumiError } from '../../errors.ts';
import { LEAST_CHECKPOINT_MB, ROWS_OF_GROUP } from './checkpoint-size.ts';
import { claimFile } from './claim-file.ts';
import { noFolder, toOpenError } from './open-error.ts';
import { quoteName, quoteText } from './quote-name.ts';

const IN_MEMORY = ':memory:';
/** The catalog of an instance in memory: a file of that name is called like one named after a reserved word. */
const MEMORY_CATALOG = 'memory';
/** A checkpoint writes the open row group again: small ones make that cheap. */
/** The first that has zstd. */
const STORAGE_VERSION = 'v1.2.0';

export interface DatabaseRequest {
  /** Null or `:memory:`: nothing is kept. */
  file: string | null;
  isReadOnly: boolean;
}

export interface OpenDatabase {
  readonly instance: DuckDBInstance;
  /** As SQL knows the file: its name without folder and ending. */
  readonly catalog: string;
  /** Null in memory. */
  readonly file: string | null;
  /** A connection that begins in the file. */
  connect(): Promise<DuckDBConnection>;
  /** How much log is gathered before it is written into the file. */
  setCheckpoint(size: string): Promise<void>;
  /** Ends all connections made here and gives the file free. */
  close(): Promise<void>;
}

export async function openDatabase({ file, isReadOnly }: DatabaseRequest): Promise<OpenDatabase> {
  if (file === null || file === IN_MEMORY) return openWith(await DuckDBInstance.create(IN_MEMORY), null);
  checkPath(file, isReadOnly);
  const release = claimFile(file);
  let instance: DuckDBInstance | null = null;
  try {
    instance = await DuckDBInstance.create(IN_MEMORY);
    const attached = await attach(instance, file, isReadOnly);
    return openWith(instance, { file, ...attached, release });
  } catch (error) {
    instance?.closeSync();
    release();
    throw toOpenError(file, isReadOnly, error);
  }
}

function checkPath(file: string, isReadOnly: boolean): void {
  const folder = dirname(resolve(file));
  if (!existsSync(folder)) throw noFolder(file);
  const access = isReadOnly ? 'read' : 'read and write';
  const found = statSync(file, { throwIfNoEntry: false });
  if (found?.isDirectory())
    throw sumiError('sql-file-unusable', { file, access, reason: 'it is a folder; expected a file' });
  if (found === undefined && isReadOnly)
    throw sumiError('sql-file-unusable', {
      ...{ file, access },
      reason: 'it does not exist, and a read-only session creates no file',
    });
}

/** Gives the name that the file has in SQL. */
async function attach(
  instance: DuckDBInstance,
  file: string,
  isReadOnly: boolean,
): Promise<Pick<Attached, 'catalog' | 'checkpoint'>> {
  const isNew = !existsSync(file);
  // With its type, so that no name and no content makes DuckDB look for an extension.
  const options = ['TYPE duckdb', `ROW_GROUP_SIZE ${ROWS_OF_GROUP}`];
  if (isNew) options.push(`STORAGE_VERSION ${quoteText(STORAGE_VERSION)}`);
  if (isReadOnly) options.push('READ_ONLY');
  const connection = await instance.connect();
  try {
    await connection.run(`SET GLOBAL checkpoint_threshold = ${quoteText(`${LEAST_CHECKPOINT_MB}MB`)}`);
    const path = quoteText(resolve(file));
    const attachAs = (name: string) => connection.run(`ATTACH ${path}${name} (${options.join(', ')})`);
    try {
      await attachAs('');
    } catch (error) {
      if (!/database with name "memory" already exists/i.test((error as Error).message)) throw error;
      await attachAs(` AS ${MEMORY_CATALOG}_db`);
    }
    const found = await connection.runAndReadAll(
      'SELECT database_name FROM duckdb_databases() WHERE path IS NOT NULL AND NOT internal',
    );
    return {
      catalog: found.getRowsJS()[0][0] as string,
      checkpoint: await shownCheckpoint(connection),
    };
  } finally {
    connection.closeSync();
  }
}

/** Without it whatever is left of a connection, such as a statement that nobody has destroyed, holds the file. */
async function detach(instance: DuckDBInstance, catalog: string): Promise<void> {
  const connection = await instance.connect();
  try {
    await connection.run(`DETACH ${quoteName(catalog)}`);
  } catch {
    // A database that a fatal error has ended; or the user has detached it.
  } finally {
    connection.closeSync();
  }
}

/** As DuckDB shows it, in another unit than it was set. */
async function shownCheckpoint(connection: DuckDBConnection): Promise<string> {
  const found = await connection.runAndReadAll("SELECT current_setting('checkpoint_threshold')");
  return found.getRows()[0][0] as string;
}

interface Attached {
  file: string;
  catalog: string;
  checkpoint: string;
  release: () => void;
}

function openWith(instance: DuckDBInstance, attached: Attached | null): OpenDatabase {
  const connections = new Set<DuckDBConnection>();
  /** As DuckDB shows what was set here. */
  let checkpoint = attached?.checkpoint ?? null;
  return {
    instance,
    catalog: attached?.catalog ?? MEMORY_CATALOG,
    file: attached?.file ?? null,
    async connect() {
      const connection = await instance.connect();
      connections.add(connection);
      // With its schema: a file may be called `main`.
      if (attached !== null) await connection.run(`USE ${quoteName(attached.catalog, 'main')}`);
      return connection;
    },
    async setCheckpoint(size) {
      const connection = await instance.connect();
      try {
        // What the user has set stays.
        if ((await shownCheckpoint(connection)) !== checkpoint) return;
        await connection.run(`SET GLOBAL checkpoint_threshold = ${quoteText(size)}`);
        checkpoint = await shownCheckpoint(connection);
      } finally {
        connection.closeSync();
      }
    },
    async close() {
      for (const connection of connections) connection.closeSync();
      connections.clear();
      if (attached !== null) await detach(instance, attached.catalog);
      instance.closeSync();
      attached?.release();
    },
  };
}
