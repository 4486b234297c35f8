/** The contract of projects on both stores. */
import { describeProjects } from './projects-contract.ts';
import { startPostgresReading, startSqliteReading } from './read-harness.ts';

describeProjects('SQLite', startSqliteReading);
describeProjects('PostgreSQL', startPostgresReading);
