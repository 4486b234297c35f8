import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { FakeClock } from '../../../test/fake-clock.ts';
import { openRecords } from '../../store/open-store.ts';
import { createHeldWebhook } from './webhook-hold.ts';
import { createWebhookRecords } from './webhook-records.ts';

const closings: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closings.splice(0).reverse()) await close();
});

async function twoServices() {
  const folder = mkdtempSync(join(tmpdir(), 'sumi-hold-'));
  closings.push(() => rmSync(folder, { recursive: true }));
  const clock = new FakeClock();
  const records = await openRecords(join(folder, 'sumi.db'), clock);
  closings.push(() => records.close());
  const named = { projectUid: 'project', webhookId: 'hook' };
  const open = () => createHeldWebhook(createWebhookRecords(records), named, () => clock.now());
  return { clock, one: open(), other: open() };
}

it('one of two services holds a webhook, and the other has it when it is given back', async () => {
  const { one, other } = await twoServices();
  const both = await Promise.all([one.take(), other.take()]);
  const [hold] = both.filter((taken) => taken !== null);
  expect(both.filter((taken) => taken === null).length).toBe(1);
  await hold.save({ done: [3, 1] });
  expect(
    await Promise.all([one.take(), other.take()]).then((all) => all.filter((taken) => taken !== null).length),
  ).toBe(1);
  const loser = both[0] === null ? one : other;
  expect(await loser.take()).toBeNull();
  const again = await (both[0] === null ? other : one).take();
  await again!.release();
  expect((await loser.take())!.state.done).toEqual([3, 1]);
});

it('a hold that was not renewed is taken over, and saves nothing more', async () => {
  const { clock, one, other } = await twoServices();
  const hold = (await one.take())!;
  clock.advance(59_000);
  await hold.save({});
  clock.advance(59_000);
  expect(await other.take()).toBeNull();
  clock.advance(2_000);
  const taken = (await other.take())!;
  await taken.save({ done: [7, 1] });
  await expect(hold.save({ done: [9, 1] })).rejects.toThrow('another service');
  expect((await one.state()).done).toEqual([7, 1]);
});
