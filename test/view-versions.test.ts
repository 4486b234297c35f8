import { createHash } from 'node:crypto';
import { expect, it } from 'vitest';
import * as postgres from '../src/store/postgres/schema.ts';
import { VIEWS as POSTGRES_VIEWS } from '../src/store/postgres/views.ts';
import * as sqlite from '../src/store/sqlite/schema.ts';
import { VIEWS as SQLITE_VIEWS } from '../src/store/sqlite/views.ts';

const markOf = (views: string) =>
  createHash('sha256').update(views.replace(/\s+/g, ' ')).digest('hex').slice(0, 8);

// Stored databases keep the views they have until a new version: add an entry to MIGRATIONS, then the new pair here.
it.each([
  ['SQLite', sqlite.SCHEMA_VERSION, SQLITE_VIEWS, [12, 'e01bc3e8']],
  ['PostgreSQL', postgres.SCHEMA_VERSION, POSTGRES_VIEWS, [10, '4651baa2']],
])('the views of %s change only with a version', (_, version, views, pair) => {
  expect([version, markOf(views)]).toEqual(pair);
});
