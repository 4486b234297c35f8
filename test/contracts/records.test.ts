/** The record port on both stores, and what is each one's own: a file beside the store's, a table in its database. */
import { chmodSync, mkdtempSync, rmSync, statSync, symlinkSync } from 'node:fs';
import { type AddressInfo, connect as connectSocket, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../src/primitives/clock.ts';
import { openReadSide, openRecords, openStore } from '../../src/store/open-store.ts';
import { sharedPostgres } from '../servers/shared-postgres.ts';
import { describeRecords } from './records-contract.ts';

function onFailure(error: unknown): never {
  throw error;
}

describeRecords('SQLite', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'sumi-records-'));
  const address = join(folder, 'x.db');
  return {
    address,
    async empty() {
      const db = new Sqlite(`${address}.service`);
      db.exec('DELETE FROM service_record');
      db.close();
    },
    cleanUp: async () => rmSync(folder, { recursive: true }),
  };
});

describeRecords('PostgreSQL', async () => {
  const server = await sharedPostgres();
  const address = await server.newDatabase();
  return {
    address,
    empty: () => server.run('DELETE FROM service_record', address),
    cleanUp: () => server.dropDatabase(address),
  };
});

describe('the file of records', () => {
  let folder: string;
  let path: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'sumi-records-'));
    path = join(folder, 'x.db');
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  it('is open to its owner only, with all that SQLite keeps beside it', async () => {
    const records = await openRecords(path);
    await records.put('token', '', 'k', 1);
    for (const end of ['', '-wal', '-shm'])
      expect(statSync(`${path}.service${end}`).mode & 0o777).toBe(0o600);
    await records.close();
    chmodSync(`${path}.service`, 0o644);
    await (await openRecords(path)).close();
    expect(statSync(`${path}.service`).mode & 0o777).toBe(0o600);
  });

  it('can be written while a crawler has the store, and the store while somebody has the records', async () => {
    const store = await openStore({ address: path, clock: systemClock, onFailure });
    const records = await openRecords(path);
    await records.put('token', '', 'k', 1);
    await store.projects.saveSettings('p', '{}');
    await store.close();
    expect(await records.get('token', '', 'k')).not.toBeNull();
    await records.close();
  });

  it('stands beside the file that a link leads to', async () => {
    const store = await openStore({ address: path, clock: systemClock, onFailure });
    await store.close();
    symlinkSync(path, join(folder, 'link.db'));
    const records = await openRecords(join(folder, 'link.db'));
    await records.put('token', '', 'k', 1);
    await records.close();
    const same = await openRecords(path);
    expect(await same.get('token', '', 'k')).not.toBeNull();
    await same.close();
  });

  it('is left as it is when a newer program, or another one, wrote it', async () => {
    await (await openRecords(path)).close();
    const newer = new Sqlite(`${path}.service`);
    newer.pragma('user_version = 99');
    newer.close();
    await expect(openRecords(path)).rejects.toMatchObject({ code: 'db-newer' });
    const other = new Sqlite(join(folder, 'y.db.service'));
    other.exec('CREATE TABLE t (a)');
    other.close();
    chmodSync(join(folder, 'y.db.service'), 0o644);
    await expect(openRecords(join(folder, 'y.db'))).rejects.toMatchObject({ code: 'db-foreign' });
    expect(statSync(join(folder, 'y.db.service')).mode & 0o777).toBe(0o644);
    // A store is no file of records.
    await (await openStore({ address: join(folder, 'z.db.service'), clock: systemClock, onFailure })).close();
    await expect(openRecords(join(folder, 'z.db'))).rejects.toMatchObject({ code: 'db-foreign' });
  });

  it('says where there is no folder for it', async () => {
    await expect(openRecords(join(folder, 'none', 'x.db'))).rejects.toMatchObject({
      code: 'db-not-writable',
    });
  });

  it('can be in memory, for each who opens it', async () => {
    const [one, other] = await Promise.all([openRecords(':memory:'), openRecords(':memory:')]);
    expect(await one.put('token', '', 'k', 1)).toBe(1);
    expect(await one.get('token', '', 'k')).toMatchObject({ value: 1 });
    expect(await other.get('token', '', 'k')).toBeNull();
    await one.close();
    await other.close();
  });
});

describe('the table of records', () => {
  it('is made once when several open an empty database at the same moment', async () => {
    const server = await sharedPostgres();
    const address = await server.newDatabase();
    const opened = await Promise.all([1, 2, 3].map(() => openRecords(address)));
    await opened[0].put('token', '', 'k', 1);
    expect(await opened[2].get('token', '', 'k')).toMatchObject({ value: 1 });
    const store = await openStore({ address, clock: systemClock, onFailure });
    await store.close();
    await (await openReadSide(address)).close();
    await Promise.all(opened.map((records) => records.close()));
    await server.dropDatabase(address);
  });

  it('does a put once whose answer was lost, and answers its version', async () => {
    const server = await sharedPostgres();
    const address = await server.newDatabase();
    const road = await openForgetfulRoad(new URL(address), 'forgotten');
    const records = await openRecords(road.address);
    expect(await records.put('token', '', 'k', 'first', { ifVersion: 0 })).toBe(1);
    expect(await records.put('token', '', 'k', 'second', { ifVersion: 1 })).toBe(2);
    expect(await records.put('token', '', 'k', 'forgotten', { ifVersion: 2 })).toBe(3);
    expect(road.cuts()).toBe(1);
    expect(await records.get('token', '', 'k')).toMatchObject({ value: 'forgotten', version: 3 });
    await records.close();
    await road.close();
    await server.dropDatabase(address);
  });
});

/** A road to the server that ends when the answer to the first message with this word comes back. */
async function openForgetfulRoad(target: URL, word: string) {
  let cuts = 0;
  const sockets = new Set<Socket>();
  const server = createServer((near) => {
    const far = connectSocket(Number(target.port), target.hostname);
    let forgets = false;
    near.on('data', (bytes) => {
      forgets ||= cuts === 0 && bytes.includes(word);
      far.write(bytes);
    });
    far.on('data', (bytes) => {
      if (!forgets) return void near.write(bytes);
      cuts++;
      near.destroy();
      far.destroy();
    });
    for (const socket of [near, far]) {
      sockets.add(socket);
      socket.on('error', () => {});
      socket.on('close', () => {
        near.destroy();
        far.destroy();
      });
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = new URL(target);
  address.hostname = '127.0.0.1';
  address.port = String((server.address() as AddressInfo).port);
  return {
    address: address.href,
    cuts: () => cuts,
    async close() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
