import { describe, expect, it } from 'vitest';
import { asked, page, seenAs, useBench } from './crawl-site.ts';

const bench = useBench();
const SITE = { pages: { '/': page('Home', '/a'), '/a': page('A') } };

describe('an isolated run', () => {
  it('is a project of its own, every time, and fetches everything again', async () => {
    const web = await bench.web(SITE);
    const file = bench.file();
    const options = { isolated: true, project: 'shop' };
    for (let i = 0; i < 3; i++) {
      const { summary } = await bench.crawl(file, web.url('/'), options);
      expect(summary).toMatchObject({ status: 'completed', pages: 2, known_urls: 2 });
    }
    expect(asked(web)).toHaveLength(6);
    const projects = file.rows<{ project: string }>('SELECT project FROM runs').map(({ project }) => project);
    expect(new Set(projects).size).toBe(3);
    for (const project of projects) expect(project).toMatch(/^shop ~\d{8}T\d{6}-[0-9a-f]{4}$/);
  });

  it('shares the clocks of hosts with all others', async () => {
    const web = await bench.web(SITE);
    const file = bench.file();
    const options = { isolated: true, delay: 0.2, robots: false };
    await bench.crawl(file, web.url('/'), options);
    await bench.crawl(file, web.url('/'), options);
    for (const gap of web.gapsMs()) expect(gap).toBeGreaterThanOrEqual(seenAs(200));
  });
});

describe('notes', () => {
  it('are kept with the run as an object', async () => {
    const web = await bench.web(SITE);
    const file = bench.file();
    await bench.crawl(file, web.url('/'), { meta: ['ticket=42', 'why=a=b'] });
    await bench.crawl(file, web.url('/'));
    const rows = file.rows<{ metadata: string | null }>('SELECT metadata FROM runs ORDER BY id');
    expect(rows.map(({ metadata }) => JSON.parse(metadata ?? 'null'))).toEqual([
      { ticket: '42', why: 'a=b' },
      null,
    ]);
  });
});

describe('a crawl told to stop', () => {
  it('waits no longer than the drain time for a request that never ends, and gives it back', async () => {
    const web = await bench.web({ pages: { '/': () => {} } });
    const file = bench.file();
    const begun = await bench.begin(file, web.url('/'), { robots: false, drainSeconds: 0.1 });
    await web.asked('/');
    begun.stop();
    expect(await begun.finished).toMatchObject({ status: 'interrupted', pages: 0, waiting: 1 });
    expect(file.page('/').state).toBe('Queued');
  });
});
