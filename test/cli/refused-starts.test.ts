// A start URL that is refused: what the user reads, in which words it stands in the store and in the summary for programs,
// and how the command ends; on both stores.
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { SummaryEvent } from '../../src/events/events.ts';
import { sharedPostgres } from '../servers/shared-postgres.ts';
import { answer, type FakeWeb, type FakeWebOptions, startFakeWeb } from '../web/fake-web.ts';
import { makeFolder, sumi } from './run-sumi.ts';

let folder: ReturnType<typeof makeFolder>;
let web: FakeWeb | null = null;
let server: Awaited<ReturnType<typeof sharedPostgres>>;
let database: string;

const run = (...args: string[]) => sumi(args, { cwd: folder.path });
const QUICK = ['--delay', '0', '--retry-delay', '0.01', '--retries', '1', '--robots-retries', '0'];
const FORBIDDEN = 'User-agent: other\nDisallow: /\n\nUser-agent: *\nDisallow: /private/\nDisallow: /\n';
/** No host name may begin with a hyphen: the system's resolver says that there is none without asking a server. */
const NO_HOST = '-no-such-host.example';
const OTHER_NO_HOST = '-neither-this.example';

async function serve(options: FakeWebOptions): Promise<FakeWeb> {
  web = await startFakeWeb(options);
  return web;
}

const summaryOf = (stdout: string) => JSON.parse(stdout.trim().split('\n').at(-1)!) as SummaryEvent;

beforeAll(async () => {
  server = await sharedPostgres();
});

beforeEach(async () => {
  folder = makeFolder();
  database = await server.newDatabase();
});

afterEach(async () => {
  await web?.close();
  web = null;
  await server.dropDatabase(database);
  folder.remove();
});

