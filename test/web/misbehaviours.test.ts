import { connect } from 'node:net';
import { gunzipSync } from 'node:zlib';
import { afterEach, describe, expect, it } from 'vitest';
import type { Clock } from '../../src/primitives/clock.ts';
import { type AskOptions, ask, type Heard } from './ask.ts';
import { type FakeWebOptions, type Handler, startFakeWeb } from './fake-web.ts';
import { misbehaviours as m } from './misbehaviours.ts';

const open: { close(): Promise<void> }[] = [];
const start = async (options: FakeWebOptions) => {
  const web = await startFakeWeb(options);
  open.push(web);
  return web;
};
afterEach(async () => {
  for (const web of open.splice(0)) await web.close();
});

/** Asks one page `times` times over. */
async function hear(handler: Handler, times = 1, options?: AskOptions): Promise<Heard[]> {
  const web = await start({ pages: { '/page': handler } });
  const all: Heard[] = [];
  for (let n = 0; n < times; n++) all.push(await ask(web.url('/page'), options));
  return all;
}
const hearOne = async (handler: Handler, options?: AskOptions) => (await hear(handler, 1, options))[0];
const hearRobots = async (robots: Handler, path = '/robots.txt') => ask((await start({ robots })).url(path));
const hrefs = ({ body }: Heard) => [...body.toString().matchAll(/href="([^"]+)"/g)].map((match) => match[1]);
const titleIn = (text: string) => /<title>(.*?)<\/title>/.exec(text)?.[1];

