/** The store contract on SQLite. A crash is a copy of the files as they are on the disk at that moment. */
import { copyFileSync, existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openSqliteStore } from '../../src/store/sqlite/sqlite-store.ts';
import type { Store } from '../../src/store/store-port.ts';
import { FakeClock } from '../fake-clock.ts';
import {
  beginOn,
  beginRun,
  candidate,
  LEASE_MS,
  processed,
  type Row,
  type StoreHarness,
} from './store/harness.ts';
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

describe('one file', () => {
  let harness: StoreHarness;
  beforeEach(async () => {
    harness = await startSqlite();
  });
  afterEach(() => harness.cleanUp());
  it('refuses a second session on a project, and what would change it under the first', async () => {
    const first = await beginRun(harness);
    const { opened } = first;
    await first.store.frontier.offer([candidate('x')]);
    const again = {
      project: 'p',
      configHash: 'hash',
      config: '{}',
      metadata: null,
      now: harness.clock.now(),
    };
    for (const refused of [
      () => opened.begin({ ...again, owner: 'another', fresh: false }),
      () => opened.begin({ ...again, owner: 'another', fresh: true }),
      () => opened.join(first.start.runId, 'another'),
      () => opened.projects.revise({ ...again, owner: 'another', fresh: false }, () => null),
    ])
      await expect(refused()).rejects.toMatchObject({
        code: 'run-under-way',
        message: `The project "p" is already being crawled in this process (run ${first.start.runId}).`,
        hint: expect.stringContaining('Wait until that run ends'),
      });
    expect(await first.drain(await first.lease())).toEqual(['x']);
    await first.store.leave();
    expect((await beginOn(opened, harness.clock)).start).toMatchObject({ resumed: true, knownUrls: 1 });
  });

  it('is opened once in a process: a second time is refused, told what to do instead', async () => {
    const { opened } = await beginRun(harness);
    const [{ file }] = await harness.read('SELECT file FROM pragma_database_list');
    const onFailure = () => {};
    const again = () => openSqliteStore({ path: String(file), clock: harness.clock, onFailure });
    await expect(again()).rejects.toMatchObject({
      code: 'db-open-here',
      hint: expect.stringContaining('start all runs on it'),
    });
    await opened.close();
    await (await again()).close();
  });

  it('calls for a host that another session keeps, by its pages or by its name, but not before a moment', async () => {
    const one = await beginRun(harness, { project: 'one', owner: 'one' });
    const two = await beginOn(one.opened, harness.clock, { project: 'two', owner: 'two' });
    const now = () => harness.clock.now();
    const held = await one.lease();
    expect(await two.store.frontier.leaseHost(held.host, now(), LEASE_MS)).toBeNull();
    expect(held.isWanted).toBeFalsy();
    harness.clock.advance(1000);
    expect(await two.store.frontier.leaseHost(held.host, now(), LEASE_MS)).toBeNull();
    expect(held.isWanted).toBe(true);
    const woken: string[] = [];
    two.store.frontier.onWork(() => woken.push('two'));
    await one.store.frontier.release(held);
    expect(woken).toEqual(['two']);
    const taken = await two.lease();
    await one.store.frontier.offer([candidate('x')]);
    harness.clock.advance(1000);
    expect(await one.store.frontier.lease(5, now(), LEASE_MS)).toEqual([]);
    expect(taken.isWanted).toBe(true);
  });

  it('gives a host round: of three that want it none goes before the one that waits the longest', async () => {
    const one = await beginRun(harness, { project: 'one', owner: 'one' });
    const runs = [one];
    for (const owner of ['two', 'three'])
      runs.push(await beginOn(one.opened, harness.clock, { project: owner, owner }));
    const pages = Array.from({ length: 9 }, (_, i) => candidate(`p${i}`));
    for (const { store } of runs) await store.frontier.offer(pages);
    const order: number[] = [];
    for (let round = 0; round < 9; round++) {
      for (const [i, { store, visit }] of runs.entries()) {
        const [lease] = await store.frontier.lease(5, harness.clock.now(), LEASE_MS);
        if (lease === undefined) continue;
        order.push(i);
        await visit(lease);
        await store.frontier.release(lease);
        break;
      }
    }
    expect(order).toEqual([0, 1, 2, 0, 1, 2, 0, 1, 2]);
  });

  it('knows at once who has lost a host: nothing of a settlement that comes too late is taken', async () => {
    const one = await beginRun(harness, { project: 'one', owner: 'one' });
    const two = await beginOn(one.opened, harness.clock, { project: 'two', owner: 'two' });
    await one.store.frontier.offer([candidate('x')]);
    const lost = await one.lease();
    const flying = await one.claim(lost);
    harness.clock.advance(LEASE_MS);
    await two.lease();
    const late = processed(flying, { candidates: [candidate('late')] });
    expect(await one.store.frontier.settle(lost, late)).toBeNull();
    expect((await one.store.frontier.claim(lost, 5, harness.clock.now())).claims).toEqual([]);
    expect(await one.store.run.counts()).toMatchObject({ known: 1, waiting: 1, pages: 0 });
  });

  it('leaves a host to the others when the one whose turn it is does not come', async () => {
    const one = await beginRun(harness, { project: 'one', owner: 'one' });
    const two = await beginOn(one.opened, harness.clock, { project: 'two', owner: 'two' });
    for (const { store } of [one, two]) await store.frontier.offer([candidate('x')]);
    await one.store.frontier.release(await one.lease());
    const lease = () => one.store.frontier.lease(5, harness.clock.now(), LEASE_MS);
    expect(await lease()).toEqual([]);
    harness.clock.advance(3000);
    const [taken] = await lease();
    // Nothing is kept for it any more, until it asks.
    await one.store.frontier.renew([taken], harness.clock.now() + 2 * LEASE_MS);
    expect(taken.isWanted).toBeFalsy();
    expect(await two.store.frontier.lease(5, harness.clock.now(), LEASE_MS)).toEqual([]);
    await one.store.frontier.renew([taken], harness.clock.now() + 2 * LEASE_MS);
    expect(taken.isWanted).toBe(true);
  });
});
