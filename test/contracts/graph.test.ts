/** The link graph's contract on both stores. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openPostgresStore } from '../../src/store/postgres/postgres-store.ts';
import { openPostgresReadSide } from '../../src/store/postgres/read-side.ts';
import { openSqliteReadSide } from '../../src/store/sqlite/read-side.ts';
import { openSqliteStore } from '../../src/store/sqlite/sqlite-store.ts';
import { FakeClock } from '../fake-clock.ts';
import { sharedPostgres } from '../servers/shared-postgres.ts';
import { describeGraph } from './graph-contract.ts';

function onFailure(error: unknown): never {
  throw error;
}

describeGraph('SQLite', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'sumi-graph-'));
  const path = join(folder, 'sumi.db');
  const clock = new FakeClock();
  return {
    clock,
    openStore: async () => openSqliteStore({ path, clock, onFailure }),
    openReadSide: async () => openSqliteReadSide(path),
    cleanUp: async () => rmSync(folder, { recursive: true }),
  };
});

describeGraph('PostgreSQL', async () => {
  const server = await sharedPostgres();
  const address = await server.newDatabase();
  const clock = new FakeClock();
  return {
    clock,
    openStore: () =>
      openPostgresStore({ address, clock, patienceMs: 0, onFailure, readTime: async () => clock.now() }),
    openReadSide: () => openPostgresReadSide(address),
    cleanUp: () => server.dropDatabase(address),
  };
});
