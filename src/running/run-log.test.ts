import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { FakeClock } from '../../test/fake-clock.ts';
import { openRecords } from '../store/open-store.ts';
import type { RecordPort } from '../store/record-port.ts';
import { MOST_ENTRIES, openRunLog, readRunLog } from './run-log.ts';

const closings: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closings.splice(0).reverse()) await close();
});

async function open() {
  const folder = mkdtempSync(join(tmpdir(), 'sumi-log-'));
  const clock = new FakeClock();
  const records: RecordPort = await openRecords(join(folder, 'sumi.db'), clock);
  closings.push(async () => rmSync(folder, { recursive: true, force: true }));
  closings.push(() => records.close());
  const onFailure = (error: unknown) => {
    throw error;
  };
  return { records, log: (run: number) => openRunLog({ records, clock, onFailure }, 'project', run) };
}

const entry = (n: number) => ({ type: 'host' as const, message: `entry ${n}`, detail: { n } });

describe('the log of a run', () => {
  it('is read in order, from anywhere, and goes on when it is opened again', async () => {
    const { records, log } = await open();
    const first = await log(3);
    for (let n = 1; n <= 120; n++) first.add(entry(n));
    await first.flush();
    const other = await log(4);
    other.add(entry(0));
    await other.flush();
    const again = await log(3);
    again.add(entry(121));
    await again.flush();
    const all = await readRunLog(records, 'project', 3, { limit: 1000 });
    expect(all.map(({ nth, detail }) => [nth, detail.n])).toEqual(
      Array.from({ length: 121 }, (_, i) => [i + 1, i + 1]),
    );
    const some = await readRunLog(records, 'project', 3, { after: 70, limit: 10 });
    expect(some.map(({ nth }) => nth)).toEqual([71, 72, 73, 74, 75, 76, 77, 78, 79, 80]);
    expect(await readRunLog(records, 'project', 4)).toMatchObject([{ nth: 1 }]);
    expect(await readRunLog(records, 'project', 5)).toEqual([]);
  });

  it('keeps the last entries only', async () => {
    const { records, log } = await open();
    const long = await log(1);
    for (let n = 1; n <= 3 * MOST_ENTRIES; n++) {
      long.add(entry(n));
      if (n % 200 === 0) await long.flush();
    }
    await long.flush();
    const kept = await readRunLog(records, 'project', 1, { limit: 10_000 });
    expect(kept.length).toBeGreaterThanOrEqual(MOST_ENTRIES);
    expect(kept.length).toBeLessThanOrEqual(MOST_ENTRIES + 50);
    expect(kept[kept.length - 1].nth).toBe(3 * MOST_ENTRIES);
  });
});