/** Everything the server writes on one raw connection until it closes it. */
function hearRaw(port: number, path: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`));
    let text = '';
    socket.on('data', (chunk) => {
      text += chunk.toString('latin1');
    });
    socket.on('end', () => {
      socket.end();
      resolve(text);
    });
    socket.on('error', reject);
  });
}

function createHeldClock(nowMs: number) {
  const waits: { delayMs: number; callback: () => void }[] = [];
  let told = () => {};
  const clock: Clock = {
    now: () => nowMs,
    monotonic: () => 0,
    after(delayMs, callback) {
      waits.push({ delayMs, callback });
      told();
      return () => {};
    },
  };
  /** The next wait that was asked for, once it has been. */
  const next = async () => {
    while (waits.length === 0) {
      await new Promise<void>((resolve) => {
        told = resolve;
      });
    }
    return waits.shift()!;
  };
  return { clock, next, waits };
}

const NOW = Date.UTC(2024, 5, 1, 12, 0, 0);

async function checkStatuses(handler: Handler, statuses: number[]): Promise<Heard[]> {
  const all = await hear(handler, statuses.length);
  expect(all.map((heard) => heard.status)).toEqual(statuses);
  return all;
}

const checks: Record<keyof typeof m, () => Promise<void>> = {
  slowHeaders: async () => {
    const { clock, next } = createHeldClock(NOW);
    const web = await start({ clock, pages: { '/page': m.slowHeaders(5000) } });
    const heard = ask(web.url('/page'));
    const wait = await next();
    expect(wait.delayMs).toBe(5000);
    expect(web.log[0].status).toBe(0);
    wait.callback();
    expect((await heard).status).toBe(200);
  },
  dripBody: async () => {
    const { clock, next } = createHeldClock(NOW);
    const web = await start({ clock, pages: { '/page': m.dripBody(100, 'abc') } });
    const heard = ask(web.url('/page'));
    for (let n = 0; n < 4; n++) {
      const wait = await next();
      expect(wait.delayMs).toBe(100);
      wait.callback();
    }
    expect((await heard).body.toString()).toBe('abc');
  },
  neverAnswers: async () => {
    const web = await startFakeWeb({ pages: { '/page': m.neverAnswers() } });
    const heard = ask(web.url('/page'));
    await web.asked('/page');
    expect(web.log[0]).toMatchObject({ status: 0, endedMs: undefined });
    await web.close();
    expect(await heard).toMatchObject({ status: 0, error: 'ECONNRESET' });
  },
  resetsBeforeHead: async () => {
    expect(await hearOne(m.resetsBeforeHead())).toMatchObject({ status: 0, error: 'ECONNRESET' });
  },
  resetsMidBody: async () => {
    const heard = await hearOne(m.resetsMidBody());
    expect(heard).toMatchObject({ status: 200, error: 'ECONNRESET' });
    expect(heard.body.length).toBeLessThan(Number(heard.headers['content-length']));
  },
  contentLengthTooShort: async () => {
    const web = await start({ pages: { '/page': m.contentLengthTooShort() } });
    const [head, body] = (await hearRaw(web.port, '/page')).split('\r\n\r\n');
    expect(Number(/content-length: (\d+)/i.exec(head)?.[1])).toBe(body.length - 10);
  },
  contentLengthTooLong: async () => {
    const heard = await hearOne(m.contentLengthTooLong());
    expect(heard.error).toBe('ECONNRESET');
    expect(Number(heard.headers['content-length'])).toBe(heard.body.length + 100);
  },
  endlessBody: async () => {
    const heard = await hearOne(m.endlessBody(), { stopAfterBytes: 3_000_000 });
    expect(heard.body.length).toBeGreaterThanOrEqual(3_000_000);
    expect(heard.headers['content-length']).toBeUndefined();
  },
  closesEachTime: async () => {
    const web = await start({ pages: { '/page': m.closesEachTime() } });
    expect(await hearRaw(web.port, '/page')).toMatch(/^HTTP\/1\.1 200 .*connection: close/is);
  },
  closesSilently: async () => {
    const web = await start({ pages: { '/page': m.closesSilently() } });
    const text = await hearRaw(web.port, '/page');
    expect(text).toMatch(/connection: keep-alive/i);
    expect(text).toContain('Closed without a word');
  },
  informational: async () => {
    expect(await hearOne(m.informational())).toMatchObject({ status: 200, informational: [102, 103] });
  },
  dateSkew: async () => {
    const { clock } = createHeldClock(NOW);
    const web = await start({ clock, pages: { '/page': m.dateSkew(-3_600_000) } });
    expect(Date.parse((await ask(web.url('/page'))).headers.date!)).toBe(NOW - 3_600_000);
  },
  gzipBomb: async () => {
    const heard = await hearOne(m.gzipBomb(20));
    expect(heard.headers['content-encoding']).toBe('gzip');
    expect(heard.body.length).toBeLessThan(100_000);
    expect(gunzipSync(heard.body).length).toBe(20 * 1024 * 1024);
  },
  brokenGzip: async () => {
    const heard = await hearOne(m.brokenGzip());
    expect(heard).toMatchObject({ status: 200, error: undefined });
    expect(heard.headers['content-encoding']).toBe('gzip');
    expect(() => gunzipSync(heard.body)).toThrow();
  },
  gzipWithTail: async () => {
    const heard = await hearOne(m.gzipWithTail());
    expect(heard.body.subarray(-4).toString()).toBe('\r\n\r\n');
    expect(gunzipSync(heard.body.subarray(0, -4)).toString()).toContain('<title>Whole</title>');
  },
  wrongContentType: async () => {
    const heard = await hearOne(m.wrongContentType());
    expect(heard.headers['content-type']).toBe('image/png');
    expect(heard.body.toString()).toContain('<html>');
  },
  noContentType: async () => {
    const heard = await hearOne(m.noContentType());
    expect(heard.headers['content-type']).toBeUndefined();
    expect(heard.body.toString()).toContain('<html>');
  },
  binaryAsHtml: async () => {
    const heard = await hearOne(m.binaryAsHtml());
    expect(heard.headers['content-type']).toContain('text/html');
    expect(heard.body).toContain(0);
    expect(heard.body).toContain(0xff);
  },
  hugePage: async () => {
    expect((await hearOne(m.hugePage())).body.length).toBeGreaterThan(20 * 1024 * 1024);
  },
  manyLinks: async () => {
    expect(new Set(hrefs(await hearOne(m.manyLinks()))).size).toBe(100_000);
  },
  duplicateContent: async () => {
    const web = await start({ pages: { '/*': m.duplicateContent() } });
    expect((await ask(web.url('/a'))).body.equals((await ask(web.url('/b'))).body)).toBe(true);
  },
  latin1: async () => {
    const heard = await hearOne(m.latin1());
    expect(heard.headers['content-type']).toContain('iso-8859-1');
    expect(titleIn(heard.body.toString('latin1'))).toBe('Café à Noël');
    expect(heard.body.includes(0xe9)).toBe(true);
  },
  utf16: async () => {
    const heard = await hearOne(m.utf16());
    expect(heard.headers['content-type']).toBe('text/html');
    expect([...heard.body.subarray(0, 2)]).toEqual([0xff, 0xfe]);
    expect(titleIn(new TextDecoder('utf-16le').decode(heard.body))).toBe('Ωμέγα');
  },
  shiftJis: async () => {
    const heard = await hearOne(m.shiftJis());
    expect(heard.headers['content-type']).toBe('text/html');
    expect(titleIn(new TextDecoder('shift_jis').decode(heard.body))).toBe('日本語');
  },
  redirectLoop: async () => {
    const web = await start({ pages: { '/loop/*': m.redirectLoop() } });
    expect((await ask(web.url('/loop/a'))).headers.location).toBe('/loop/b');
    expect((await ask(web.url('/loop/b'))).headers.location).toBe('/loop/a');
  },
  redirectChain: async () => {
    const web = await start({ pages: { '/chain/*': m.redirectChain(3) } });
    let path = '/chain/0';
    for (let hop = 1; hop <= 3; hop++) {
      const heard = await ask(web.url(path));
      expect(heard.status).toBe(302);
      path = heard.headers.location!;
      expect(path).toBe(`/chain/${hop}`);
    }
    expect((await ask(web.url(path))).status).toBe(200);
  },
  redirectToHost: async () => {
    const web = await start({ hosts: 2, pages: { '/page': m.redirectToHost(1, '/there') } });
    expect((await ask(web.url('/page'))).headers.location).toBe(web.url('/there', 1));
  },
  brokenLocation: async () => {
    const heard = await hearOne(m.brokenLocation());
    expect(URL.canParse(heard.headers.location!, 'http://x/')).toBe(false);
  },
  noLocation: async () => {
    const heard = await hearOne(m.noLocation());
    expect([heard.status, heard.headers.location]).toEqual([302, undefined]);
  },
  relativeLocation: async () => {
    const heard = await hearOne(m.relativeLocation('../b'));
    expect([heard.status, heard.headers.location]).toEqual([301, '../b']);
  },
  metaRefresh: async () => {
    expect((await hearOne(m.metaRefresh('/next'))).body.toString()).toContain('content="0; url=/next"');
  },
  rateLimitedForSeconds: async () => {
    const all = await checkStatuses(m.rateLimitedForSeconds(2, 7), [429, 429, 200]);
    expect(all.map((heard) => heard.headers['retry-after'])).toEqual(['7', '7', undefined]);
  },
  rateLimitedUntilDate: async () => {
    const { clock } = createHeldClock(NOW);
    const web = await start({ clock, pages: { '/page': m.rateLimitedUntilDate(1, 30) } });
    const heard = await ask(web.url('/page'));
    expect([heard.status, Date.parse(heard.headers['retry-after']!)]).toEqual([429, NOW + 30_000]);
    expect((await ask(web.url('/page'))).status).toBe(200);
  },
  rateLimitedForAYear: async () => {
    const [first] = await checkStatuses(m.rateLimitedForAYear(1), [429, 200]);
    expect(Number(first.headers['retry-after'])).toBe(365 * 86_400);
  },
  rateLimitedSilently: async () => {
    const [first] = await checkStatuses(m.rateLimitedSilently(1), [429, 200]);
    expect(first.headers['retry-after']).toBeUndefined();
  },
  unavailableAtFirst: async () => void (await checkStatuses(m.unavailableAtFirst(2), [503, 503, 200])),
  serverError: async () => void (await checkStatuses(m.serverError(), [500, 500, 500])),
  notFound: async () => void (await checkStatuses(m.notFound(), [404, 404])),
  gone: async () => void (await checkStatuses(m.gone(), [410, 410])),
  softNotFound: async () => {
    const [heard] = await checkStatuses(m.softNotFound(), [200]);
    expect(titleIn(heard.body.toString())).toBe('Page not found');
  },
  robotsUnavailable: async () => {
    const web = await start({ robots: m.robotsUnavailable(2) });
    const statuses: number[] = [];
    for (let n = 0; n < 3; n++) statuses.push((await ask(web.url('/robots.txt'))).status);
    expect(statuses).toEqual([503, 503, 200]);
    expect((await hearRobots(m.robotsUnavailable())).status).toBe(503);
  },
  robotsNeverAnswers: async () => {
    const web = await startFakeWeb({ robots: m.robotsNeverAnswers() });
    const heard = ask(web.url('/robots.txt'));
    await web.asked('/robots.txt');
    await web.close();
    expect((await heard).status).toBe(0);
  },
  robotsMissing: async () => {
    expect((await hearRobots(m.robotsMissing())).status).toBe(404);
  },
  robotsIsHtml: async () => {
    const heard = await hearRobots(m.robotsIsHtml());
    expect([heard.status, heard.headers['content-type']]).toEqual([200, 'text/html; charset=utf-8']);
    expect(heard.body.toString()).toContain('Disallow: /');
  },
  robotsRedirects: async () => {
    const web = await start({ robots: m.robotsRedirects(2) });
    let path = '/robots.txt';
    for (let hop = 1; hop <= 2; hop++) {
      const heard = await ask(web.url(path));
      path = heard.headers.location!;
      expect([heard.status, path]).toEqual([301, `/robots.txt?hop=${hop}`]);
    }
    expect((await ask(web.url(path))).body.toString()).toContain('Disallow: /private/');
  },
  robotsHuge: async () => {
    const text = (await hearRobots(m.robotsHuge())).body.toString();
    expect(text.indexOf('Disallow: /first/')).toBeLessThan(100);
    expect(text.indexOf('Disallow: /last/')).toBeGreaterThan(500 * 1024);
  },
  robotsCrawlDelay: async () => {
    const heard = await hearRobots(m.robotsCrawlDelay(1.5));
    expect([heard.headers['content-type'], heard.body.toString()]).toEqual([
      'text/plain',
      'User-agent: *\nCrawl-delay: 1.5\n',
    ]);
  },
  robotsRequestRate: async () => {
    expect((await hearRobots(m.robotsRequestRate(1, 5))).body.toString()).toContain('Request-rate: 1/5');
  },
  spiderTrap: async () => {
    const web = await start({ pages: { '/calendar/*': m.spiderTrap() } });
    const seen = new Set<string>();
    let path = '/calendar/';
    for (let n = 0; n < 40; n++) {
      path = hrefs(await ask(web.url(path)))[n % 2];
      seen.add(path);
    }
    expect(seen.size).toBe(40);
  },
  sessionIds: async () => {
    const web = await start({ pages: { '/shop/*': m.sessionIds() } });
    const [first, second] = [await ask(web.url('/shop/a')), await ask(web.url('/shop/a'))].map(hrefs);
    expect(first.map((href) => href.split('?')[0])).toEqual(['/shop/a', '/shop/b']);
    expect(second.map((href) => href.split('?')[0])).toEqual(['/shop/a', '/shop/b']);
    expect(second[0]).not.toBe(first[0]);
    expect(hrefs(await ask(web.url(first[1])))).not.toContain(first[1]);
  },
  metaNofollow: async () => {
    const heard = await hearOne(m.metaNofollow('/x'));
    expect(heard.body.toString()).toContain('<meta name="robots" content="nofollow">');
    expect(hrefs(heard)).toEqual(['/x']);
  },
  metaNoindex: async () => {
    const heard = await hearOne(m.metaNoindex('/x'));
    expect(heard.body.toString()).toContain('<meta name="robots" content="noindex">');
    expect(hrefs(heard)).toEqual(['/x']);
  },
  relNofollow: async () => {
    expect((await hearOne(m.relNofollow('/x'))).body.toString()).toContain('<a rel="nofollow" href="/x">');
  },
  robotsTagHeader: async () => {
    const heard = await hearOne(m.robotsTagHeader(['noindex', 'other: nofollow'], '/x'));
    expect(heard.headers['x-robots-tag']).toBe('noindex, other: nofollow');
    expect(hrefs(heard)).toEqual(['/x']);
  },
  canonicalElsewhere: async () => {
    const heard = await hearOne(m.canonicalElsewhere('/real'));
    expect(heard.body.toString()).toContain('<link rel="canonical" href="/real">');
  },
  baseHref: async () => {
    const heard = await hearOne(m.baseHref('/dir/', 'x'));
    expect(hrefs(heard)).toEqual(['/dir/', 'x']);
    expect(heard.body.toString()).toContain('<base href="/dir/">');
  },
  idnHost: async () => {
    const heard = await hearOne(m.idnHost('/shelf'));
    const [unicode, punycode] = hrefs(heard).map((href) => new URL(href));
    expect(unicode.hostname).toBe('xn--bcher-kva.example');
    expect(unicode.href).toBe(punycode.href);
    expect(heard.body.toString()).toContain('bücher.example');
  },
  conditional: async () => {
    const handler = m.conditional();
    const { headers } = await hearOne(handler);
    const statusWith = async (asked: Record<string, string>) =>
      (await hearOne(handler, { headers: asked })).status;
    expect(await statusWith({ 'if-none-match': headers.etag! })).toBe(304);
    expect(await statusWith({ 'if-modified-since': headers['last-modified']! })).toBe(304);
    expect(await statusWith({ 'if-none-match': '"other"' })).toBe(200);
    // RFC 9110 section 13.1.3: If-Modified-Since is ignored beside If-None-Match.
    const both = { 'if-none-match': '"other"', 'if-modified-since': headers['last-modified']! };
    expect(await statusWith(both)).toBe(200);
  },
  lying304: async () => {
    const web = await start({ pages: { '/page': m.lying304() } });
    const first = await ask(web.url('/page'));
    const lie = await ask(web.url('/page'), { headers: { 'if-none-match': first.headers.etag! } });
    expect([lie.status, lie.headers.etag]).toEqual([304, first.headers.etag]);
    expect((await ask(web.url('/page'))).body.equals(first.body)).toBe(false);
  },
};

describe('each misbehaviour does what its line says', () => {
  it.each(Object.entries(checks))('%s', (_name, check) => check());

  it('has a check for every one in the table', () => {
    expect(Object.keys(checks).sort()).toEqual(Object.keys(m).sort());
  });
});
