/** Pages that go and come back under watch, clocks that are set back, history that is not kept: nothing ends the watch. */
import { describe, expect, it } from 'vitest';
import { page } from '../crawls/crawl-site.ts';
import { answer, type Exchange, type FakeWebOptions } from '../web/fake-web.ts';
import { DAY_MS, HOUR_MS, useWatches, type WatchBench } from './watch-bench.ts';

const bench = useWatches();

const numbers = (count: number) => Array.from({ length: count }, (_, n) => n);

/** A home page and so many others; `state` may change under way. */
function site(count: number) {
  const state = {
    versions: new Map<string, number>(),
    answers: new Map<string, { status: number; headers?: Record<string, string> }>(),
    links: numbers(count).map((n) => `/p${n}`),
    /** What each page links to beside these. */
    more: new Map<string, string[]>(),
  };
  const serve = (exchange: Exchange) => {
    const { path } = exchange;
    const other = state.answers.get(path);
    if (other !== undefined) return answer(exchange, { body: 'elsewhere', ...other });
    const links = [...(path === '/' ? state.links : []), ...(state.more.get(path) ?? [])];
    answer(exchange, { body: page(`${path} version ${state.versions.get(path) ?? 0}`, ...links) });
  };
  const pages: FakeWebOptions['pages'] = { '/': serve, '/p*': serve };
  const gone = (...paths: string[]) => {
    for (const path of paths) state.answers.set(path, { status: 404 });
  };
  return { state, pages, gone, isWell: () => state.answers.clear() };
}

/** One tick of a watch that begins anew each time, as cron does it; the pages it asked, in order of their names. */
async function tickOnce({ open, asked }: WatchBench): Promise<string[]> {
  const watch = await open();
  await watch.prepare();
  await watch.tick();
  await watch.close();
  return asked().sort();
}

describe('a page that became of a type that is refused', () => {
  const PDF = { status: 200, headers: { 'content-type': 'application/pdf' } };

  it('is visited as any other also after a restart, and noticed when it is a page again', async () => {
    const { pages, state, isWell } = site(3);
    const watched = await bench({ pages }, { budget: '5000/day', every: 3600 });
    const { clock, changes } = watched;
    await tickOnce(watched);
    state.answers.set('/p1', PDF);
    for (let hour = 0; hour < 2; hour++) {
      clock.advance(HOUR_MS);
      expect(await tickOnce(watched)).toContain('/p1');
    }
    expect(changes()).toEqual(['changed /p1']);
    isWell();
    clock.advance(HOUR_MS);
    await tickOnce(watched);
    expect(changes()).toEqual(['changed /p1', 'changed /p1']);
  });

  it('is none that always was of it: that one takes no visits', async () => {
    const { pages, state } = site(3);
    state.answers.set('/p1', PDF);
    const watched = await bench({ pages }, { budget: '5000/day', every: 3600 });
    expect(await tickOnce(watched)).toContain('/p1');
    for (let day = 0; day < 3; day++) {
      watched.clock.advance(DAY_MS);
      expect(await tickOnce(watched)).toEqual(['/', '/p0', '/p2']);
    }
  });
});

