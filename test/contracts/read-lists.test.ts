/** The contract of lists on both stores. */
import { startPostgresReading, startSqliteReading } from './read-harness.ts';
import { describeLists } from './read-lists-contract.ts';

describeLists('SQLite', startSqliteReading);
describeLists('PostgreSQL', startPostgresReading);
