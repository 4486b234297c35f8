import { describe, expect, it } from 'vitest';
import { createChangingPages } from '../web/changing-pages.ts';
import { type CrawlOptions, useBench } from './crawl-site.ts';
import { outcomes } from './history-rows.ts';

const bench = useBench();
const SMART: CrawlOptions = { mode: 'smart', spotCheck: 0, perHost: 1, concurrency: 1 };
const PAGES = 120;

async function crawledSite(changedShare: number) {
  const paths = Array.from({ length: PAGES }, (_, n) => `/p${n}`);
  const site = createChangingPages({
    '/': { validators: 'etag', links: paths },
    ...Object.fromEntries(paths.map((path) => [path, { validators: 'etag' } as const])),
  });
  const web = await bench.web({ pages: site.pages });
  const file = bench.file();
  const first = await bench.crawl(file, web.url('/'), SMART);
  site.change(...paths.filter((_, n) => (n * 37) % 100 < changedShare * 100));
  return { site, web, file, first, from: web.log.length };
}

describe('smart mode', () => {
  it('reads everything in a first run, and says so', async () => {
    const { first } = await crawledSite(0);
    expect(first.summary).toMatchObject({
      mode: 'full',
      mode_reason: 'smart: full, no page is known yet',
      new: PAGES + 1,
    });
  });

  it('goes on as incremental where little changed, fetches no page twice, and finds every change', async () => {
    const { web, file, from } = await crawledSite(0.05);
    const { summary, events } = await bench.crawl(file, web.url('/'), SMART);
    expect(summary.mode).toBe('incremental');
    expect(summary.mode_reason).toMatch(
      /^smart: incremental, \d+ of \d+ sampled pages changed \(under 30 % with 95 % confidence\)$/,
    );
    const { run, project } = summary;
    expect(events.filter((event) => event.type === 'mode')).toEqual([
      {
        ...{ type: 'mode', mode: 'incremental', reason: summary.mode_reason },
        ...{ run, project, time: expect.any(String) },
      },
    ]);
    const [, , sampled] = /(\d+) of (\d+)/.exec(summary.mode_reason!)!.map(Number);
    expect(sampled).toBeLessThan(PAGES / 2);
    const requests = web.log.slice(from);
    expect(new Set(requests.map(({ path }) => path)).size).toBe(requests.length);
    expect(requests.filter(({ status }) => status === 200)).toHaveLength(summary.changed);
    expect(summary.changed + summary.unchanged).toBe(PAGES + 1);
    expect(file.rows('SELECT mode, mode_reason FROM runs ORDER BY id DESC LIMIT 1')).toEqual([
      { mode: 'incremental', mode_reason: summary.mode_reason },
    ]);
  });

  it('goes on as full where much changed: the sample is asked conditionally, the rest is not', async () => {
    const { web, file, from } = await crawledSite(0.8);
    const { summary } = await bench.crawl(file, web.url('/'), SMART);
    expect(summary.mode).toBe('full');
    expect(summary.mode_reason).toMatch(
      /^smart: full, \d+ of \d+ sampled pages changed \(over 30 % with 95 % confidence\)$/,
    );
    const [, , sampled] = /(\d+) of (\d+)/.exec(summary.mode_reason!)!.map(Number);
    const isConditional = web.log.slice(from).map(({ headers }) => headers['if-none-match'] !== undefined);
    expect(isConditional).toEqual(isConditional.map((_, n) => n < sampled));
    expect(web.log.length - from).toBe(PAGES + 1);
    const found = Object.values(outcomes(file));
    for (const outcome of found) expect(outcome).toMatch(/^(changed content|unchanged hash|unchanged 304)$/);
    expect(found.filter((outcome) => outcome === 'changed content')).toHaveLength(summary.changed);
    expect(summary.changed).toBeGreaterThan(PAGES * 0.7);
  });

  it('samples at random: not the first pages it finds', async () => {
    const { web, file, from } = await crawledSite(0);
    await bench.crawl(file, web.url('/'), { ...SMART, smartSample: 30, smartConfidence: 0.9 });
    const numbers = web.log.slice(from, from + 8).map(({ path }) => Number(path.slice(2)));
    // That eight pages at random are all among the first dozen happens once in a hundred million runs.
    expect(Math.max(...numbers)).toBeGreaterThan(12);
  });

  it('ends its sample where the option says, with what it saw by then', async () => {
    const { web, file } = await crawledSite(0.3);
    const { summary } = await bench.crawl(file, web.url('/'), {
      ...SMART,
      smartSample: 5,
      smartConfidence: 0.9999,
    });
    expect(summary.mode_reason).toMatch(/of 5 sampled pages changed, too few to say with 99.99 % confidence/);
  });

  it('says so when every page was visited before it could decide', async () => {
    const site = createChangingPages({
      '/': { validators: 'etag', links: ['/a'] },
      '/a': { validators: 'etag' },
    });
    const web = await bench.web({ pages: site.pages });
    const file = bench.file();
    await bench.crawl(file, web.url('/'));
    const { summary } = await bench.crawl(file, web.url('/'), SMART);
    expect(summary).toMatchObject({ mode: 'incremental', unchanged: 2 });
    expect(summary.mode_reason).toBe(
      'smart: incremental, 0 of 2 sampled pages changed, too few to say with 95 % confidence whether over or under 30 %; all pages were visited before it was decided',
    );
  });

  it('says so when the run had its pages before it could decide', async () => {
    const site = createChangingPages({
      '/': { validators: 'etag', links: ['/a', '/b'] },
      '/a': { validators: 'etag' },
      '/b': { validators: 'etag' },
    });
    const web = await bench.web({ pages: site.pages });
    const file = bench.file();
    await bench.crawl(file, web.url('/'));
    const { summary } = await bench.crawl(file, web.url('/'), { ...SMART, maxPages: 2 });
    expect(summary).toMatchObject({ status: 'completed', mode: 'incremental', unchanged: 2 });
    expect(summary.mode_reason).toMatch(/; the run had its pages before it was decided$/);
    expect(file.rows('SELECT mode, mode_reason FROM runs ORDER BY id DESC LIMIT 1')).toEqual([
      { mode: summary.mode, mode_reason: summary.mode_reason },
    ]);
  });

  it('keeps its decision when the run is stopped and goes on', async () => {
    const { web, file, from } = await crawledSite(0.8);
    const begun = await bench.begin(file, web.url('/'), SMART);
    while (web.log.length < from + 60) await new Promise((resolve) => setImmediate(resolve));
    begun.stop();
    const stopped = await begun.finished;
    expect(stopped).toMatchObject({ status: 'interrupted', mode: 'full' });
    const middle = web.log.length;
    const { summary, events } = await bench.crawl(file, web.url('/'), SMART);
    expect(summary).toMatchObject({ run: stopped.run, mode: 'full', mode_reason: stopped.mode_reason });
    for (const { headers } of web.log.slice(middle)) expect(headers['if-none-match']).toBeUndefined();
    expect(events.filter((event) => event.type === 'mode')).toHaveLength(1);
  });
});

describe('two runs on one project at once', () => {
  it('are refused in one file, and the first loses nothing', async () => {
    const { web, file, from } = await crawledSite(0.05);
    const options: CrawlOptions = { mode: 'incremental', spotCheck: 0, perHost: 1, concurrency: 1 };
    const begun = await bench.begin(file, web.url('/'), options);
    await expect(bench.begin(file, web.url('/'), { ...options, mode: 'full' })).rejects.toMatchObject({
      code: 'db-open-here',
    });
    const summary = await begun.finished;
    expect(summary).toMatchObject({ status: 'completed', mode: 'incremental' });
    expect(summary.changed + summary.unchanged).toBe(PAGES + 1);
    expect(web.log.length - from).toBe(PAGES + 1);
  });
});
