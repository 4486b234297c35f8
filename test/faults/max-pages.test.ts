import { expect, it } from 'vitest';
import { homes, reached, useCrew } from './crew.ts';
import { expectPolite, expectRepeatsOnlyOf, expectSettledPages } from './judge.ts';

const crew = useCrew();
const LIMIT = 90;

it('four workers never ask for more pages than max-pages together, and reach it', async () => {
  const web = await crew.web({ graph: { seed: 9, pages: 400, hosts: 20, linksPerPage: 8, textWords: 40 } });
  const store = await crew.store();
  const at = ['--store', store.address, '--concurrency', '5', '-q'];
  const limits = ['--max-pages', String(LIMIT), '--delay', '0.2'];
  const all = [crew.start(['crawl', ...homes(web), ...limits, ...at])];
  await reached(web, 1);
  while (all.length < 4) all.push(crew.start(['worker', ...at, '--once']));
  for (const { finished } of all) expect(await finished).toEqual({ code: 0, stdout: '', stderr: '' });
  expect(web.log.filter(({ path }) => path !== '/robots.txt')).toHaveLength(LIMIT);
  expect(await store.rows('SELECT status, pages FROM runs')).toEqual([{ status: 'completed', pages: LIMIT }]);
  expect(await store.rows("SELECT count(*)::int AS n FROM pages WHERE state = 'Processed'")).toEqual([
    { n: LIMIT },
  ]);
  expect(await store.rows("SELECT DISTINCT reason FROM pages WHERE state <> 'Processed'")).toEqual([
    { reason: `limit: max-pages ${LIMIT}` },
  ]);
  expectPolite(web, crew.beats, 200);
  await expectRepeatsOnlyOf(web, store, []);
  await expectSettledPages(store);
});
