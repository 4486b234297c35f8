/** The store contract on SQLite. A crash is a copy of the files as they are on the disk at that moment. */
import { copyFileSync, existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import { openSqliteStore } from '../../src/store/sqlite/sqlite-store.ts';
import type { Store } from '../../src/store/store-port.ts';
import { FakeClock } from '../fake-clock.ts';
import type { Row, StoreHarness } from './store/harness.ts';
import { describeStore } from './store-contract.ts';

async function startSqlite(): Promise<StoreHarness> {
  const folder = mkdtempSync(join(tmpdir(), 'sumi-store-'));
  const clock = new FakeClock();
  const opened: Store[] = [];
  let isOpen = false;
  let crashes = 0;
  let path = join(folder, 'store-0.db');

  return {
    clock,
    async open() {
      if (isOpen) await opened.at(-1)!.close();
      const store = await openSqliteStore({
        path,
        clock,
        onFailure: (error) => {
          throw error;
        },
      });
      const wrapped: Store = {
        ...store,
        async close() {
          isOpen = false;
          await store.close();
        },
      };
      opened.push(wrapped);
      isOpen = true;
      return wrapped;
    },
    async crash() {
      const survivor = join(folder, `store-${++crashes}.db`);
      copyFileSync(path, survivor);
      if (existsSync(`${path}-wal`)) copyFileSync(`${path}-wal`, `${survivor}-wal`);
      // The abandoned store may write what it likes: its file is not looked at again.
      await opened.at(-1)!.close();
      path = survivor;
    },
    async read(sql) {
      const db = new Sqlite(path, { readonly: true });
      try {
        return db.prepare(sql).all() as Row[];
      } finally {
        db.close();
      }
    },
    async cleanUp() {
      if (isOpen) await opened.at(-1)!.close();
      rmSync(folder, { recursive: true });
    },
  };
}

describeStore('SQLite', startSqlite);
