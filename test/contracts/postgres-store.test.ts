/**
 * The store contract on a real PostgreSQL. A crash cuts the store's connections for good, and its worker's process is one
 * that does not exist.
 */

import type { AddressInfo } from 'node:net';
import { connect as connectSocket, createServer, type Socket } from 'node:net';
import { connect } from '../../src/store/postgres/connection.ts';
import { openPostgresStore, type PostgresStore } from '../../src/store/postgres/postgres-store.ts';
import type { Store } from '../../src/store/store-port.ts';
import { FakeClock } from '../fake-clock.ts';
import { sharedPostgres } from '../servers/shared-postgres.ts';
import type { Row, StoreHarness } from './store/harness.ts';
import { describeStore } from './store-contract.ts';

/** A road to the server that can be closed. */
async function openRoad(target: URL): Promise<{ address: string; close(): Promise<void> }> {
  const sockets = new Set<Socket>();
  const server = createServer((near) => {
    const far = connectSocket(Number(target.port), target.hostname);
    for (const [from, to] of [
      [near, far],
      [far, near],
    ]) {
      sockets.add(from);
      from.pipe(to);
      from.on('error', () => to.destroy());
      from.on('close', () => {
        sockets.delete(from);
        to.destroy();
      });
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = new URL(target);
  address.hostname = '127.0.0.1';
  address.port = String((server.address() as AddressInfo).port);
  return {
    address: address.href,
    async close() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

let database: Promise<string> | undefined;

async function startPostgres(): Promise<StoreHarness> {
  const server = await sharedPostgres();
  // One database for all cases, emptied before each.
  database ??= server.newDatabase();
  const url = new URL(await database);
  const clock = new FakeClock();
  const beside = connect(url.href, { max: 1, applicationName: 'contract' });
  let opened: { store: PostgresStore; road: Awaited<ReturnType<typeof openRoad>> } | null = null;

  async function close(): Promise<void> {
    if (opened === null) return;
    const { store, road } = opened;
    opened = null;
    await store.close();
    await road.close();
  }

  return {
    clock,
    async open() {
      await close();
      const road = await openRoad(url);
      const store = await openPostgresStore({
        address: road.address,
        clock,
        patienceMs: 0,
        readTime: async () => clock.now(),
        onFailure(error) {
          // One that lost its database has every reason to complain.
          if (opened?.store === store) throw error;
        },
      });
      opened = { store, road };
      return { ...store, close } satisfies Store;
    },
    async crash() {
      const { road } = opened!;
      opened = null;
      await road.close();
      // No process has this number, so the next to begin sees that the worker is gone.
      await beside`UPDATE worker SET process = regexp_replace(process, '[0-9]+ [0-9]+$', '4194305 1')`;
      await beside`UPDATE host SET lease_until = ${clock.now()} WHERE lease_owner IS NOT NULL`;
      await beside`UPDATE host_queue SET leased_until = ${clock.now()} WHERE leased_until > 0`;
    },
    async read(sql) {
      await opened?.store.rest();
      return (await beside.unsafe(sql)) as unknown as Row[];
    },
    async cleanUp() {
      await close();
      await beside.end();
      await server.clear(url.href);
    },
  };
}

describeStore('PostgreSQL', startPostgres);
