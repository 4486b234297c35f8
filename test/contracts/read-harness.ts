/** Both stores, empty at first, for questions to be asked of what is written through their port. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import { connect, disconnect } from '../../src/store/postgres/connection.ts';
import { openPostgresStore } from '../../src/store/postgres/postgres-store.ts';
import { openPostgresReadSide } from '../../src/store/postgres/read-side.ts';
import { openSqliteReadSide } from '../../src/store/sqlite/read-side.ts';
import { openSqliteStore } from '../../src/store/sqlite/sqlite-store.ts';
import { FakeClock } from '../fake-clock.ts';
import { sharedPostgres } from '../servers/shared-postgres.ts';
import type { ReadHarness } from './little-crawl.ts';
import type { Row } from './store/harness.ts';

/** Views are compared by what any client reads through them. */
export interface ViewHarness extends ReadHarness {
  rows(sql: string): Promise<Row[]>;
  /** Changes the database behind the back of the store. */
  write(sql: string): Promise<void>;
  readonly address: string;
}

function onFailure(error: unknown): never {
  throw error;
}

export async function startSqliteReading(): Promise<ViewHarness> {
  const folder = mkdtempSync(join(tmpdir(), 'sumi-read-'));
  const path = join(folder, 'sumi.db');
  const clock = new FakeClock();
  return {
    address: path,
    clock,
    openStore: async () => openSqliteStore({ path, clock, onFailure }),
    openReadSide: async () => openSqliteReadSide(path),
    async rows(sql) {
      const db = new Sqlite(path, { readonly: true });
      try {
        return db.prepare(sql).all() as Row[];
      } finally {
        db.close();
      }
    },
    async write(sql) {
      const db = new Sqlite(path);
      try {
        db.exec(sql);
      } finally {
        db.close();
      }
    },
    cleanUp: async () => rmSync(folder, { recursive: true }),
  };
}

export async function startPostgresReading(): Promise<ViewHarness> {
  const server = await sharedPostgres();
  const address = await server.newDatabase();
  const clock = new FakeClock();
  return {
    address,
    clock,
    openStore: () =>
      openPostgresStore({ address, clock, patienceMs: 0, onFailure, readTime: async () => clock.now() }),
    openReadSide: () => openPostgresReadSide(address),
    async rows(sql) {
      const client = connect(address, { max: 1, applicationName: 'test' });
      try {
        return [...(await client.unsafe(sql))] as Row[];
      } finally {
        await disconnect(client);
      }
    },
    async write(sql) {
      const client = connect(address, { max: 1, applicationName: 'test' });
      try {
        await client.unsafe(sql);
      } finally {
        await disconnect(client);
      }
    },
    cleanUp: () => server.dropDatabase(address),
  };
}
