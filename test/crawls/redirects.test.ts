import { describe, expect, it } from 'vitest';
import { createChangingPages } from '../web/changing-pages.ts';
import { answer, type FakeWebOptions, type Handler } from '../web/fake-web.ts';
import { misbehaviours } from '../web/misbehaviours.ts';
import { asked, page, seenAs, useBench } from './crawl-site.ts';
import { outcomes } from './history-rows.ts';

const bench = useBench();

const to = (location: string, status = 302): { status: number; headers: Record<string, string> } => ({
  status,
  headers: { location },
});

describe('a redirect', () => {
  it('puts the content on the target and final_url and redirect_count on the source', async () => {
    const web = await bench.web({
      pages: { '/': page('Home', '/old'), '/old': to('/new', 301), '/new': page('New', '/x') },
    });
    const file = bench.file();
    await bench.crawl(file, web.url('/'));
    expect(file.page('/old')).toMatchObject({
      state: 'Processed',
      reason: null,
      status_code: 301,
      title: null,
      content_hash: null,
      word_count: null,
      final_url: web.url('/new'),
      redirect_count: 1,
      depth: 1,
    });
    expect(file.page('/new')).toMatchObject({
      state: 'Processed',
      status_code: 200,
      title: 'New',
      redirect_count: 0,
      depth: 1,
    });
    expect(file.text('/old')).toBeNull();
    expect(file.page('/x').depth).toBe(2);
    expect(asked(web).filter((path) => path === '/new')).toHaveLength(1);
  });

  it('may be relative to the page', async () => {
    const pages = {
      '/a/b/c': misbehaviours.relativeLocation('../elsewhere?x=1'),
      '/a/elsewhere': page('There'),
    };
    const web = await bench.web({ pages });
    const file = bench.file();
    await bench.crawl(file, web.url('/a/b/c'));
    expect(file.page('/a/b/c').final_url).toBe(web.url('/a/elsewhere?x=1'));
    expect(file.page('/a/elsewhere?x=1').title).toBe('There');
  });

  // As Chromium, curl and wget ask for it: what is UTF-8 is the page that a link would name, other bytes stay as they are.
  it('may hold raw bytes: UTF-8 names the page that a link names, and other bytes are asked as they were sent', async () => {
    const utf8 = Buffer.from('/größe/?farbe=weiß').toString('latin1');
    const web = await bench.web({
      pages: {
        '/': page('Home', '/utf8', '/latin1', '/größe/?farbe=weiß'),
        '/utf8': to(utf8),
        '/latin1': to('/gr\xf6\xdfe/'),
        '/gr%C3%B6%C3%9Fe/': page('UTF-8'),
        '/gr%F6%DFe/': page('Latin1'),
        '/robots.txt': to(Buffer.from('/regeln-für-alle.txt').toString('latin1')),
        '/regeln-f%C3%BCr-alle.txt': { headers: { 'content-type': 'text/plain' }, body: 'User-agent: *' },
      },
    });
    const file = bench.file();
    await bench.crawl(file, web.url('/'));
    const [target, asSent] = ['/gr%C3%B6%C3%9Fe/?farbe=wei%C3%9F', '/gr%F6%DFe/'];
    expect(file.page('/utf8').final_url).toBe(web.url(target));
    expect(file.page('/latin1').final_url).toBe(web.url(asSent));
    expect(file.page(asSent).title).toBe('Latin1');
    expect(asked(web).sort()).toEqual([...new Set(asked(web))].sort());
    expect(Object.values(file.states())).toEqual(Array(5).fill('Processed'));
    expect(asked(web)).toContain('/regeln-f%C3%BCr-alle.txt');
  });

  it('is followed to another host that is allowed, on that host’s slots and under its robots.txt', async () => {
    const pages: FakeWebOptions['pages'] = {
      '0:/': page('Home', '/1', '/2'),
      '0:/1': misbehaviours.redirectToHost(1, '/open'),
      '0:/2': misbehaviours.redirectToHost(1, '/private/x'),
      '1:/robots.txt': {
        headers: { 'content-type': 'text/plain' },
        body: 'User-agent: *\nDisallow: /private/\n',
      },
      '1:/open': page('Open'),
      '1:/private/x': page('Private'),
    };
    const web = await bench.web({ hosts: 2, pages });
    const file = bench.file();
    await bench.crawl(file, web.url('/'), { allowedHosts: ['127.0.0.2'], delay: 0.05 });
    expect(file.page(web.url('/open', 1))).toMatchObject({ title: 'Open', depth: 1 });
    expect(file.page('/1')).toMatchObject({
      state: 'Processed',
      final_url: web.url('/open', 1),
      redirect_count: 1,
    });
    expect(asked(web, 1)).toEqual(['/open']);
    expect(file.page(web.url('/private/x', 1))).toMatchObject({
      state: 'Skipped',
      reason: 'robots: Disallow /private/',
    });
    expect(file.page('/2').state).toBe('Failed');
    expect(file.page('/2').reason).toMatch(/^redirect: .*robots: Disallow \/private\//);
    for (const host of [0, 1])
      for (const gapMs of web.gapsMs(host)) expect(gapMs).toBeGreaterThanOrEqual(seenAs(50));
  });

  it('to a host out of scope fails with the rule', async () => {
    const web = await bench.web({
      hosts: 2,
      pages: { '0:/': misbehaviours.redirectToHost(1, '/x'), '1:/x': page('X') },
    });
    const file = bench.file();
    await bench.crawl(file, web.url('/'));
    expect(web.log.some((entry) => entry.host === 1)).toBe(false);
    expect(file.page('/')).toMatchObject({ state: 'Failed', status_code: 302 });
    expect(file.page('/').reason).toMatch(/^redirect: .*scope: host 127\.0\.0\.2/);
    expect(file.page(web.url('/x', 1)).state).toBe('Skipped');
  });

  it('to an excluded page fails with the rule', async () => {
    const pages = { '/': page('Home', '/a'), '/a': to('/cart/'), '/cart/': page('Cart') };
    const web = await bench.web({ pages });
    const file = bench.file();
    await bench.crawl(file, web.url('/'), { exclude: ['/cart/'] });
    expect(asked(web)).toEqual(['/', '/a']);
    expect(file.page('/a').state).toBe('Failed');
    expect(file.page('/a').reason).toMatch(/^redirect: .*exclude: \/cart\//);
  });

  it('of a start URL is exempt from the patterns like the start URL, in every run', async () => {
    const pages = {
      '/': to('/en/'),
      '/en/': page('Welcome', '/en/', '/blog/1'),
      '/blog/1': page('Blog', '/en/'),
    };
    const web = await bench.web({ pages });
    const file = bench.file();
    const options = { include: ['/blog/'], exclude: ['/en/'] };
    await bench.crawl(file, web.url('/'), options);
    expect(file.states()).toEqual({ '/': 'Processed', '/en/': 'Processed', '/blog/1': 'Processed' });
    await bench.crawl(file, web.url('/'), options);
    expect(file.states()).toEqual({ '/': 'Processed', '/en/': 'Processed', '/blog/1': 'Processed' });
    expect(asked(web).filter((path) => path === '/en/')).toHaveLength(2);
  });

  it('loop is found out, and each page of it says so', async () => {
    const pages = {
      '/': page('Home', '/loop/a', '/self'),
      '/loop/*': misbehaviours.redirectLoop(),
      '/self': to('/self'),
    };
    const web = await bench.web({ pages });
    const file = bench.file();
    const { summary, events } = await bench.crawl(file, web.url('/'));
    expect(summary.status).toBe('completed');
    for (const path of ['/loop/a', '/loop/b', '/self']) {
      const told = events.findLast((event) => event.type === 'page' && event.url === web.url(path));
      expect(told).toMatchObject({ state: 'Failed', reason: file.page(path).reason });
      expect(file.page(path).state).toBe('Failed');
      expect(file.page(path).reason).toMatch(/^redirect: loop/);
      expect(file.page(path).error).toBe(file.page(path).reason);
      expect(web.requestsTo(path)).toHaveLength(1);
    }
  });

  it('to the same page in another spelling reads it there, and asks there from then on if it moved for good', async () => {
    const pages = {
      '/': page('Home', '/docs', '/now', '/to-docs'),
      '/docs': to('/docs/', 301),
      '/docs/': page('Docs', 'first'),
      '/docs/first': page('First'),
      '/now': to('/now/', 302),
      '/now/': page('Now'),
      '/to-docs': to('/docs', 301),
    };
    const web = await bench.web({ pages });
    const file = bench.file();
    const { summary } = await bench.crawl(file, web.url('/'), { perHost: 1 });
    expect(summary).toMatchObject({ new: 5, failed: 0 });
    const shown = { state: 'Processed', status_code: 200, redirect_count: 0 };
    expect(file.page('/docs/')).toMatchObject({ ...shown, title: 'Docs', url: web.url('/docs') });
    expect(file.page('/now')).toMatchObject({ ...shown, title: 'Now', url: web.url('/now') });
    expect(file.page('/docs/first').title).toBe('First');
    expect(file.page('/to-docs').final_url).toBe(web.url('/docs/'));
    expect(asked(web)).toHaveLength(7);
    await bench.crawl(file, web.url('/'), { mode: 'incremental' });
    expect(asked(web).slice(7).sort()).toEqual(['/', '/docs/', '/docs/first', '/now', '/now/', '/to-docs']);
    const told = new Set(Object.values(outcomes(file)));
    expect(told).toEqual(new Set(['unchanged hash', 'unchanged status']));
  });

  it('between spellings of one page is a loop when it comes back, and refused where the other one is', async () => {
    const pages = {
      '/': page('Home', '/round', '/shut', '/long?s=0'),
      '/round': to('/round/', 301),
      '/round/': to('/round', 301),
      '/shut': to('/shut/'),
      '/shut/': page('Shut'),
      '/long': ((exchange) =>
        answer(
          exchange,
          to(`/long?s=${Number(new URL(exchange.request.url!, 'http://x').searchParams.get('s')) + 1}`),
        )) as Handler,
    };
    const web = await bench.web({ pages });
    const file = bench.file();
    await bench.crawl(file, web.url('/'), { exclude: ['/shut/$'], dropQuery: ['s'], maxRedirects: 3 });
    expect(file.page('/round')).toMatchObject({
      state: 'Failed',
      reason: `redirect: loop at ${web.url('/round')}`,
      fetch_url: web.url('/round'),
    });
    expect(file.page('/shut').reason).toMatch(/^redirect: to .*\/shut\/ refused, exclude: /);
    expect(web.requestsTo('/shut/')).toEqual([]);
    expect(file.rows("SELECT state FROM pages WHERE url LIKE '%/long%'")).toEqual([{ state: 'Failed' }]);
    expect(asked(web).filter((path) => path.startsWith('/long'))).toHaveLength(4);
  });

  it('to a page that loops or leads nowhere fails like that page, whichever was asked first', async () => {
    const pages = {
      '/': page('Home', '/to-self', '/to-none', '/self', '/none', '/late'),
      '/to-self': to('/self'),
      '/to-none': to('/none'),
      '/self': to('/self'),
      '/none': misbehaviours.noLocation(),
      '/late': page('Late', '/late-self', '/late-none'),
      '/late-self': to('/self'),
      '/late-none': to('/none'),
    };
    const web = await bench.web({ pages });
    const file = bench.file();
    await bench.crawl(file, web.url('/'), { perHost: 1 });
    for (const path of ['/to-self', '/late-self'])
      expect(file.page(path)).toMatchObject({
        state: 'Failed',
        reason: `redirect: loop at ${web.url('/self')}`,
      });
    for (const path of ['/to-none', '/late-none'])
      expect(file.page(path)).toMatchObject({ state: 'Failed', reason: 'redirect: 302 without a Location' });
  });

  it('chain of ten is followed to its end, every page knows the end and its distance', async () => {
    const pages = { '/': page('Home', '/chain/0'), '/chain/*': misbehaviours.redirectChain(10) };
    const web = await bench.web({ pages });
    const file = bench.file();
    await bench.crawl(file, web.url('/'));
    for (let at = 0; at < 10; at++) {
      expect(file.page(`/chain/${at}`)).toMatchObject({
        state: 'Processed',
        final_url: web.url('/chain/10'),
        redirect_count: 10 - at,
      });
    }
    expect(file.page('/chain/10')).toMatchObject({ state: 'Processed', title: 'End of 10 hops', depth: 1 });
  });

  it('chain of eleven fails as a whole and is not followed to its end', async () => {
    const pages = { '/': page('Home', '/chain/0'), '/chain/*': misbehaviours.redirectChain(11) };
    const web = await bench.web({ pages });
    const file = bench.file();
    const { summary } = await bench.crawl(file, web.url('/'));
    expect(summary.status).toBe('completed');
    for (let at = 0; at <= 10; at++)
      expect(file.page(`/chain/${at}`)).toMatchObject({
        state: 'Failed',
        reason: 'redirect: more than 10 hops',
      });
    expect(file.page('/chain/11')).toMatchObject({ state: 'Skipped', reason: 'redirect: more than 10 hops' });
    expect(web.requestsTo('/chain/11')).toEqual([]);
    expect(file.rows('SELECT * FROM frontier')).toEqual([]);
  });

  it('chain without an end comes to one', async () => {
    const web = await bench.web({
      pages: { '/chain/*': misbehaviours.redirectChain(Number.POSITIVE_INFINITY) },
    });
    const { summary } = await bench.crawl(bench.file(), web.url('/chain/0'));
    expect(summary.status).toBe('completed');
    expect(asked(web)).toHaveLength(11);
  });

  it('chain that is too long does not shut out its end for others', async () => {
    const pages = {
      '/': page('Home', '/chain/0', '/between'),
      '/chain/*': misbehaviours.redirectChain(11),
      '/between': page('Between', '/late'),
      '/late': page('Late', '/chain/11'),
    };
    const web = await bench.web({ pages });
    const file = bench.file();
    await bench.crawl(file, web.url('/'), { perHost: 1 });
    expect(file.page('/chain/11')).toMatchObject({ state: 'Processed', title: 'End of 11 hops', depth: 3 });
  });

  it('that says nothing, or nonsense, about where to fails with a reason', async () => {
    const pages = {
      '/': page('Home', '/broken', '/none', '/mail'),
      '/broken': misbehaviours.brokenLocation(),
      '/none': misbehaviours.noLocation(),
      '/mail': to('mailto:nobody@example.com'),
    };
    const web = await bench.web({ pages });
    const file = bench.file();
    await bench.crawl(file, web.url('/'));
    for (const path of ['/broken', '/none', '/mail']) {
      expect(file.page(path)).toMatchObject({ state: 'Failed', status_code: 302 });
      expect(file.page(path).reason).toMatch(/^redirect: /);
      expect(web.requestsTo(path)).toHaveLength(1);
    }
  });

  it('to a known page does not fetch it again', async () => {
    const pages = { '/': page('Home', '/a', '/b'), '/a': page('A'), '/b': to('/a'), '/c': to('/b') };
    const web = await bench.web({ pages: { ...pages, '/a': page('A', '/c') } });
    const file = bench.file();
    await bench.crawl(file, web.url('/'), { perHost: 1 });
    expect(web.requestsTo('/a')).toHaveLength(1);
    expect(file.page('/b')).toMatchObject({ final_url: web.url('/a'), redirect_count: 1 });
    expect(file.page('/c')).toMatchObject({ final_url: web.url('/a'), redirect_count: 2 });
  });

  it('to a page that is just being fetched learns its end too', async () => {
    const pages: FakeWebOptions['pages'] = {
      '/': page('Home', '/slow', '/quick'),
      '/slow': misbehaviours.slowHeaders(150),
      '/quick': to('/slow'),
    };
    const web = await bench.web({ pages });
    const file = bench.file();
    await bench.crawl(file, web.url('/'), { perHost: 5 });
    expect(web.requestsTo('/slow')).toHaveLength(1);
    expect(file.page('/quick')).toMatchObject({ final_url: web.url('/slow'), redirect_count: 1 });
  });

  it('from two pages to one fetches it once and tells both', async () => {
    const pages = {
      '/': page('Home', '/a', '/b'),
      '/a': to('/target'),
      '/b': to('/target'),
      '/target': page('T'),
    };
    const web = await bench.web({ pages });
    const file = bench.file();
    await bench.crawl(file, web.url('/'), { perHost: 5 });
    expect(web.requestsTo('/target')).toHaveLength(1);
    for (const path of ['/a', '/b'])
      expect(file.page(path)).toMatchObject({ final_url: web.url('/target'), redirect_count: 1 });
  });

  it('by a meta element with 0 seconds counts as one', async () => {
    const pages = {
      '/': page('Home', '/meta', '/later'),
      '/meta': misbehaviours.metaRefresh('/target'),
      '/later': '<meta http-equiv="refresh" content="5; url=/elsewhere"><title>Later</title>',
      '/target': page('Target'),
    };
    const web = await bench.web({ pages });
    const file = bench.file();
    await bench.crawl(file, web.url('/'));
    expect(file.page('/meta')).toMatchObject({
      state: 'Processed',
      status_code: 200,
      final_url: web.url('/target'),
      redirect_count: 1,
    });
    expect(file.page('/target')).toMatchObject({ title: 'Target', depth: 1 });
    expect(file.page('/later')).toMatchObject({ state: 'Processed', title: 'Later', redirect_count: 0 });
  });

  it('by a meta element is followed anew in an incremental run, whatever its page says of changes', async () => {
    const site = createChangingPages({
      '/': { links: ['/meta'], validators: 'etag' },
      '/meta': { head: () => '<meta http-equiv="refresh" content="0; url=/a">', validators: 'etag' },
      '/a': { head: (n) => (n > 1 ? '<meta http-equiv="refresh" content="0; url=/b">' : '') },
      '/b': { links: ['/meta'] },
    });
    const web = await bench.web({ pages: site.pages });
    const file = bench.file();
    await bench.crawl(file, web.url('/'));
    expect(file.page('/meta')).toMatchObject({ final_url: web.url('/a'), redirect_count: 1 });
    site.change('/a');
    await bench.crawl(file, web.url('/'), { mode: 'incremental' });
    expect(file.page('/meta')).toMatchObject({ final_url: web.url('/b'), redirect_count: 2 });
    expect(outcomes(file)).toMatchObject({ '/meta': 'unchanged status', '/a': 'changed content' });
  });

  it('takes a slot for each hop', async () => {
    const web = await bench.web({ pages: { '/chain/*': misbehaviours.redirectChain(4) } });
    const file = bench.file();
    await bench.crawl(file, web.url('/chain/0'), { delay: 0.05 });
    expect(web.log).toHaveLength(6);
    // By the log of requests: a server in this very process sees late what comes while it is busy.
    const sent = file.rows<{ at: number }>('SELECT sent_at AS at FROM request ORDER BY sent_at');
    expect(sent).toHaveLength(6);
    for (let i = 1; i < sent.length; i++) expect(sent[i].at - sent[i - 1].at).toBeGreaterThan(49.99);
  });

  it('to a page that is missing or broken leaves the answer on the target', async () => {
    const pages = {
      '/': page('Home', '/a', '/b'),
      '/a': to('/missing'),
      '/b': to('/broken'),
      '/broken': misbehaviours.serverError(),
    };
    const web = await bench.web({ pages });
    const file = bench.file();
    await bench.crawl(file, web.url('/'), { retries: 0 });
    expect(file.page('/a')).toMatchObject({
      state: 'Processed',
      final_url: web.url('/missing'),
      redirect_count: 1,
    });
    expect(file.page('/missing')).toMatchObject({ state: 'DeadLink', status_code: 404 });
    expect(file.page('/broken')).toMatchObject({ state: 'Failed', status_code: 500 });
  });

  it('in fetch-only mode is followed, also to a page that was only a link before', async () => {
    const pages = {
      '/list/1': page('One', '/target'),
      '/list/2': to('/target'),
      '/target': page('Target', '/more'),
    };
    const web = await bench.web({ pages });
    const file = bench.file();
    await bench.crawl(file, [web.url('/list/1'), web.url('/list/2')], { fetchOnly: true, perHost: 1 });
    expect(asked(web)).toEqual(['/list/1', '/list/2', '/target']);
    expect(file.page('/list/2')).toMatchObject({ state: 'Processed', final_url: web.url('/target') });
    expect(file.page('/target').title).toBe('Target');
  });

  it('is judged again in the next run: what redirected may be a page now, and the other way round', async () => {
    const swap: Record<string, Handler> = {
      '/a': (exchange) => answer(exchange, exchange.nth === 1 ? to('/b') : { body: page('A now') }),
      '/b': (exchange) => answer(exchange, exchange.nth === 1 ? { body: page('B') } : to('/a')),
    };
    const web = await bench.web({ pages: { '/': page('Home', '/a'), ...swap } });
    const file = bench.file();
    await bench.crawl(file, web.url('/'), { perHost: 1 });
    expect(file.page('/a')).toMatchObject({ final_url: web.url('/b'), redirect_count: 1, title: null });
    await bench.crawl(file, web.url('/'), { perHost: 1 });
    expect(file.page('/a')).toMatchObject({
      state: 'Processed',
      final_url: null,
      redirect_count: 0,
      title: 'A now',
    });
    expect(file.page('/b')).toMatchObject({
      state: 'Processed',
      final_url: web.url('/a'),
      redirect_count: 1,
      title: null,
    });
    expect(file.text('/b')).toBeNull();
  });
});
