import { expect, it } from 'vitest';
import { homes, reached, useCrew } from './crew.ts';
import { expectNoneLost, expectPolite, expectRepeatsOnlyOf, expectSettled } from './judge.ts';

const crew = useCrew();
const DELAY_S = 0.2;

it('a worker told to stop (SIGTERM) ends what is in flight, gives its hosts back and exits 0; another goes on at once', async () => {
  const { web, gate } = await crew.gatedWeb({ seed: 5, pages: 160, hosts: 16 });
  const calm = await crew.calmRows(homes(web));
  web.log.length = 0;
  gate.close();
  const store = await crew.store();
  // A lease that is not given back lasts for ten minutes: who has to wait for it does not end within the test's time.
  const at = ['--store', store.address, '--concurrency', '4', '--lease-seconds', '600'];
  const first = crew.start(['crawl', ...homes(web), '--delay', String(DELAY_S), ...at, '-q']);
  await reached(web, 4);
  const second = crew.start(['worker', ...at]);
  await reached(web, 8);
  second.child.kill('SIGTERM');
  await second.said('draining');
  gate.open();
  const { code, stdout, stderr } = await second.finished;
  expect([code, stdout]).toEqual([0, '']);
  expect(stderr).toContain('draining: 4 requests in flight');
  expect(await store.rows(`SELECT name FROM host WHERE lease_owner LIKE '%:${second.child.pid}:%'`)).toEqual(
    [],
  );
  expect(await first.finished).toEqual({ code: 0, stdout: '', stderr: '' });
  expect(await store.rows('SELECT id FROM worker WHERE ended_at IS NULL')).toEqual([]);
  expectNoneLost(web);
  expectPolite(web, crew.beats, DELAY_S * 1000);
  await expectRepeatsOnlyOf(web, store, []);
  await expectSettled(store, web);
  expect(await store.pages()).toEqual(calm);
});