describe('a page that was gone', () => {
  it('is asked again after a day, then ever more rarely, and is planned as before once it is there', async () => {
    const { pages, gone, isWell } = site(6);
    const watched = await bench({ pages }, { budget: '700/day', every: 3600 });
    const { clock, web, changes } = watched;
    await tickOnce(watched);
    gone('/p1');
    const start = clock.now();
    const hours: number[] = [];
    const lookAround = async (untilHour: number) => {
      while (clock.now() < start + untilHour * HOUR_MS) {
        clock.advance(12 * HOUR_MS);
        const before = web.requestsTo('/p1').length;
        await tickOnce(watched);
        if (web.requestsTo('/p1').length > before) hours.push((clock.now() - start) / HOUR_MS);
      }
    };
    await lookAround(8 * 24);
    expect(hours.slice(0, 4)).toEqual([12, 36, 84, 180]);
    expect(changes()).toEqual(['gone /p1']);
    isWell();
    await lookAround(17 * 24);
    expect(changes()).toEqual(['gone /p1', 'changed /p1']);
    const back = hours.findIndex((hour) => hour > 180);
    expect(hours[back]).toBe(372);
    expect(hours.length - back).toBeGreaterThan(3);
  }, 60_000);

  it('comes back at once with the page that leads to it: a site that was all gone is whole after two ticks', async () => {
    const { pages, gone, isWell, state } = site(9);
    state.more.set('/p3', ['/pdeep']);
    const watched = await bench({ pages }, { budget: '5000/day', every: 3600 });
    await tickOnce(watched);
    const { clock, changes } = watched;
    gone('/', '/pdeep', ...state.links);
    clock.advance(HOUR_MS);
    await tickOnce(watched);
    expect(changes().filter((line) => line.startsWith('gone ')).length).toBe(11);
    isWell();
    for (let hour = 0; hour < 3; hour++) {
      clock.advance(HOUR_MS);
      await tickOnce(watched);
    }
    expect(new Set(changes().filter((line) => line.startsWith('changed '))).size).toBe(11);
    clock.advance(HOUR_MS);
    expect((await tickOnce(watched)).length).toBe(11);
  });

  it('comes back at once when it is linked again', async () => {
    const { pages, state } = site(20);
    const watched = await bench({ pages }, { budget: '5000/day', every: 3600 });
    const { clock, changes } = watched;
    await tickOnce(watched);
    const [kept, dropped] = [state.links.slice(0, 10), state.links.slice(10)];
    state.links = kept;
    clock.advance(HOUR_MS);
    await tickOnce(watched);
    expect(changes().filter((line) => line.startsWith('gone ')).length).toBe(10);
    clock.advance(2 * DAY_MS);
    await tickOnce(watched);
    // They answer, but nothing leads to them: a day is over, and they are asked once.
    clock.advance(HOUR_MS);
    expect((await tickOnce(watched)).length).toBe(11);
    state.links = [...kept, ...dropped];
    clock.advance(HOUR_MS);
    await tickOnce(watched);
    clock.advance(HOUR_MS);
    expect(await tickOnce(watched)).toEqual(expect.arrayContaining(dropped));
    clock.advance(HOUR_MS);
    expect((await tickOnce(watched)).length).toBe(21);
  });

  it('is asked again when a sitemap that was read since still names it', async () => {
    const { pages, gone } = site(3);
    const sitemap = (exchange: Exchange) =>
      answer(exchange, {
        headers: { 'content-type': 'application/xml' },
        body: `<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">${['/p0', '/p1']
          .map((path) => `<url><loc>${exchange.url(path)}</loc></url>`)
          .join('')}</urlset>`,
      });
    const watched = await bench(
      { pages: { ...pages, '/sitemap.xml': sitemap } },
      { budget: '5000/day', every: 3600, discover: ['sitemap', 'links'], sitemapCacheHours: 2 },
    );
    const { clock, web } = watched;
    await tickOnce(watched);
    gone('/p1', '/p2');
    const asked: string[][] = [];
    for (let hour = 0; hour < 12; hour++) {
      clock.advance(HOUR_MS);
      asked.push(await tickOnce(watched));
    }
    const times = (path: string) => asked.filter((paths) => paths.includes(path)).length;
    expect(web.requestsTo('/sitemap.xml').length).toBeGreaterThan(4);
    expect([times('/p1'), times('/p2')]).toEqual([2, 1]);
  });

  it('takes no more than a tenth of the visits while others wait', async () => {
    const { pages, gone } = site(99);
    const { crawl, open, clock, asked } = await bench({ pages }, { budget: '40/day' });
    await crawl();
    const watch = await open();
    await watch.prepare();
    const dead = numbers(40).map((n) => `/p${n}`);
    gone(...dead);
    clock.advance(DAY_MS);
    for (let day = 0; day < 4; day++) {
      clock.advance(DAY_MS);
      await watch.tick();
    }
    asked();
    clock.advance(DAY_MS);
    await watch.tick();
    const visits = asked();
    expect(new Set(visits).size).toBe(40);
    const vain = visits.filter((path) => dead.includes(path)).length;
    expect([vain > 0, vain <= 5]).toEqual([true, true]);
    await watch.close();
  });
});

it('goes on when the start URL is gone: the pages it led to stay, and it is asked again', async () => {
  const { pages, gone, isWell } = site(9);
  const watched = await bench({ pages }, { budget: '5000/day', every: 3600 });
  const { clock, changes } = watched;
  await tickOnce(watched);
  gone('/');
  clock.advance(HOUR_MS);
  await tickOnce(watched);
  expect(changes()).toEqual(['gone /']);
  clock.advance(HOUR_MS);
  expect((await tickOnce(watched)).length).toBe(10);
  isWell();
  clock.advance(HOUR_MS);
  await tickOnce(watched);
  expect(changes()).toEqual(['gone /', 'changed /']);
});

