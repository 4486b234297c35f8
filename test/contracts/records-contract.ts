/** What every adapter of the record port promises. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import fc from 'fast-check';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Clock } from '../../src/primitives/clock.ts';
import { openRecords } from '../../src/store/open-store.ts';
import type { RecordPort } from '../../src/store/record-port.ts';
import { FakeClock } from '../fake-clock.ts';

export interface RecordsHarness {
  /** Of the store; nothing was ever crawled into it. */
  readonly address: string;
  /** No records. */
  empty(): Promise<void>;
  cleanUp(): Promise<void>;
}

function startProcess(...args: string[]) {
  const script = 'test/contracts/record-process.mjs';
  return spawn(process.execPath, ['--import', 'tsx', script, ...args], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
}

const keysOf = (records: readonly { key: string }[]) => records.map(({ key }) => key);
const byBytes = (a: string, b: string) => Buffer.compare(Buffer.from(a), Buffer.from(b));

export function describeRecords(name: string, start: () => Promise<RecordsHarness>): void {
  describe(`records of ${name}`, () => {
    let harness: RecordsHarness;
    let records: RecordPort;
    const clock = new FakeClock();
    const open = (own: Clock = clock) => openRecords(harness.address, own);

    beforeAll(async () => {
      harness = await start();
      records = await open();
    });
    beforeEach(() => harness.empty());
    afterAll(async () => {
      await records?.close();
      await harness?.cleanUp();
    });

    it('give back what was put, whatever JSON it is', async () => {
      const values = [null, 0, '', 'ŠΩ\n"\u0000\ud800', [1, [2]], { a: { b: null } }, 'x'.repeat(5_000_000)];
      for (const [i, value] of values.entries()) {
        expect(await records.put('view', 'p', `${i}`, value)).toBe(1);
        expect(await records.get('view', 'p', `${i}`)).toEqual({
          ...{ kind: 'view', scope: 'p', key: `${i}`, value, version: 1 },
          ...{ changedAt: clock.now(), expiresAt: null },
        });
      }
      expect(await records.get('view', 'q', '0')).toBeNull();
      expect(await records.get('token', 'p', '0')).toBeNull();
    });

    it('refuse names that cannot be given back, and values that are no JSON', async () => {
      for (const bad of ['a\0', '\ud800', 'x\udc00y']) {
        await expect(records.put('view', bad, 'k', 1)).rejects.toMatchObject({ code: 'record-name' });
        await expect(records.put('view', 's', bad, 1)).rejects.toMatchObject({ code: 'record-name' });
        await expect(records.get('view', 's', bad)).rejects.toMatchObject({ code: 'record-name' });
      }
      await expect(records.put('view', 's', 'k', undefined)).rejects.toThrow(TypeError);
      expect(await records.put('view', 's😀', 'k😀', 1)).toBe(1);
      expect(await records.list({ kind: 'view' })).toMatchObject([{ scope: 's😀', key: 'k😀' }]);
    });

    it('count versions, and change only the version that was expected', async () => {
      expect(await records.put('view', '', 'a', 1, { ifVersion: 1 })).toBeNull();
      expect(await records.get('view', '', 'a')).toBeNull();
      expect(await records.put('view', '', 'a', 1, { ifVersion: 0 })).toBe(1);
      expect(await records.put('view', '', 'a', 2, { ifVersion: 0 })).toBeNull();
      expect(await records.put('view', '', 'a', 3)).toBe(2);
      expect(await records.put('view', '', 'a', 4, { ifVersion: 1 })).toBeNull();
      expect(await records.put('view', '', 'a', 5, { ifVersion: 2 })).toBe(3);
      expect(await records.get('view', '', 'a')).toMatchObject({ value: 5, version: 3 });
      expect(await records.remove('view', '', 'a', 2)).toBe(false);
      expect(await records.remove('view', '', 'a', 3)).toBe(true);
      expect(await records.remove('view', '', 'a')).toBe(false);
      expect(await records.put('view', '', 'a', 6)).toBe(1);
    });

    it('count an expired record as absent, and keep an expiry unless another is given', async () => {
      const expiresAt = clock.now() + 1000;
      await records.put('session', '', 'a', 1, { expiresAt });
      await records.put('session', '', 'a', 2);
      await records.put('session', '', 'b', 1, { expiresAt });
      await records.put('session', '', 'b', 2, { ifVersion: 1, expiresAt: null });
      await records.put('session', '', 'c', 1, { expiresAt });
      await records.put('session', '', 'c', 2, { ifVersion: 1 });
      clock.advance(999);
      expect(await records.get('session', '', 'a')).toMatchObject({ version: 2, expiresAt });
      clock.advance(1);
      expect(await records.get('session', '', 'a')).toBeNull();
      expect(await records.get('session', '', 'b')).toMatchObject({ value: 2, expiresAt: null });
      expect(keysOf(await records.list({ kind: 'session' }))).toEqual(['b']);
      expect(await records.put('session', '', 'c', 3, { ifVersion: 2 })).toBeNull();
      expect(await records.remove('session', '', 'c')).toBe(false);
      expect(await records.put('session', '', 'a', 3, { ifVersion: 0 })).toBe(1);
      expect(await records.get('session', '', 'a')).toMatchObject({ value: 3, expiresAt: null });
      expect(await records.removeExpired()).toBe(1);
      expect(await records.removeExpired()).toBe(0);
      expect(keysOf(await records.list({ kind: 'session' }))).toEqual(['a', 'b']);
    });

    it('remove a thousand expired ones at a time', async () => {
      const puts = Array.from({ length: 1100 }, (_, i) =>
        records.put('idempotency', '', `${i}`, i, { expiresAt: clock.now() }),
      );
      await Promise.all(puts);
      expect(await records.removeExpired()).toBe(1000);
      expect(await records.removeExpired()).toBe(100);
    });

    it('list the keys of a scope in the order of their bytes, page by page, both ways', async () => {
      const letters = fc.constantFrom('a', 'B', 'é', '√', '😀', '～', '_', ' ', '');
      const text = fc.array(letters, { minLength: 1, maxLength: 6 }).map((parts) => parts.join('') || '-');
      await fc.assert(
        fc.asyncProperty(
          fc.uniqueArray(text, { maxLength: 12 }),
          fc.integer({ min: 1, max: 5 }),
          fc.constantFrom('asc', 'desc'),
          async (keys, limit, order) => {
            await harness.empty();
            for (const key of keys) await records.put('run-log', 's', key, key);
            await records.put('run-log', 't', 'other', 0);
            const listed: string[] = [];
            for (let after: string | undefined; ; after = listed[listed.length - 1]) {
              const page = await records.list({ kind: 'run-log', scope: 's', after, order, limit });
              listed.push(...keysOf(page));
              if (page.length < limit) break;
            }
            const expected = [...keys].sort(byBytes);
            expect(listed).toEqual(order === 'asc' ? expected : expected.reverse());
          },
        ),
        { numRuns: 20, seed: 23 },
      );
    });

    it('list all scopes by scope, then key', async () => {
      for (const [scope, key] of ['b2', 'a2', 'b1', 'a1', 'B1'].map((text) => [...text]))
        await records.put('webhook', scope, key, 0);
      const listed = await records.list({ kind: 'webhook' });
      expect(listed.map(({ scope, key }) => scope + key)).toEqual(['B1', 'a1', 'a2', 'b1', 'b2']);
      const afterRecord = { scope: 'a', key: '1' };
      const after = await records.list({ kind: 'webhook', afterRecord, limit: 2 });
      expect(after.map(({ scope, key }) => scope + key)).toEqual(['a2', 'b1']);
      const before = await records.list({ kind: 'webhook', afterRecord, order: 'desc' });
      expect(before.map(({ scope, key }) => scope + key)).toEqual(['B1']);
      await expect(records.list({ kind: 'webhook', scope: 'a', afterRecord })).rejects.toThrow(TypeError);
      await expect(records.list({ kind: 'webhook', after: 'a' })).rejects.toThrow(TypeError);
      for (const limit of [0, 1001, 1.5])
        await expect(records.list({ kind: 'webhook', limit })).rejects.toMatchObject({ code: 'list-limit' });
    });

    it('forget everything of a scope, and nothing else', async () => {
      for (const kind of ['webhook', 'delivery', 'schedule'] as const)
        for (const scope of ['', 'p', 'q']) await records.put(kind, scope, 'k', 0);
      await records.removeScope('p');
      for (const kind of ['webhook', 'delivery', 'schedule'] as const)
        expect((await records.list({ kind })).map(({ scope }) => scope)).toEqual(['', 'q']);
      await expect(records.removeScope('')).rejects.toThrow(TypeError);
    });

    it('are the same for everyone who opens them', async () => {
      const others = await Promise.all([open(), open(), open()]);
      try {
        const wins = await Promise.all(
          others.map((one, i) => one.put('queued-run', '', 'k', i, { ifVersion: 0 })),
        );
        expect(wins.filter((version) => version === 1)).toHaveLength(1);
        const changes = await Promise.all(
          others.map((one, i) => one.put('queued-run', '', 'k', i, { ifVersion: 1 })),
        );
        expect(changes.filter((version) => version === 2)).toHaveLength(1);
        const removed = await Promise.all(others.map((one) => one.remove('queued-run', '', 'k', 2)));
        expect(removed.filter(Boolean)).toHaveLength(1);
      } finally {
        await Promise.all(others.map((one) => one.close()));
      }
    });

    it('lose no change when several processes race for one record', async () => {
      const processes = [1, 2, 3].map(() => startProcess(harness.address, 'count', 'n', '40'));
      const codes = await Promise.all(processes.map(async (one) => (await once(one, 'exit'))[0]));
      expect(codes).toEqual([0, 0, 0]);
      expect(await records.get('service', '', 'n')).toMatchObject({ value: 120, version: 120 });
    });

    it('keep what was written by a process that is killed afterwards', async () => {
      const dying = startProcess(harness.address, 'keep', 'k');
      await once(dying.stdout, 'data');
      dying.kill('SIGKILL');
      await once(dying, 'exit');
      expect(await records.get('token', '', 'k')).toMatchObject({ value: { kept: true } });
      const again = await open();
      expect(await again.get('token', '', 'k')).toMatchObject({ version: 1 });
      await again.close();
    });

    it('answer nothing after they were closed', async () => {
      const closed = await open();
      await closed.close();
      await expect(closed.get('token', '', 'k')).rejects.toMatchObject({ code: 'store-closed' });
      await closed.close();
    });
  });
}
