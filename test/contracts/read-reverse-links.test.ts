/** The contract of reverse links on both stores. */
import { startPostgresReading, startSqliteReading } from './read-harness.ts';
import { describeReverseLinks } from './reverse-links-contract.ts';

describeReverseLinks('SQLite', startSqliteReading);
describeReverseLinks('PostgreSQL', startPostgresReading);
