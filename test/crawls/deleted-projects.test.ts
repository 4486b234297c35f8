/** A project that a program has deleted is no longer crawled by commands, until it is restored. */
import { expect, it } from 'vitest';
import { systemClock } from '../../src/primitives/clock.ts';
import { openReadSide, openStore } from '../../src/store/open-store.ts';
import { page, useBench } from './crawl-site.ts';

const bench = useBench();

async function mark(path: string, at: number | null): Promise<string> {
  const side = await openReadSide(path);
  const [{ uid }] = await side.projects();
  await side.close();
  const store = await openStore({
    address: path,
    clock: systemClock,
    onFailure(error) {
      throw error;
    },
  });
  await store.projects.markDeleted(uid, at);
  await store.close();
  return uid;
}

it('a crawl into the name of a deleted project is refused, with the way back', async () => {
  const web = await bench.web({ pages: { '/': page('Home', '/a'), '/a': page('A') } });
  const file = bench.file();
  await bench.crawl(file, web.url('/'), { project: 'shop' });
  const uid = await mark(file.path, 5000);
  web.log.length = 0;
  const again = bench.crawl(file, web.url('/'), { project: 'shop' });
  await expect(again).rejects.toMatchObject({
    ...{ code: 'project-deleted', exitCode: 2 },
    message: expect.stringContaining('"shop"'),
    hint: expect.stringMatching(new RegExp(`${uid}/restore.*--project`)),
  });
  expect(web.log).toEqual([]);
  expect(file.rows('SELECT count(*) AS runs FROM runs')).toEqual([{ runs: 1 }]);
  await mark(file.path, null);
  const { summary } = await bench.crawl(file, web.url('/'), { project: 'shop' });
  expect(summary.pages).toBe(2);
});
