// An asynchronous stage between parsing and settling, given by a program: order, bounds, and nothing lost.
import { copyFileSync, existsSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { AfterParse, ReadPage } from '../../src/crawl/parts.ts';
import { type CrawlFile, page, useBench } from './crawl-site.ts';

const bench = useBench();

const SITE = {
  '/': page('Home', '/a', '/b', '/c', '/d'),
  '/a': page('A', '/e'),
  '/b': page('B'),
  '/c': page('C'),
  '/d': page('D', '/f'),
  '/e': page('E'),
  '/f': page('F'),
};

/** What the disk would hold had the process been killed now. */
function photograph(from: CrawlFile, to: CrawlFile): void {
  for (const end of ['', '-wal'])
    if (existsSync(from.path + end)) copyFileSync(from.path + end, to.path + end);
}

/** A stage that asks a service: each page waits until the test lets it go on. */
function useStage() {
  const waiting: { path: string; end: () => void }[] = [];
  const seen: ReadPage[] = [];
  let most = 0;
  const afterParse: AfterParse = async (read) => {
    const path = new URL(read.url).pathname;
    seen.push({ ...read, body: read.body.slice() });
    await new Promise<void>((end) => {
      waiting.push({ path, end });
      most = Math.max(most, waiting.length);
    });
    // Read after the wait: other pages were parsed meanwhile, and this body is still this page's.
    return {
      description: `${read.title}, ${Buffer.from(read.body).toString().includes(`<h1>${read.title}</h1>`)}`,
    };
  };
  const until = async (isTrue: () => boolean) => {
    while (!isTrue()) await new Promise((resolve) => setImmediate(resolve));
  };
  return {
    ...{ afterParse, waiting, seen, until },
    get most() {
      return most;
    },
    /** The last that came goes first. */
    endLast: () => waiting.pop()!.end(),
  };
}

const ROWS = 'SELECT url, state, title, meta_description, depth, content_hash FROM pages ORDER BY url';

describe('a stage between parsing and settling', () => {
  it('is awaited for each page: what it found is stored, compared and told, with the links of that very page', async () => {
    const web = await bench.web({ pages: SITE });
    const [plain, file] = [bench.file(), bench.file()];
    await bench.crawl(plain, web.url('/'));
    const stage = useStage();
    const begun = await bench.begin(file, web.url('/'), { perHost: 3, concurrency: 3 }, stage);
    await stage.until(() => stage.waiting.length === 1);
    // Before the stage has ended nothing of the page is stored or told.
    expect(begun.events.filter(({ type }) => type === 'page')).toEqual([]);
    stage.endLast();
    // Three of four wait side by side, and the fourth for one of their places.
    await stage.until(() => stage.waiting.length === 3);
    expect(begun.inFlight).toBe(3);
    let isOver = false;
    const finished = begun.finished.finally(() => {
      isOver = true;
    });
    while (!isOver) {
      if (stage.waiting.length > 0) stage.endLast();
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect((await finished).status).toBe('completed');
    expect(stage.most).toBe(3);
    expect(stage.seen.map(({ title }) => title).sort()).toEqual(['A', 'B', 'C', 'D', 'E', 'F', 'Home']);
    expect(file.pages().map(({ title, meta_description }) => [title, meta_description])).toEqual(
      file.pages().map(({ title }) => [title, `${title}, true`]),
    );
    expect(file.links()).toEqual(plain.links());
    expect(web.log.filter(({ path }) => path === '/f').length).toBe(2);
  });

  it('takes part in the comparison: the same word is no change, another one is', async () => {
    const texts: Record<string, string> = { '/': 'one' };
    const served = { n: 0 };
    // A counter in a comment: the bytes differ each time, what is read of them does not.
    const web = await bench.web({
      pages: {
        '/': ({ response }) => {
          response.setHeader('content-type', 'text/html');
          response.end(`<!-- ${served.n++} -->${page('Home')}`);
        },
      },
    });
    const file = bench.file();
    const afterParse: AfterParse = async () => ({ description: texts['/'] });
    const outcome = async () => {
      const { summary } = await bench.crawl(file, web.url('/'), { mode: 'full' }, { afterParse });
      return { changed: summary.changed, unchanged: summary.unchanged };
    };
    await outcome();
    expect(await outcome()).toEqual({ changed: 0, unchanged: 1 });
    texts['/'] = 'two';
    expect(await outcome()).toEqual({ changed: 1, unchanged: 0 });
    expect(file.page('/').meta_description).toBe('two');
  });

  it('that is killed while it is at work loses nothing: who goes on has the rows of a crawl left alone', async () => {
    const web = await bench.web({ pages: SITE });
    const [whole, running, killed] = [bench.file(), bench.file(), bench.file()];
    const quick: AfterParse = async ({ title }) => ({ description: `${title}, true` });
    await bench.crawl(whole, web.url('/'), {}, { afterParse: quick });
    const stage = useStage();
    const begun = await bench.begin(running, web.url('/'), { perHost: 2, drainSeconds: 0 }, stage);
    await stage.until(() => stage.waiting.length === 1);
    stage.endLast();
    await stage.until(() => stage.waiting.length === 2);
    await begun.flush();
    photograph(running, killed);
    begun.stop();
    await begun.finished;
    await bench.crawl(killed, web.url('/'), {}, { afterParse: quick });
    expect(killed.rows(ROWS)).toEqual(whole.rows(ROWS));
    expect(killed.links()).toEqual(whole.links());
    expect(killed.rows('SELECT count(*) AS n FROM runs')).toEqual([{ n: 1 }]);
  });

  it('that never ends is given up when the drain time is over: its page is requested again', async () => {
    const web = await bench.web({ pages: SITE });
    const file = bench.file();
    const stage = useStage();
    const signals: boolean[] = [];
    const afterParse: AfterParse = (read, signal) => {
      signal.addEventListener('abort', () => void signals.push(signal.aborted));
      return stage.afterParse(read, signal);
    };
    const begun = await bench.begin(file, web.url('/'), { drainSeconds: 0 }, { afterParse });
    await stage.until(() => stage.waiting.length === 1);
    begun.stop();
    expect((await begun.finished).status).toBe('interrupted');
    expect(signals).toEqual([true]);
    expect(file.page('/')).toMatchObject({ state: 'Queued', title: null, retry_count: 0 });
    const { summary } = await bench.crawl(file, web.url('/'));
    expect(summary).toMatchObject({ status: 'completed', pages: 7 });
    expect(web.log.filter(({ path }) => path === '/').length).toBe(2);
  });

  it('that throws ends the run with its name, and the page is read when the run goes on', async () => {
    const web = await bench.web({ pages: SITE });
    const file = bench.file();
    const afterParse: AfterParse = async ({ title }) => {
      if (title === 'B') throw new Error('no service');
      return undefined;
    };
    const begun = await bench.begin(file, web.url('/'), {}, { afterParse });
    await expect(begun.finished).rejects.toMatchObject({
      code: 'extension-failed',
      message: expect.stringMatching(/stage after parsing.*\/b.*no service/),
    });
    const { summary } = await bench.crawl(file, web.url('/'));
    expect(summary.status).toBe('completed');
    expect(Object.values(file.states())).toEqual(Array.from({ length: 7 }, () => 'Processed'));
  });

  it('is told when the run fails elsewhere, and its page is requested again with its request in the log', async () => {
    const web = await bench.web({ pages: SITE });
    const file = bench.file();
    const stage = useStage();
    const given: string[] = [];
    const afterParse: AfterParse = async (read, signal) => {
      if (read.title === 'Home') return undefined;
      signal.addEventListener('abort', () => void given.push(read.title!));
      if (read.title !== 'D') return stage.afterParse(read, signal);
      await stage.until(() => stage.waiting.length === 3);
      throw new Error('no service');
    };
    const begun = await bench.begin(file, web.url('/'), { perHost: 4 }, { afterParse });
    await expect(begun.finished).rejects.toMatchObject({ code: 'extension-failed' });
    expect(given.sort()).toEqual(['A', 'B', 'C', 'D']);
    const logged = 'SELECT count(*) AS n FROM request WHERE kind = 0';
    expect(file.rows(logged)).toEqual([{ n: web.log.filter(({ path }) => path !== '/robots.txt').length }]);
    const { summary } = await bench.crawl(file, web.url('/'));
    expect(summary).toMatchObject({ status: 'completed', pages: 7 });
  });
});