describe.each(['SQLite', 'PostgreSQL'] as const)('a start page that is refused, on %s', (kind) => {
  const at = () => (kind === 'SQLite' ? [] : ['--store', database]);

  it.each<[string, FakeWebOptions, string | RegExp, string]>([
    [
      'by robots.txt',
      { robots: FORBIDDEN, pages: { '/': 'x' } },
      /robots\.txt of 127\.0\.0\.1:\d+ forbids \/ for SumiRipple \(Disallow: \/ in line 6\)/,
      '--no-robots',
    ],
    [
      'by a robots.txt that cannot be had',
      { robots: (exchange) => exchange.response.writeHead(503).end(), pages: { '/': 'x' } },
      /robots\.txt of 127\.0\.0\.1:\d+ answered 503/,
      '--robots-unreachable allow',
    ],
    ['by 401', { pages: { '/': { status: 401 } } }, /asks for a password: http:\S+ answered 401/, '--auth'],
    [
      'by 403',
      { pages: { '/': { status: 403 } } },
      /refuses this crawler: http:\S+ answered 403/,
      '--user-agent',
    ],
    ['by 500', { pages: { '/': { status: 500 } } }, /http:\S+ answered 500/, 'try again later'],
    [
      'behind a redirect',
      { pages: { '/': { status: 302, headers: { location: '/in' } }, '/in': { status: 403 } } },
      /http:\S+\/in answered 403/,
      '--user-agent',
    ],
  ])('%s ends with exit 1 and says why, and what to do', async (_, options, message, advice) => {
    const { url } = await serve(options);
    const { code, stdout, stderr } = await run('crawl', url('/'), ...QUICK, ...at(), '--json');
    expect([code, stderr]).toEqual([1, expect.stringMatching(message)]);
    expect(stderr).toContain(advice);
    expect(stderr).toContain('code: start-refused');
    const summary = summaryOf(stdout);
    expect(summary).toMatchObject({
      type: 'summary',
      status: 'failed',
      error: expect.stringMatching(message),
    });
    expect(summary.refused_starts).toEqual([
      expect.objectContaining({
        message: expect.stringMatching(message),
        advice: expect.stringContaining(advice),
      }),
    ]);
    const runs = JSON.parse((await run('runs', '--format', 'json', ...at())).stdout);
    expect(runs).toEqual([
      expect.objectContaining({ status: 'failed', error: expect.stringMatching(message) }),
    ]);
  });

  it('in a later run ends with exit 1 and says why, too, though what is known of it stays', async () => {
    let isBroken = false;
    const { url } = await serve({
      robots: ({ response }) => response.writeHead(isBroken ? 503 : 404).end(),
      pages: { '/': '<a href="http://elsewhere.example/">x</a>' },
    });
    const later = ['crawl', url('/'), ...QUICK, '--robots-ttl', '0', ...at(), '--json'];
    expect((await run(...later)).code).toBe(0);
    isBroken = true;
    const { code, stdout, stderr } = await run(...later);
    expect([code, stderr]).toEqual([
      1,
      expect.stringMatching(/robots\.txt of 127\.0\.0\.1:\d+ answered 503/),
    ]);
    expect(summaryOf(stdout)).toMatchObject({
      status: 'failed',
      pages: 0,
      left_out: 1,
      by_state: { Processed: 1 },
    });
    await web!.close();
    web = null;
    const gone = await run(...later);
    expect([gone.code, summaryOf(gone.stdout).status]).toEqual([1, 'failed']);
    expect(gone.stderr).toMatch(/code: (no-answer|start-refused)/);
  });

  it('is told, too, where it led to a page that is read before', async () => {
    let isShut = false;
    const moved = { status: 302, headers: { location: '/in' } };
    const { url } = await serve({
      pages: { '/': (at) => answer(at, isShut ? { status: 403 } : moved), '/in': '<title>In</title>' },
    });
    const crawl = () => run('crawl', url('/'), ...QUICK, ...at(), '--json');
    expect(summaryOf((await crawl()).stdout).refused_starts).toEqual([]);
    isShut = true;
    const { code, stdout } = await crawl();
    expect([code, summaryOf(stdout).refused_starts]).toEqual([
      0,
      [expect.objectContaining({ url: url('/'), status_code: 403 })],
    ]);
  });

  it('beside one that is read ends with exit 0, and is told all the same', async () => {
    const { url } = await serve({ pages: { '/': { status: 403 }, '/open': '<title>Open</title>' } });
    const { code, stderr } = await run('crawl', url('/open'), url('/'), ...QUICK, ...at());
    expect([code, stderr]).toEqual([0, expect.stringContaining('not read: ')]);
    expect(stderr).toContain(`${url('/')} answered 403`);
    const runs = JSON.parse((await run('runs', '--format', 'json', ...at())).stdout);
    expect(runs).toEqual([
      expect.objectContaining({ status: 'completed', error: expect.stringContaining('answered 403') }),
    ]);
  });

  it('in a second run, too, and not when it is read again', async () => {
    let status = 200;
    const { url } = await serve({
      pages: {
        '/': ({ response }) => response.writeHead(status, { 'content-type': 'text/html' }).end('<p>x'),
      },
    });
    const ends: unknown[] = [];
    for (status of [200, 403, 200]) {
      const { code, stdout } = await run('crawl', url('/'), ...QUICK, ...at(), '--json');
      ends.push([code, summaryOf(stdout).refused_starts.length]);
    }
    expect(ends).toEqual([
      [0, 0],
      [1, 1],
      [0, 0],
    ]);
  });

  it('that does not exist is no refusal', async () => {
    const { url } = await serve({ pages: { '/': { status: 404 } } });
    const { code, stdout } = await run('crawl', url('/'), ...QUICK, ...at(), '--json');
    expect([code, summaryOf(stdout)]).toEqual([0, expect.objectContaining({ refused_starts: [] })]);
  });
});

