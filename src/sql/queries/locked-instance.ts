/**
 * A DuckDB in memory that reaches no file, no network and no extension, that spills nothing to disk, and whose settings are
 * final. What a query is allowed to name is checked before (check-query.ts); this holds where that check would err.
 */
import { type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api';

export const MEMORY_LIMIT = '512MB';

const INSTANCE = {
  threads: '2',
  memory_limit: MEMORY_LIMIT,
  temp_directory: '',
  max_temp_directory_size: '0B',
  allow_community_extensions: 'false',
  autoinstall_known_extensions: 'false',
  autoload_known_extensions: 'false',
};

/** The last of them makes the others final. */
const LOCKS = [
  "SET secret_directory = ''",
  "SET home_directory = ''",
  "SET TimeZone = 'UTC'",
  'SET errors_as_json = true',
  'SET enable_external_access = false',
  'SET lock_configuration = true',
];

export interface LockedInstance {
  connection: DuckDBConnection;
  /** A statement that is in the middle of its result is not waited for. */
  close(): void;
}

/** `prepare` is called before the locks close. */
export async function lockedInstance(
  prepare: (connection: DuckDBConnection) => Promise<void>,
): Promise<LockedInstance> {
  const instance = await DuckDBInstance.create(':memory:', INSTANCE);
  const connection = await instance.connect();
  const close = () => {
    connection.interrupt();
    connection.closeSync();
    instance.closeSync();
  };
  try {
    await prepare(connection);
    for (const lock of LOCKS) await connection.run(lock);
    return { connection, close };
  } catch (error) {
    close();
    throw error;
  }
}
