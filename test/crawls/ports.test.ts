/** Two servers on two ports of one host are two sites that share one clock. */
import { expect, it } from 'vitest';
import { page, useBench } from './crawl-site.ts';

const bench = useBench();

it('ports of a host are sites of their own, with projects of their own, and share its pace', async () => {
  const [one, two] = [
    await bench.web({ pages: { '/': page('One', '/a'), '/a': page('A of one') } }),
    await bench.web({ pages: { '/': page('Two', '/a'), '/a': page('A of two') } }),
  ];
  const file = bench.file();
  const first = await bench.crawl(file, one.url('/'));
  const second = await bench.crawl(file, two.url('/'));
  const [a, b] = [one, two].map((web) => new URL(web.url('/')).host);
  expect([first.summary.project, second.summary.project]).toEqual([a, b]);
  expect(second.summary).toMatchObject({ known_urls: 2, pages: 2 });
  expect(file.rows('SELECT count(*) AS hosts FROM domains')).toEqual([{ hosts: 1 }]);
  const again = await bench.crawl(file, one.url('/'));
  expect(again.summary).toMatchObject({ project: a, known_urls: 2, changed: 0 });
});

it('a link to another port leads out of the site, and in where both are given or the host is allowed', async () => {
  const other = await bench.web({ pages: { '/*': page('Other') } });
  const web = await bench.web({ pages: { '/': page('Home', other.url('/x')) } });
  const [here, there] = [web, other].map((each) => new URL(each.url('/')).host);
  const file = bench.file();
  await bench.crawl(file, web.url('/'));
  expect(file.page(other.url('/x'))).toMatchObject({
    state: 'Skipped',
    reason: `scope: host ${there} is not one of ${here}`,
  });
  const both = bench.file();
  const { summary } = await bench.crawl(both, [web.url('/'), other.url('/')]);
  expect(summary.project).toBe([here, there].sort().join(' '));
  expect(both.page(other.url('/x'))).toMatchObject({ state: 'Processed' });
  const allowed = bench.file();
  await bench.crawl(allowed, web.url('/'), { allowedHosts: ['127.0.0.1'] });
  expect(allowed.page(other.url('/x'))).toMatchObject({ state: 'Processed' });
});

it('one clock serves all ports of a host: no two requests come closer than the delay', async () => {
  const [one, two] = [
    await bench.web({ pages: { '/*': page('P', '/a', '/b') } }),
    await bench.web({ pages: { '/*': page('P', '/a', '/b') } }),
  ];
  const file = bench.file();
  await bench.crawl(file, [one.url('/'), two.url('/')], { delay: 0.05, robots: false, perHost: 1 });
  const slots = file
    .rows<{ at: number }>('SELECT slot_at AS at FROM request ORDER BY slot_at')
    .map(({ at }) => at);
  expect(slots).toHaveLength(6);
  // Slots are stored as whole milliseconds.
  for (let i = 1; i < slots.length; i++) expect(slots[i] - slots[i - 1]).toBeGreaterThanOrEqual(49);
});
