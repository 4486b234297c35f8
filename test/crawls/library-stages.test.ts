// Stages of a program that crawl() of the library passes on: what is found is judged, what was read is kept elsewhere.
import { describe, expect, it } from 'vitest';
import { crawl } from '../../src/index.ts';
import { page, useBench } from './crawl-site.ts';

const bench = useBench();

describe('crawl() of the library', () => {
  it('asks a judge of found URLs, and gives visits with their header fields to a stage before settling', async () => {
    const web = await bench.web({
      pages: { '/': page('Home', '/a', '/b'), '/a': page('A'), '/b': page('B') },
    });
    const file = bench.file();
    const kept: string[] = [];
    const run = await crawl({
      startUrls: [web.url('/')],
      db: file.path,
      delay: 0,
      discover: ['links'],
      env: {},
      judgeUrls: async (urls) => urls.map((url) => (url.endsWith('/b') ? 'not b' : null)),
      wantsHeaders: true,
      async beforeSettle({ url, headers }) {
        if (headers?.some(([name]) => name === 'content-type')) kept.push(new URL(url).pathname);
        return 'settle' as const;
      },
    });
    await run.finished;
    expect(kept.sort()).toEqual(['/', '/a']);
    expect(web.requestsTo('/b')).toEqual([]);
    expect(file.page('/b')).toMatchObject({ state: 'Skipped', reason: 'not b' });
  });
});