it('visits a page that redirects as any other, and tells when it is one again', async () => {
  const { pages, state, isWell } = site(3);
  const watched = await bench({ pages }, { budget: '5000/day', every: 3600 });
  const { clock, changes } = watched;
  await tickOnce(watched);
  state.answers.set('/p1', { status: 301, headers: { location: '/p2' } });
  for (let hour = 0; hour < 3; hour++) {
    clock.advance(HOUR_MS);
    expect(await tickOnce(watched)).toContain('/p1');
  }
  isWell();
  clock.advance(HOUR_MS);
  await tickOnce(watched);
  expect(changes()).toEqual(['changed /p1', 'changed /p1']);
});

describe('a clock that was ahead and is set back', () => {
  it.each([
    ['one watch', true],
    ['a watch that begins anew each time', false],
  ])('does not stop %s: visits of times to come are taken as made now', async (_, stays) => {
    const { pages, state } = site(5);
    const watched = await bench(
      { pages },
      { budget: '5000/day', every: 3600, discover: ['sitemap', 'links'] },
    );
    const { clock, open, changes, asked } = watched;
    const one = stays ? await open() : null;
    await one?.prepare();
    const tick = async () => {
      if (one === null) return tickOnce(watched);
      await one.tick();
      return asked().sort();
    };
    await tick();
    clock.advance(30 * DAY_MS);
    expect((await tick()).length).toBe(6);
    clock.advance(-30 * DAY_MS + HOUR_MS);
    for (const path of ['/', ...state.links]) state.versions.set(path, 1);
    await tick();
    clock.advance(HOUR_MS);
    expect((await tick()).length).toBe(6);
    expect(changes().length).toBe(6);
    clock.advance(DAY_MS);
    expect((await tick()).length).toBe(6);
    await one?.close();
  });

  it('keeps what a crawl by hand found in between', async () => {
    const { pages, state } = site(5);
    const watched = await bench({ pages }, { budget: '5000/day', every: 3600 });
    const { clock, changes, crawl, read } = watched;
    await tickOnce(watched);
    clock.advance(30 * DAY_MS);
    await tickOnce(watched);
    clock.advance(-20 * DAY_MS);
    state.versions.set('/p3', 1);
    await crawl({ mode: 'incremental' });
    const crawledAt = clock.now();
    clock.advance(60_000);
    await tickOnce(watched);
    expect(changes()).toEqual(['changed /p3']);
    await read(async (side) => {
      for await (const rows of side.revisitPages(1))
        for (const { learnedAt } of rows) expect(learnedAt).toBe(crawledAt);
    });
  });
});

it('tells and learns before history is cleared, where none is kept', async () => {
  const { pages, state } = site(5);
  let tickTock = () => {};
  const serve = (exchange: Exchange) => {
    tickTock();
    (pages['/p*'] as (exchange: Exchange) => void)(exchange);
  };
  const watched = await bench(
    { pages: { '/': serve, '/p*': serve } },
    { budget: '5000/day', every: 3600, keepHistory: 0, concurrency: 1, perHost: 1 },
  );
  const { clock, changes, ticks, read } = watched;
  tickTock = () => clock.advance(1000);
  await tickOnce(watched);
  for (let day = 0; day < 4; day++) {
    clock.advance(DAY_MS);
    state.versions.set('/p1', day + 1);
    await tickOnce(watched);
  }
  expect(changes()).toEqual(Array(4).fill('changed /p1'));
  expect(ticks().at(-1)).toMatchObject({ changed: 1, unchanged: 5 });
  await read(async (side) => {
    const rates = new Map<string, number>();
    for await (const rows of side.revisitPages(1))
      for (const { url, rateShape } of rows) rates.set(new URL(url).pathname, rateShape);
    expect(rates.get('/p1')).toBeGreaterThan(1);
    expect(rates.get('/p2')).toBe(0);
    const visits: unknown[] = [];
    for await (const visit of side.visitsAfter(1, 0)) visits.push(visit);
    // Of the last moment, if any.
    expect(visits.length).toBeLessThanOrEqual(1);
  });
});

it('tells what a crawl by hand found, also when it begins anew, with the run that found it', async () => {
  const { pages, state } = site(5);
  const watched = await bench({ pages }, { budget: '5000/day', every: 3600 });
  const { clock, crawl, events, ticks } = watched;
  await tickOnce(watched);
  clock.advance(HOUR_MS);
  await tickOnce(watched);
  clock.advance(HOUR_MS);
  state.versions.set('/p2', 1);
  const { run } = await crawl({ mode: 'incremental' });
  clock.advance(60_000);
  await tickOnce(watched);
  expect(events.filter(({ type }) => type === 'change')).toEqual([
    expect.objectContaining({ run, outcome: 'changed', url: expect.stringContaining('/p2') }),
  ]);
  // The counts of a tick are of its own visits.
  expect(ticks().at(-1)).toMatchObject({ run: null, changed: 0 });
});
