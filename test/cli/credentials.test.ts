// Passwords of sites: they reach the origins of the start URLs, and nobody and nothing else. The judge is what arrived at
// a server, and every byte that was written: the database with its journal, both streams, the events.
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { inspect } from 'node:util';
import postgres from 'postgres';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { sharedPostgres } from '../servers/shared-postgres.ts';
import { makeFolder, startSumi, sumi } from './run-sumi.ts';

const USER = 'wächter';
const PASSWORD = 'pä55w0rd@s3cr3t';
const BASIC = `Basic ${Buffer.from(`${USER}:${PASSWORD}`).toString('base64')}`;
const COOKIE = 'session=c00k1es3cr3t';
const TOKEN = 't0kens3cr3t';
/** Every way in which one of them could be written. */
const TRACES = [
  PASSWORD,
  encodeURIComponent(PASSWORD),
  'pä55w0rd',
  'p%C3%A455',
  's3cr3t',
  BASIC.slice('Basic '.length),
  USER,
  encodeURIComponent(USER),
  // Of a link on a page.
  'other:linked',
];

interface Asked {
  host: string;
  path: string;
  headers: IncomingMessage['headers'];
}

let folder: ReturnType<typeof makeFolder>;
let log: Asked[];
let onAsked: () => void;
let site: Server;
let other: Server;
let siteHost: string;
let otherHost: string;

const run = (args: string[], env: Record<string, string> = {}) => sumi(args, { cwd: folder.path, env });
const QUICK = ['--delay', '0', '--retry-delay', '0.01'];

