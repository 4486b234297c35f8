// Passwords of a statement reach the proxy and the site, and nothing that stays or is shown.
import { readdirSync, readFileSync } from 'node:fs';
import { createServer, request as httpRequest, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { page } from '../crawls/crawl-site.ts';
import { QUICK, useSqlBench } from './sql-bench.ts';
import { startSqlProcess } from './sql-process.ts';

const bench = useSqlBench();
const SECRET = 'hunter2-of-the-proxy';
const servers: Server[] = [];

afterEach(async () => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
});

/** Passes plain requests on, and remembers who asked. */
async function startProxy(): Promise<{ port: number; logins: Set<string | undefined> }> {
  const logins = new Set<string | undefined>();
  const server = createServer((request, response) => {
    logins.add(request.headers['proxy-authorization']);
    const passed = httpRequest(
      request.url!,
      { method: request.method, headers: request.headers },
      (answer) => {
        response.writeHead(answer.statusCode!, answer.headers);
        answer.pipe(response);
      },
    );
    passed.on('error', () => response.writeHead(502).end());
    request.pipe(passed);
  });
  server.on('connect', (request, socket) => {
    logins.add(request.headers['proxy-authorization']);
    socket.end('HTTP/1.1 502 Bad Gateway\r\n\r\n');
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { port: (server.address() as AddressInfo).port, logins };
}

/** All bytes of all files of a folder. */
const bytesIn = (folder: string) =>
  readdirSync(folder)
    .map((name) => readFileSync(join(folder, name), 'latin1'))
    .join('\n');

const login = `Basic ${Buffer.from(`user:${SECRET}`).toString('base64')}`;

describe('passwords', () => {
  it('of a proxy are used, and stay out of lists, explanations, errors, tables and files', async () => {
    const web = await bench.web({ pages: { '/a': page('A') } });
    const proxy = await startProxy();
    const folder = bench.folder();
    const sql = await bench.open(join(folder, 'x.duckdb'));
    const statement = `CRAWL (SELECT '${web.url('/a')}') INTO t WITH (${QUICK}, http_proxy 'http://user:${SECRET}@127.0.0.1:${proxy.port}')`;
    const shown = [
      await sql.json(`EXPLAIN ${statement}`),
      await sql.json(statement),
      await sql.json('SHOW CRAWLS'),
      await sql.json('FROM crawls()'),
      await sql.json('FROM t'),
      await sql.json(statement.replace('INTO t', 'INTO u').replace(QUICK, `${QUICK}, background true`)),
    ];
    await sql.rest();
    shown.push(await sql.json('SHOW CRAWLS'));
    expect(proxy.logins).toEqual(new Set([login]));
    const errors = [
      await sql.error(`${statement.slice(0, -1)}, http_proxy 'http://user:${SECRET}@x:1')`),
      await sql.error(statement.replace('http://user', 'nonsense://user')),
      await sql.error(statement.replace(`127.0.0.1:${proxy.port}`, '127.0.0.1:port')),
      await sql.error(`${statement} LIMIT -1`),
      await sql.error(statement.replace('INTO t', 'INTO no.main.t')),
    ];
    for (const { message, hint, details } of errors) shown.push(JSON.stringify({ message, hint, details }));
    for (const text of shown) expect(text).not.toContain(SECRET);
    await sql.close();
    expect(bytesIn(folder)).not.toContain(SECRET);
  });

  it('of SET are used, and stay out of all that is kept', async () => {
    const web = await bench.web({ pages: { '/a': page('A') } });
    const proxy = await startProxy();
    const folder = bench.folder();
    const sql = await bench.open(join(folder, 'x.duckdb'));
    await sql.rows(
      `SET http_proxy = '127.0.0.1:${proxy.port}'; SET http_proxy_username = 'user'; SET http_proxy_password = '${SECRET}'`,
    );
    const statement = `CRAWL (SELECT '${web.url('/a')}') INTO t WITH (${QUICK})`;
    const shown = [
      await sql.json(`EXPLAIN ${statement}`),
      await sql.json(statement),
      await sql.json('FROM crawls()'),
    ];
    expect(proxy.logins).toEqual(new Set([login]));
    for (const text of shown) expect(text).not.toContain(SECRET);
    await sql.close();
    expect(bytesIn(folder)).not.toContain(SECRET);
  });

  it('of a site, in auth, in headers and in a URL of the input, too', async () => {
    const web = await bench.web({ pages: { '/a': page('A'), '/b': page('B') } });
    const folder = bench.folder();
    const sql = await bench.open(join(folder, 'x.duckdb'));
    const shown: string[] = [];
    const own = `auth 'user:${SECRET}'`;
    const statement = `CRAWL (SELECT '${web.url('/a')}') INTO t WITH (${QUICK}, ${own})`;
    shown.push(
      await sql.json(`EXPLAIN ${statement}`),
      await sql.json(statement),
      await sql.json('SHOW CRAWLS'),
    );
    expect(web.requestsTo('/a')[0].headers.authorization).toBe(login);
    const inUrl = `CRAWL (SELECT '${web.url('/b').replace('//', `//user:${SECRET}@`)}') INTO t WITH (${QUICK})`;
    shown.push(
      await sql.json(`EXPLAIN ${inUrl}`),
      await sql.json(inUrl),
      await sql.json('SHOW CRAWLS'),
      await sql.json('FROM t'),
    );
    expect(web.requestsTo('/b')[0].headers.authorization).toBe(login);
    for (const text of shown) expect(text).not.toContain(SECRET);
    await sql.close();
    expect(bytesIn(folder)).not.toContain(SECRET);
  });

  it('stay out of what the command prints', async () => {
    const file = join(bench.folder(), 'x.duckdb');
    const statement = `CRAWL (SELECT 'http://127.0.0.1:1/') INTO t WITH (http_proxy 'http://user:${SECRET}@127.0.0.1:1', max_retries 0, retry_delay 0.01, robots_retries 0)`;
    const { stdout, stderr } = await startSqlProcess([file, '-c', `${statement}; FROM t; SHOW CRAWLS`]).ended;
    expect(`${stdout}${stderr}`).not.toContain(SECRET);
    // People see the line that they have just written; programs are told its place only.
    const program = await startSqlProcess([file, '--json', '-c', `${statement} LIMIT -1`]).ended;
    expect(program.stderr).not.toContain(SECRET);
  });
});
