import { copyFileSync, existsSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { CrawlEvent } from '../../src/events/events.ts';
import { answer, type FakeWebOptions } from '../web/fake-web.ts';
import { type CrawlFile, page, seenAs, useBench } from './crawl-site.ts';

const bench = useBench();

/** What the disk would hold had the process been killed now: the file and its log, as they are. */
function photograph(from: CrawlFile, to: CrawlFile): void {
  for (const end of ['', '-wal'])
    if (existsSync(from.path + end)) copyFileSync(from.path + end, to.path + end);
}

const ROWS =
  'SELECT url, state, reason, status_code, title, depth, content_hash, final_url, redirect_count FROM pages ORDER BY url';

describe('after a crash', () => {
  const pages: FakeWebOptions['pages'] = {
    '/r/*': (exchange) =>
      answer(exchange, { status: 302, headers: { location: `/r/t/${exchange.path.length}` } }),
    '/r/t/*': page('Target', '/guide/', '/r/x', '/missing'),
    '/start': page('Start', '/', '/r/1', '/r/22', '/r/333'),
  };

  it('at any moment, going on gives the same rows as a crawl that was left alone', async () => {
    const web = await bench.web({ graph: { seed: 41, pages: 90 }, pages });
    const whole = bench.file();
    const options = { perHost: 2, maxDepth: 4 };
    await bench.crawl(whole, web.url('/start'), options);
    const expected = whole.rows(ROWS);
    for (const moment of [0, 1, 2, 13, 55, 100]) {
      const [running, killed] = [bench.file(), bench.file()];
      const begun = await bench.begin(running, web.url('/start'), options);
      const seen = () => begun.events.filter((event) => event.type === 'page').length;
      while (seen() < Math.min(moment, expected.length - 1))
        await new Promise((resolve) => setImmediate(resolve));
      // The commit window is a second long: without this most moments would have nothing on disk yet.
      if (moment % 2 === 1) await begun.flush();
      photograph(running, killed);
      begun.stop();
      await begun.finished;
      const { summary } = await bench.crawl(killed, web.url('/start'), options);
      expect(summary.status).toBe('completed');
      expect(killed.rows(ROWS)).toEqual(expected);
      expect(killed.links()).toEqual(whole.links());
      expect(killed.rows('SELECT count(*) AS n FROM runs')).toEqual([{ n: 1 }]);
    }
  });

  it('a host that was leased waits one full delay', async () => {
    const web = await bench.web({ pages: { '/': page('Home', '/a'), '/a': page('A') } });
    const [running, killed] = [bench.file(), bench.file()];
    const options = { delay: 0.3 };
    const begun = await bench.begin(running, web.url('/'), options);
    await web.asked('/');
    await begun.flush();
    photograph(running, killed);
    begun.stop();
    await begun.finished;
    const from = web.log.length;
    const restarted = performance.now();
    await bench.crawl(killed, web.url('/'), options);
    expect(web.log[from].atMs - restarted).toBeGreaterThanOrEqual(seenAs(300));
    expect(killed.rows("SELECT count(*) AS n FROM runs WHERE status = 'completed'")).toEqual([{ n: 1 }]);
  });

  it('before the known pages of a new run were made due, they are still made due', async () => {
    const web = await bench.web({ graph: { seed: 42, pages: 30 } });
    const [file, killed] = [bench.file(), bench.file()];
    await bench.crawl(file, web.url('/'));
    let isTaken = false;
    const listen = (event: CrawlEvent) => {
      if (event.type !== 'run' || isTaken) return;
      isTaken = true;
      photograph(file, killed);
    };
    await bench.crawl(file, web.url('/'), {}, { listeners: [listen] });
    expect(isTaken).toBe(true);
    const from = web.log.length;
    const { summary } = await bench.crawl(killed, web.url('/'));
    expect(summary).toMatchObject({ status: 'completed', pages: 30 });
    expect(web.log.length - from).toBe(30);
    expect(killed.rows('SELECT count(*) AS n FROM runs')).toEqual([{ n: 2 }]);
  });
});