async function listen(answer: (path: string, asked: Asked) => [number, Record<string, string>, string]) {
  const server = createServer((request, response) => {
    const asked = { host: request.headers.host!, path: request.url!, headers: request.headers };
    log.push(asked);
    onAsked();
    const [status, headers, body] = answer(asked.path, asked);
    response.writeHead(status, { 'content-type': 'text/html', ...headers }).end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { server, host: `127.0.0.1:${(server.address() as AddressInfo).port}` };
}

beforeEach(async () => {
  folder = makeFolder();
  log = [];
  onAsked = () => {};
  ({ server: other, host: otherHost } = await listen((path) =>
    path === '/robots.txt'
      ? [404, {}, '']
      : [200, {}, `<title>Other</title><a href="http://${siteHost}/back">back</a>`],
  ));
  ({ server: site, host: siteHost } = await listen((path, { headers }) => {
    if (headers.authorization !== BASIC) return [401, { 'www-authenticate': 'Basic realm="a"' }, 'no'];
    if (path === '/robots.txt') return [200, {}, `Sitemap: http://${siteHost}/sitemap.xml`];
    if (path === '/sitemap.xml')
      return [
        200,
        { 'content-type': 'text/xml' },
        `<urlset><url><loc>http://${siteHost}/by-sitemap</loc></url></urlset>`,
      ];
    if (path === '/away') return [302, { location: `http://${otherHost}/landed` }, ''];
    if (path === '/')
      return [
        200,
        {},
        `<title>Home</title><a href="/a">a</a><a href="/away">x</a><a href="http://${otherHost}/linked">o</a>
        <a href="http://other:linked@${siteHost}/with-login">l</a>`,
      ];
    return [200, {}, `<title>${path}</title>`];
  }));
});

afterEach(async () => {
  for (const server of [site, other]) {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
  folder.remove();
});

/** Traces of the secrets in what the command wrote and printed. */
function tracesIn(...texts: (string | Buffer)[]): string[] {
  const bytes = Buffer.concat(texts.map((text) => Buffer.from(text as string)));
  return [...TRACES, 'c00k1e', TOKEN].filter((trace) => bytes.includes(trace));
}

function filesOf(name: string): Buffer {
  const parts = ['', '-wal', '-shm'].map((end) => {
    try {
      return readFileSync(folder.file(name + end));
    } catch {
      return Buffer.alloc(0);
    }
  });
  return Buffer.concat(parts);
}

const asked = (host: string) => log.filter((entry) => entry.host === host);
const withLogin = (path = '/') =>
  `http://${encodeURIComponent(USER)}:${encodeURIComponent(PASSWORD)}@${siteHost}${path}`;

describe('user and password in a start URL', () => {
  it('are sent to its origin only, robots.txt and sitemaps included, and leave no trace', async () => {
    const all = ['--allowed-hosts', 'any', '--discover', 'sitemap,links', '--json', '-vv', ...QUICK];
    const { code, stdout, stderr } = await run(['crawl', withLogin(), ...all]);
    expect([code, stderr]).toEqual([0, expect.any(String)]);
    expect(asked(siteHost).map(({ path }) => path)).toEqual(
      expect.arrayContaining([
        '/robots.txt',
        '/sitemap.xml',
        '/',
        '/a',
        '/away',
        '/by-sitemap',
        '/with-login',
        '/back',
      ]),
    );
    expect(new Set(asked(siteHost).map(({ headers }) => headers.authorization))).toEqual(new Set([BASIC]));
    expect(asked(otherHost).map(({ path }) => path)).toEqual(expect.arrayContaining(['/linked', '/landed']));
    expect(asked(otherHost).filter(({ headers }) => headers.authorization !== undefined)).toEqual([]);
    const outputs = [stdout, stderr, filesOf('sumi.db')];
    for (const args of [
      ['why', withLogin()],
      ['pages', '--format', 'json'],
      ['report', '--json'],
      ['runs'],
      ['links'],
    ]) {
      const told = await run(args);
      expect([args[0], told.code]).toEqual([args[0], 0]);
      outputs.push(told.stdout, told.stderr);
    }
    expect(tracesIn(...outputs)).toEqual([]);
  });

  it('of a seed of a map are treated alike, and its plan does not show them', async () => {
    writeFileSync(
      folder.file('t.toml'),
      `[crawler]\nallow-http = true\nmax-depth = 0\n[[quality]]\ndomain = "127.0.0.1"\nseeds = ["${withLogin()}"]\n`,
    );
    const plan = await run(['map', 't.toml', '--dry-run']);
    expect([plan.code, plan.stdout]).toEqual([0, expect.stringContaining(siteHost)]);
    const map = await run(['map', 't.toml', '--delay', '0.1', '--db', 'sumi.db']);
    expect(map.code).toBe(0);
    expect(asked(siteHost).length).toBeGreaterThan(2);
    expect(asked(siteHost).every(({ headers }) => headers.authorization === BASIC)).toBe(true);
    expect(asked(otherHost).every(({ headers }) => headers.authorization === undefined)).toBe(true);
    const outputs = [plan.stdout, plan.stderr, map.stdout, map.stderr, filesOf('sumi.db')];
    expect(tracesIn(...outputs)).toEqual([]);
  });

  it('are not repeated by errors: no answer, an unreadable URL, a wrong escape, an unknown page', async () => {
    site.closeAllConnections();
    await new Promise((resolve) => site.close(resolve));
    const dead = await run(['crawl', withLogin(), '--retries', '0', ...QUICK]);
    expect([dead.code, dead.stderr]).toEqual([1, expect.stringContaining(siteHost)]);
    const outputs = [dead.stdout, dead.stderr, filesOf('sumi.db')];
    const odd = [
      `http://${USER}:${PASSWORD}@[nonsense/`,
      `http://${USER}:${PASSWORD}@/`,
      `http://${USER}:%zz${PASSWORD}@host/`,
      `${USER}:${PASSWORD}@host/`,
      `ftp://${USER}:${PASSWORD}@host/`,
    ];
    writeFileSync(folder.file('odd.toml'), `[[quality]]\ndomain = "${USER}:${PASSWORD}@host"\n`);
    for (const args of [
      // Without the name of a command, as beginners do.
      ...[...odd, withLogin()].map((url) => [url]),
      ['map', 'odd.toml'],
      ['crawl', '--urls', withLogin()],
      ['crawl', '--config', withLogin()],
      ['copy', '--from', withLogin(), '--to', 'x.db'],
      ['pages', '--out', withLogin('/x.json'), '--db', withLogin('/x.db')],
      ['map', withLogin('/t.toml')],
      ['why', '--host', withLogin()],
      ['pages', '--state', withLogin()],
    ]) {
      const told = await run(args);
      expect([args, told.code]).toEqual([args, 2]);
      outputs.push(told.stdout, told.stderr);
    }
    for (const url of odd) {
      for (const command of ['crawl', 'why', 'sitemap']) {
        const told = await run([command, url]);
        expect(told.code, `${command} ${url}`).not.toBe(0);
        outputs.push(told.stdout, told.stderr);
      }
    }
    // The name of a user of ftp is shown: only what may be a password is not.
    expect(tracesIn(...outputs).filter((trace) => trace !== USER)).toEqual([]);
  });
});

describe('--auth, --cookie and --header', () => {
  const secrets = () => [
    '--auth',
    `${USER}:${PASSWORD}`,
    '--cookie',
    COOKIE,
    '--header',
    `X-Token: ${TOKEN}`,
  ];

  it('go to the origins of the start URLs and nowhere else, and leave no trace', async () => {
    const all = ['--allowed-hosts', 'any', '--discover', 'sitemap,links', '--json', '-vv', ...QUICK];
    const told = await run(['crawl', `http://${siteHost}/`, ...secrets(), ...all]);
    expect([told.code, told.stderr]).toEqual([0, expect.any(String)]);
    for (const { headers } of asked(siteHost))
      expect(headers).toMatchObject({ authorization: BASIC, cookie: COOKIE, 'x-token': TOKEN });
    expect(asked(otherHost).length).toBeGreaterThan(1);
    for (const { headers } of asked(otherHost))
      expect(Object.keys(headers)).not.toEqual(expect.arrayContaining(['authorization']));
    expect(asked(otherHost).filter(({ headers }) => headers.cookie ?? headers['x-token'])).toEqual([]);
    expect(tracesIn(told.stdout, told.stderr, filesOf('sumi.db'))).toEqual([]);
  });

  it('are stars in `sumi config`, and nothing that a project keeps', async () => {
    for (const more of [[], ['--format', 'json']]) {
      const { stdout, stderr } = await run(['config', ...secrets(), ...more], {
        SUMI_START_URLS: withLogin(),
      });
      expect(stdout).toContain('***');
      expect(tracesIn(stdout, stderr)).toEqual([]);
    }
    for (const setting of [`auth=${USER}:${PASSWORD}`, `cookie=${COOKIE}`, `header=X-Token: ${TOKEN}`]) {
      const { code, stderr } = await run(['project', 'shop', '--set', setting]);
      expect([code, stderr]).toEqual([2, expect.stringContaining('cannot be kept with a project')]);
      expect(tracesIn(stderr)).toEqual([]);
    }
  });

  it.each([
    `[header]\nX-Token = "${TOKEN}"`,
    `header = { X-Token = "${TOKEN}" }`,
    `header = ["X-Token: ${TOKEN}", 5]`,
    `header = [{ X-Token = "${TOKEN}" }]`,
    `cookie = { ${COOKIE.replace('=', ' = "')}" }`,
    `[auth]\npassword = "${PASSWORD}"`,
    `auth = ${PASSWORD}`,
  ])('are not repeated by errors about a file that writes them otherwise: %s', async (text) => {
    writeFileSync(folder.file('sumi.toml'), `${text}\n`);
    const { code, stdout, stderr } = await run(['crawl', `http://${siteHost}/`, '--config', 'sumi.toml']);
    expect([code, stderr]).toEqual([2, expect.stringContaining('sumi.toml')]);
    expect(tracesIn(stdout, stderr)).toEqual([]);
    const { loadConfig } = await import('../../src/config/load-config.ts');
    const error = await loadConfig({ env: {}, file: folder.file('sumi.toml') }).catch(
      (thrown: unknown) => thrown,
    );
    expect(tracesIn(inspect(error, { depth: null }))).toEqual([]);
  });

  it.each([
    ['Host: example.com', 'it is the host of the URL'],
    ['User-Agent: me', 'use --user-agent'],
    ['accept-encoding: br', '--no-compress'],
    ['If-None-Match: "x"', 'its own conditions'],
    ['Cookie: a=b', 'use --cookie'],
    ['Content-Length: 3', 'sends no body'],
  ])('refuse %s, and say which option is for it', async (header, reason) => {
    const { code, stderr } = await run(['crawl', `http://${siteHost}/`, '--header', header]);
    expect([code, stderr]).toEqual([2, expect.stringContaining(reason)]);
    expect(stderr).toContain('code: header-refused');
    expect(log).toEqual([]);
  });

  it.each([
    ['--header', 'X-Token: a\r\nX-Evil: b'],
    ['--header', 'X Token: a'],
    ['--header', 'no colon'],
    ['--cookie', 'a=b\nX-Evil: c'],
    ['--auth', 'nobody'],
    ['--auth', 'a:b\r\nX-Evil: c'],
  ])('refuse %s %j', async (flag, value) => {
    const { code, stderr } = await run(['crawl', `http://${siteHost}/`, flag, value]);
    expect([code, stderr]).toEqual([2, expect.stringContaining('code: bad-value')]);
    expect(stderr).toContain('***');
    expect(log).toEqual([]);
  });

  it('are asked for again by resume, which names them', async () => {
    const crawl = startSumi(['crawl', `http://${siteHost}/`, ...secrets(), '--delay', '0.3'], {
      cwd: folder.path,
    });
    // It hears Ctrl-C by the time of its first request.
    await new Promise<void>((resolve) => {
      onAsked = resolve;
    });
    crawl.child.kill('SIGINT');
    expect((await crawl.finished).code).toBe(3);
    log = [];
    const bare = await run(['resume']);
    expect([bare.code, bare.stderr]).toEqual([2, expect.stringContaining('code: credentials-missing')]);
    expect(bare.stderr).toContain('the header Authorization, the header Cookie, the header X-Token');
    // The same command goes on, too, and would read other pages without them.
    const crawled = await run(['crawl', `http://${siteHost}/`, ...QUICK]);
    expect([crawled.code, crawled.stderr]).toEqual([2, expect.stringContaining('code: credentials-missing')]);
    expect(log).toEqual([]);
    const again = await run(['resume', ...secrets(), '--json']);
    expect(again.code).toBe(0);
    expect(asked(siteHost).length).toBeGreaterThan(0);
    for (const { headers } of asked(siteHost))
      expect(headers).toMatchObject({ authorization: BASIC, cookie: COOKIE, 'x-token': TOKEN });
    expect(tracesIn(bare.stdout, bare.stderr, again.stdout, again.stderr, filesOf('sumi.db'))).toEqual([]);
  });

  it('are taken by sitemap, by watch and by the environment', async () => {
    const list = await run(['sitemap', `http://${siteHost}/`, '--auth', `${USER}:${PASSWORD}`, ...QUICK]);
    expect([list.code, list.stdout]).toEqual([0, expect.stringContaining('/by-sitemap')]);
    const env = { SUMI_AUTH: `${USER}:${PASSWORD}` };
    const watch = await run(['watch', `http://${siteHost}/`, '--once', ...QUICK], env);
    expect(watch.code).toBe(0);
    const bare = await run(['watch', '--once', ...QUICK]);
    expect([bare.code, bare.stderr]).toEqual([2, expect.stringContaining('code: credentials-missing')]);
    expect(asked(siteHost).every(({ headers }) => headers.authorization === BASIC)).toBe(true);
    expect(tracesIn(list.stderr, watch.stdout, watch.stderr, bare.stderr, filesOf('sumi.db'))).toEqual([]);
  });
});

describe('on a shared store', () => {
  it('leaves no trace in any column; a worker without them leaves the run alone, one that has them works', async () => {
    const server = await sharedPostgres();
    const store = await server.newDatabase();
    try {
      const secrets = ['--auth', `${USER}:${PASSWORD}`, '--cookie', COOKIE];
      const crawl = startSumi(
        ['crawl', `http://${siteHost}/`, ...secrets, '--delay', '60', '--store', store],
        {
          cwd: folder.path,
        },
      );
      await crawl.said('starts run 1');
      const bare = startSumi(['worker', '--store', store], { cwd: folder.path });
      await bare.said('cannot work on run 1');
      bare.child.kill('SIGTERM');
      const { stderr } = await bare.finished;
      expect(stderr).toContain('the header Authorization, the header Cookie');
      const able = startSumi(['worker', '--store', store, ...secrets], { cwd: folder.path });
      await able.said('joined run 1');
      able.child.kill('SIGTERM');
      crawl.child.kill('SIGINT');
      const ends = [await able.finished, await crawl.finished];
      const sql = postgres(store, { max: 1 });
      const columns = await sql<{ table: string; column: string }[]>`
        SELECT table_name AS "table", column_name AS "column" FROM information_schema.columns
         WHERE table_schema NOT IN ('pg_catalog', 'information_schema')`;
      const texts: string[] = [];
      for (const { table, column } of columns)
        for (const row of await sql`SELECT ${sql(column)}::text AS text FROM ${sql(table)}`)
          texts.push(row.text ?? '');
      await sql.end();
      expect(texts.join('\n')).toContain(siteHost);
      expect(tracesIn(stderr, ...ends.flatMap((end) => [end.stdout, end.stderr]), texts.join('\n'))).toEqual(
        [],
      );
    } finally {
      await server.dropDatabase(store);
    }
  });
});
