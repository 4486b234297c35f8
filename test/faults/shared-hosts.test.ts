import { describe, expect, it } from 'vitest';
import { PAGE_STATES } from '../../src/frontier/page-state.ts';
import { homes, type Row, reached, useCrew } from './crew.ts';
import { expectPolite, expectSettledPages } from './judge.ts';

const crew = useCrew();
const PAGES = 60;
const GRAPH = { seed: 21, pages: PAGES, hosts: 6, linksPerPage: 8, textWords: 40 };

describe('two runs at once on the same hosts', () => {
  it.each([
    [
      'of two projects',
      [
        ['--project', 'a'],
        ['--project', 'b'],
      ],
    ],
    ['that are isolated', [['--isolated'], ['--isolated']]],
  ])('%s share the clocks of the hosts and no page', async (_, flags) => {
    const web = await crew.web({ graph: GRAPH });
    const store = await crew.store();
    const runs = flags.map((own) =>
      crew.start(['crawl', ...homes(web), ...own, '--delay', '0.2', '--store', store.address, '-q']),
    );
    for (const { finished } of runs) expect(await finished).toEqual({ code: 0, stdout: '', stderr: '' });
    expectPolite(web, crew.beats, 200);
    // Each has fetched every page for itself.
    const pages = web.log
      .filter(({ path }) => path !== '/robots.txt')
      .map(({ host, path }) => `${host}${path}`);
    expect(pages).toHaveLength(2 * PAGES);
    expect(new Set(pages).size).toBe(PAGES);
    const perProject = await store.rows<Row>(
      `SELECT count(*)::int AS n, count(DISTINCT url)::int AS urls FROM url WHERE state = ${PAGE_STATES.Processed} GROUP BY project_id`,
    );
    expect(perProject).toEqual([
      { n: PAGES, urls: PAGES },
      { n: PAGES, urls: PAGES },
    ]);
    await expectSettledPages(store);
  });

  it('take turns: a short one does not wait until a long one is through with the host', async () => {
    const web = await crew.web({ graph: { seed: 22, pages: 300, hosts: 1, linksPerPage: 8, textWords: 40 } });
    const store = await crew.store();
    const at = ['--delay', '0.3', '--lease-seconds', '3', '--store', store.address, '-q'];
    const long = crew.start(['crawl', ...homes(web), '--project', 'long', ...at]);
    await reached(web, 5);
    const short = crew.start(['crawl', ...homes(web), '--project', 'short', '--max-pages', '3', ...at]);
    expect(await short.finished).toEqual({ code: 0, stdout: '', stderr: '' });
    expect(await store.rows("SELECT status FROM runs WHERE project = 'long'")).toEqual([
      { status: 'running' },
    ]);
    long.child.kill('SIGTERM');
    expect((await long.finished).code).toBe(3);
    expectPolite(web, crew.beats, 300);
  });
});
