/** The contract of facets and the tree on both stores. */
import { describeFacets } from './facets-contract.ts';
import { startPostgresReading, startSqliteReading } from './read-harness.ts';

describeFacets('SQLite', startSqliteReading);
describeFacets('PostgreSQL', startPostgresReading);
