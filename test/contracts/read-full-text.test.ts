/** The contract of searches for words on both stores. */
import { describeFullText } from './full-text-contract.ts';
import { startPostgresReading, startSqliteReading } from './read-harness.ts';

describeFullText('SQLite', startSqliteReading);
describeFullText('PostgreSQL', startPostgresReading);