describe('the other commands that crawl', () => {
  it('watch --once says the same, and nothing once the page is read', async () => {
    let status = 403;
    const { url } = await serve({
      pages: {
        '/': ({ response }) => response.writeHead(status, { 'content-type': 'text/html' }).end('<p>x'),
      },
    });
    const first = await run('watch', url('/'), '--once', ...QUICK);
    expect([first.code, first.stderr]).toEqual([1, expect.stringContaining('answered 403')]);
    status = 200;
    expect((await run('watch', url('/'), '--once', ...QUICK)).code).toBe(0);
  });

  it('a map is drawn, and ends with exit 1', async () => {
    const { url } = await serve({ pages: { '/': { status: 403 } } });
    const { writeFileSync, existsSync } = await import('node:fs');
    writeFileSync(
      folder.file('t.toml'),
      `[crawler]\nallow-http = true\n[output]\nsummary-path = "summary.md"\n[[quality]]\ndomain = "127.0.0.1"\nseeds = ["${url('/')}"]\n`,
    );
    const { code, stderr } = await run('map', 't.toml', '--delay', '0.1', '--robots-retries', '0');
    expect([code, stderr]).toEqual([1, expect.stringContaining('answered 403')]);
    expect(existsSync(folder.file('summary.md'))).toBe(true);
  });

  it('a password that is given and not accepted is told as that', async () => {
    const { url } = await serve({ pages: { '*': { status: 401 } } });
    const { code, stderr } = await run('crawl', url('/'), '--auth', 'me:wrong', '--no-robots', ...QUICK);
    expect([code, stderr]).toEqual([1, expect.stringContaining('does not accept what was given')]);
  });

  it('a password that stops at a redirect to another origin is told with that origin', async () => {
    const { url } = await serve({
      hosts: 2,
      pages: {
        '0:/': ({ response, url: of }) => response.writeHead(302, { location: of('/', 1) }).end(),
        '1:/': { status: 401 },
      },
    });
    const { stderr } = await run('crawl', url('/'), '--auth', 'me:right', '--allowed-hosts', 'any', ...QUICK);
    expect(stderr).toContain(`with ${new URL(url('/', 1)).origin}/ as start URL`);
  });
});

describe('a host name that does not exist', () => {
  it.each([[[]], [['--no-robots']]])('is asked for once, and told at once with exit 1 (%j)', async (more) => {
    // The pauses before retries would be hours.
    const slow = ['--retries', '5', '--retry-delay', '3600', '--max-retry-backoff', '3600', '--delay', '0'];
    const { code, stderr, stdout } = await run('crawl', `http://${NO_HOST}/`, ...slow, ...more, '--json');
    expect([code, stderr]).toEqual([1, expect.stringContaining(`there is no host named ${NO_HOST}`)]);
    expect(stderr).toContain('--resolve NAME=ADDRESS');
    expect(summaryOf(stdout)).toMatchObject({ status: 'failed', by_state: { Unreachable: 1 } });
    const [page] = JSON.parse((await run('pages', '--format', 'json')).stdout);
    expect(page).toMatchObject({
      state: 'Unreachable',
      reason: expect.stringMatching(/^network: unknown-host, getaddrinfo ENOTFOUND/),
    });
  });

  it.each([[[]], [['--no-robots']]])(
    'is told while others are read, where it is a start URL, and its pages do not hold them up (%j)',
    async (more) => {
      const links = Array.from(
        { length: 20 },
        (_, i) => `<a href="http://${OTHER_NO_HOST}/${i}">${i}</a>`,
      ).join('');
      const { url } = await serve({ pages: { '/': `<title>Home</title>${links}` } });
      const slow = [
        '--retries',
        '5',
        '--retry-delay',
        '3600',
        '--allowed-hosts',
        'any',
        '--delay',
        '0',
        ...more,
      ];
      const { code, stderr, stdout } = await run('crawl', url('/'), `http://${NO_HOST}/`, ...slow, '--json');
      expect(code).toBe(0);
      expect(stderr.match(new RegExp(`host ${NO_HOST}: unknown host name`, 'g'))).toHaveLength(1);
      expect(stderr).toContain(`not read: there is no host named ${NO_HOST}.`);
      expect(stderr).not.toContain(OTHER_NO_HOST);
      expect(summaryOf(stdout).by_state).toEqual({ Processed: 1, Unreachable: 21 });
    },
  );
});
