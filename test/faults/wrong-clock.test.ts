import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { installPackages } from '../servers/install-packages.ts';
import { homes, reached, useCrew } from './crew.ts';
import { expectNoneLost, expectPolite, expectRepeatsOnlyOf, expectSettled } from './judge.ts';

const crew = useCrew();
const DELAY_S = 0.2;
const MINUTE_MS = 60_000;
let library: string;

/** Where Debian puts the library that lies about the time. */
function findLibrary(): string | undefined {
  const folders = readdirSync('/usr/lib').map((name) =>
    join('/usr/lib', name, 'faketime', 'libfaketime.so.1'),
  );
  return folders.find((file) => existsSync(file));
}

beforeAll(() => {
  if (findLibrary() === undefined) installPackages(['faketime']);
  library = findLibrary()!;
});

describe('a worker whose clock is five minutes', () => {
  it.each(['+5m', '-5m'])('wrong (%s) goes by the time of the database', async (shift) => {
    const { web, gate } = await crew.gatedWeb({ seed: 3, pages: 200, hosts: 10 });
    gate.close();
    const store = await crew.store();
    const at = ['--store', store.address, '--concurrency', '5', '-q'];
    const beganAt = Date.now();
    const env = { LD_PRELOAD: library, FAKETIME: shift, FAKETIME_DONT_FAKE_MONOTONIC: '1' };
    const right = crew.start(['crawl', ...homes(web), '--delay', String(DELAY_S), ...at]);
    await reached(web, 1);
    const wrong = crew.start(['worker', ...at, '--once'], { ...env, DONT_FAKE_MONOTONIC: '1' });
    await store.allHold([right, wrong]);
    gate.open();
    for (const { finished } of [right, wrong])
      expect(await finished).toEqual({ code: 0, stdout: '', stderr: '' });
    const endedAt = Date.now();
    const leases = await store.leases();
    // A lease lasts a minute: none begins or ends minutes off, whoever took it.
    const odd = leases.filter(
      ({ at: noted, until }) => until !== null && Math.abs(until - noted - MINUTE_MS) > MINUTE_MS / 2,
    );
    expect(odd).toEqual([]);
    const times = await store.rows<{ t: number }>(`
      SELECT sent_at AS t FROM request UNION ALL SELECT ended_at FROM request UNION ALL SELECT slot_at FROM request
      UNION ALL SELECT visited_at FROM fetched UNION ALL SELECT discovered_at FROM url
      UNION ALL SELECT not_before FROM host WHERE not_before > 0 UNION ALL SELECT seen_at FROM worker
      UNION ALL SELECT started_at FROM worker UNION ALL SELECT fetched_at FROM robots_txt`);
    expect(times.length).toBeGreaterThan(800);
    const foreign = times.filter(({ t }) => t < beganAt - 1000 || t > endedAt + 1000);
    expect(foreign).toEqual([]);
    expectNoneLost(web);
    expectPolite(web, crew.beats, DELAY_S * 1000);
    await expectRepeatsOnlyOf(web, store, []);
    await expectSettled(store, web);
  });
});
