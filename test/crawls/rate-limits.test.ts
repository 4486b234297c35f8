// Servers that refuse with 503 what is too much for them: real nginx with limit_req and limit_conn, and a host of the fake web.
import { afterEach, describe, expect, it } from 'vitest';
import { type Nginx, startNginx } from '../servers/start-nginx.ts';
import { answer, type Handler } from '../web/fake-web.ts';
import { fastClock, page, useBench } from './crawl-site.ts';

const bench = useBench();
const running: Nginx[] = [];

afterEach(async () => {
  for (const nginx of running.splice(0)) await nginx.stop();
});

async function limited(pages: number, http: string, location: string, padding = ''): Promise<Nginx> {
  const paths = Array.from({ length: pages - 1 }, (_, n) => `p${n}.html`);
  const files = Object.fromEntries(paths.map((path) => [path, page(path) + padding]));
  const home = page('home', ...paths.map((path) => `/${path}`));
  const nginx = await startNginx({ files: { ...files, 'index.html': home + padding }, http, location });
  running.push(nginx);
  return nginx;
}

const refusals = (nginx: Nginx) => nginx.log().filter(({ status }) => status === 503).length;
const DEFAULTS = { perHost: 5, adaptiveDelay: true, discover: ['sitemap', 'links'], retryDelay: 1 };

describe('nginx', () => {
  it.each(['', 'nodelay'])(
    'with limit_req, burst=2 %s: every page is read, few requests are refused',
    async (word) => {
      // Ten a second, and a delay that asks for four times as many.
      const zone = 'limit_req_zone $binary_remote_addr zone=a:1m rate=10r/s;';
      const nginx = await limited(40, zone, `limit_req zone=a burst=2 ${word};`);
      const file = bench.file();
      const { summary } = await bench.crawl(file, nginx.origin, { ...DEFAULTS, delay: 0.025 });
      expect(summary.by_state).toEqual({ Processed: 40 });
      expect(refusals(nginx)).toBeLessThanOrEqual(10);
    },
  );

  it('with limit_conn 2: every page is read, two at once, few requests are refused', async () => {
    const zone = 'limit_conn_zone $binary_remote_addr zone=c:1m;';
    // A third of a second per page: the first 20 KB come at once.
    const nginx = await limited(24, zone, 'limit_conn c 2; limit_rate 20k;', ' '.repeat(26_000));
    const file = bench.file();
    const { summary } = await bench.crawl(file, nginx.origin, { ...DEFAULTS, delay: 0.02, retryDelay: 0.1 });
    expect(summary.by_state).toEqual({ Processed: 24 });
    expect(refusals(nginx)).toBeLessThanOrEqual(20);
  });
});

describe('a host of a map', () => {
  it('is slowed down by 503 and not given up, though 429 would end it for the run', async () => {
    const clock = fastClock(40);
    let last = Number.NEGATIVE_INFINITY;
    /** One request in eight seconds, where one a second is asked for. */
    const busy: Handler = (exchange) => {
      const now = clock.monotonic();
      if (now - last < 8000) return void answer(exchange, { status: 503, body: 'busy' });
      last = now;
      answer(exchange, { body: page('read') });
    };
    const paths = Array.from({ length: 15 }, (_, n) => `/p${n}`);
    const web = await bench.web({ pages: { '/': page('home', ...paths), '/p*': busy } });
    const file = bench.file();
    const options = {
      delay: 1,
      adaptiveDelay: true,
      on429: 'suspend',
      perHost: 1,
      retries: 2,
      retryDelay: 5,
    } as const;
    const { summary } = await bench.crawl(file, web.url('/'), options, { clock });
    expect(summary.by_state).toEqual({ Processed: 16 });
  });
});
