// Who may ask the service, over real connections: names and origins, tokens and their scopes on every route that the
// OpenAPI file has, sessions of browsers, limits of rate. What is kept of a token tells nobody a token.
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { request } from 'node:http';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import WebSocket from 'ws';
import { STORES, startService, type TestService, useService } from './start-serving.ts';

const start = useService();

type Headers = Record<string, string>;

/** With any Host, which fetch would not send. */
function ask(
  { url }: Pick<TestService, 'url'>,
  headers: Headers,
  { method = 'GET', path = '/api/v1/info' } = {},
): Promise<{ status: number; headers: NodeJS.Dict<string | string[]>; code: string | undefined }> {
  return new Promise((resolve, reject) => {
    const asked = request(
      url + path,
      { method, headers, setHost: headers.host === undefined },
      (response) => {
        let text = '';
        response.setEncoding('utf8').on('data', (piece: string) => {
          text += piece;
        });
        response.on('end', () => {
          const isProblem = response.headers['content-type'] === 'application/problem+json';
          resolve({
            status: response.statusCode!,
            headers: response.headers,
            code: isProblem ? JSON.parse(text).code : undefined,
          });
        });
      },
    );
    asked.on('error', reject).end();
  });
}

describe('a request', () => {
  let service: TestService;
  let remove: () => Promise<void>;
  let port: string;
  beforeAll(async () => {
    ({ service, remove } = await startService({
      options: { allowedHost: ['sumi.example', 'other.example:8080'] },
    }));
    ({ port } = new URL(service.url));
  });
  afterAll(async () => {
    await service.stop();
    await remove();
  });

  it.each([
    ['127.0.0.1:PORT', 200],
    ['localhost:PORT', 200],
    ['LOCALHOST', 200],
    ['[::1]:PORT', 200],
    ['sumi.example', 200],
    ['sumi.example:443', 200],
    ['other.example:8080', 200],
    ['other.example', 403],
    ['other.example:8081', 403],
    ['evil.example', 403],
    ['evil.example:PORT', 403],
    ['localhost.evil.example', 403],
    ['127.0.0.1.nip.example:PORT', 403],
    ['192.168.1.5:PORT', 403],
    ['localhost@evil.example', 403],
    ['', 403],
  ])('for the host "%s" answers %i', async (host, status) => {
    const answer = await ask(service, { host: host.replace('PORT', port) });
    expect([answer.status, answer.code]).toEqual([status, status === 403 ? 'host-refused' : undefined]);
  });

  it.each([
    [{ origin: 'http://127.0.0.1:PORT' }, 200],
    [{ 'sec-fetch-site': 'same-origin' }, 200],
    [{ 'sec-fetch-site': 'none' }, 200],
    [{ origin: 'http://evil.example' }, 403],
    [{ origin: 'null' }, 403],
    [{ origin: 'http://127.0.0.1:1' }, 403],
    [{ origin: 'http://localhost:PORT' }, 403],
    [{ origin: 'http://127.0.0.1:PORT.evil.example' }, 403],
    [{ 'sec-fetch-site': 'cross-site' }, 403],
    [{ 'sec-fetch-site': 'same-site' }, 403],
    [{ 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate' }, 403],
  ])('from %j answers %i, whatever it wants', async (given: Headers, status) => {
    const headers = Object.fromEntries(
      Object.entries(given).map(([name, value]) => [name, value.replace('PORT', port)]),
    );
    for (const path of ['/api/v1/info', '/api/v1/health', '/api/openapi.json'])
      expect([path, (await ask(service, headers, { path })).status]).toEqual([path, status]);
    expect(await upgrade(service, headers)).toBe(status === 200 ? 101 : status);
    const preflight = await ask(
      service,
      { ...headers, 'access-control-request-method': 'POST' },
      { method: 'OPTIONS' },
    );
    expect(preflight.status).toBe(status === 200 ? 405 : 403);
    expect(Object.keys(preflight.headers).filter((name) => name.startsWith('access-control'))).toEqual([]);
  });

  it.each(['token', 'access_token', 'Api_Key'])('with ?%s= is refused', async (name) => {
    for (const path of ['/api/v1/projects', '/api/v1/health', '/api/v1/nothing']) {
      const answer = await service.get(`${path}?${name}=sumi_secret`);
      expect([answer.status, answer.body.code]).toEqual([400, 'token-in-url']);
      expect(JSON.stringify(answer.body)).not.toContain('sumi_secret');
    }
  });

  it('is answered with headers that let no browser do anything with it', async () => {
    for (const path of ['projects', 'nothing', '/api/openapi.json']) {
      const { headers } = await service.get(path);
      expect(Object.fromEntries(headers)).toMatchObject({
        'x-content-type-options': 'nosniff',
        'referrer-policy': 'no-referrer',
        'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
        'cache-control': 'no-store',
        'cross-origin-resource-policy': 'same-origin',
      });
    }
  });
});

function upgrade({ url }: TestService, headers: Headers): Promise<number> {
  return new Promise((resolve) => {
    const socket = new WebSocket(`${url.replace('http', 'ws')}/api/v1/ws`, { headers });
    // What was refused must not stay open either.
    socket.on('unexpected-response', (_, response) => {
      response.socket.once('close', () => resolve(response.statusCode!));
      response.resume();
    });
    socket.on('open', () => {
      resolve(101);
      socket.terminate();
    });
    socket.on('error', () => {});
  });
}

interface Operation {
  method: string;
  path: string;
  isPublic: boolean;
}

async function operationsOf(service: TestService): Promise<Operation[]> {
  const { body } = await service.get('/api/openapi.json', { token: null });
  return Object.entries(body.paths as Record<string, Record<string, { security?: unknown[] }>>).flatMap(
    ([path, verbs]) =>
      Object.entries(verbs).map(([method, { security }]) => ({
        ...{ method: method.toUpperCase(), path },
        isPublic: security?.length === 0,
      })),
  );
}

const NOBODY = '00000000-0000-4000-8000-000000000001';
const filled = (path: string, id = NOBODY) => path.replace('{id}', id).replaceAll(/\{\w+\}/g, NOBODY);

describe('on a service with tokens', () => {
  let service: TestService;
  let remove: () => Promise<void>;
  let mine: string;
  let other: string;
  let limited: string;
  let operations: Operation[];
  const [ADMIN, READ, WRITE] = [0, 1, 2];

  beforeAll(async () => {
    ({ service, remove } = await startService({
      tokens: [{}, { scopes: ['read'] }, { scopes: ['write'] }, { expiresAt: 1 }],
    }));
    mine = await service.project('mine', 'http://127.0.0.1:9/');
    other = await service.project('other', 'http://127.0.0.1:9/');
    const made = await service.post('tokens', { name: 'limited', scopes: ['admin'], projects: [mine] });
    limited = made.body.token;
    operations = await operationsOf(service);
  });
  afterAll(async () => {
    await service.stop();
    await remove();
  });

  it('every route but three needs a token', async () => {
    expect(operations.length).toBeGreaterThan(30);
    const open = operations.filter(({ isPublic }) => isPublic).map(({ method, path }) => `${method} ${path}`);
    expect(open.sort()).toEqual(['GET /api/openapi.json', 'GET /api/v1/health', 'POST /api/v1/session']);
    for (const { method, path, isPublic } of operations) {
      if (isPublic) continue;
      for (const token of [null, 'sumi_nobodys'.padEnd(48, 'x'), service.secrets[3]]) {
        const headers: Headers = token === null ? {} : { authorization: `Bearer ${token}` };
        // Tries of unknown tokens are limited: here only what was forgotten and what has expired is asked of every route.
        if (token?.startsWith('sumi_nobodys') && path !== '/api/v1/projects') continue;
        if (token === service.secrets[3] && path !== '/api/v1/info') continue;
        const answer = await ask(service, headers, { method, path: filled(path) });
        expect([method, path, answer.status]).toEqual([method, path, 401]);
        expect(answer.headers['www-authenticate']).toMatch(/^Bearer/);
      }
    }
    expect(await upgrade(service, {})).toBe(401);
  });

  it('no scope does what only a higher one may', async () => {
    for (const { method, path, isPublic } of operations) {
      if (isPublic || path.endsWith('/events') || path.endsWith('/session')) continue;
      const token = service.secrets[READ];
      const { status, body } = await service.ask(method, filled(path), { token });
      const isRead = method === 'GET' && !path.includes('/tokens');
      const mayAsk = isRead || path.endsWith('/query') || path.endsWith('/preview');
      if (isRead) expect([method, path, status === 401 || status === 403]).toEqual([method, path, false]);
      else if (!mayAsk)
        expect([method, path, status, body.code]).toEqual([method, path, 403, 'scope-missing']);
      if (!path.includes('/tokens')) continue;
      const writer = await service.ask(method, filled(path), { token: service.secrets[WRITE] });
      expect([method, path, writer.status]).toEqual([method, path, 403]);
    }
  });

  it('a token of one project sees no other', async () => {
    const token = limited;
    for (const { method, path } of operations) {
      if (!path.includes('/projects/{id}')) continue;
      const answer = await service.ask(method, filled(path, other), { token });
      expect([method, path, answer.status, answer.body.code]).toEqual([method, path, 404, 'project-unknown']);
    }
    expect((await service.get('projects?state=all&count=true', { token })).body).toMatchObject({
      items: [{ id: mine }],
      total: 1,
    });
    expect((await service.get(`projects/${mine.toUpperCase()}`, { token })).status).toBe(200);
    for (const [method, path, body] of [
      ['POST', 'projects', { name: 'new', website_url: 'http://127.0.0.1:9/' }],
      ['POST', 'tokens', { name: 'all', scopes: ['admin'] }],
      ['GET', 'tokens', undefined],
      ['DELETE', `tokens/${NOBODY}`, undefined],
      ['DELETE', `projects/${mine}?purge=true`, undefined],
      // They name every project that is crawled.
      ['GET', 'metrics', undefined],
    ] as const) {
      const answer = await service.ask(method, path, { token, body });
      expect([method, path, answer.status, answer.body.code]).toEqual([method, path, 403, 'projects-only']);
    }
    expect((await service.get('runs', { token })).body.items).toEqual([]);
  });

  it('a token is shown once, listed without its secret, and gone when it is revoked', async () => {
    const made = await service.post('tokens', { name: 'short', expires_at: '2999-01-01T00:00:00+02:00' });
    expect([made.status, made.body.token, made.body.scopes]).toEqual([
      201,
      expect.stringMatching(/^sumi_[\w-]{43}$/),
      ['read'],
    ]);
    expect(made.body.expires_at).toBe('2998-12-31T22:00:00.000Z');
    const token = made.body.token;
    expect((await service.get('session', { token })).body).toMatchObject({
      kind: 'token',
      name: 'short',
      scopes: ['read'],
    });
    const { body: listed } = await service.get('tokens?count=true');
    expect(listed.items.map(({ name }: { name: string }) => name)).toEqual(
      expect.arrayContaining(['t0', 'short']),
    );
    expect(JSON.stringify(listed)).not.toContain('sumi_');
    const pages: string[] = [];
    for (let cursor = ''; ; ) {
      const { body } = await service.get(`tokens?limit=2${cursor && `&cursor=${cursor}`}`);
      pages.push(...body.items.map(({ id }: { id: string }) => id));
      if (body.next_cursor === null) break;
      cursor = body.next_cursor;
    }
    expect(pages).toEqual(listed.items.map(({ id }: { id: string }) => id));
    expect((await service.ask('DELETE', `tokens/${made.body.id}`)).status).toBe(204);
    expect((await service.get('session', { token })).status).toBe(401);
    expect((await service.ask('DELETE', `tokens/${made.body.id}`)).status).toBe(404);
    for (const wrong of [
      { name: '' },
      { name: 'x', scopes: ['root'] },
      { name: 'x', expires_at: '2001-01-01T00:00:00Z' },
    ])
      expect((await service.post('tokens', wrong)).status).toBe(400);
    expect((await service.post('tokens', { name: 'x', projects: [NOBODY] })).status).toBe(404);
  });

  it('no file beside the store holds a secret', async () => {
    const key = 'a-key-of-a-client';
    const { body } = await service.post('tokens', { name: 'kept' }, { headers: { 'idempotency-key': key } });
    const again = await service.post('tokens', { name: 'kept' }, { headers: { 'idempotency-key': key } });
    expect(again.body).toEqual(body);
    const folder = dirname(service.address);
    const files = readdirSync(folder).map((name) => join(folder, name));
    const texts = files.filter((path) => statSync(path).isFile()).map((path) => readFileSync(path, 'latin1'));
    expect(texts.length).toBeGreaterThan(1);
    for (const secret of [...service.secrets, limited, body.token, key])
      expect(texts.some((text) => text.includes(secret))).toBe(false);
    expect(texts.some((text) => text.includes('"kept"'))).toBe(true);
  });

  it('a browser signs in with a token, and out again', async () => {
    const { origin } = new URL(service.url);
    const signedIn = await service.post(
      'session',
      { token: service.secrets[WRITE] },
      { token: null, headers: { origin } },
    );
    expect([signedIn.status, signedIn.body]).toEqual([
      201,
      expect.objectContaining({ signed_in: true, kind: 'session', scopes: ['write'] }),
    ]);
    const set = signedIn.headers.get('set-cookie')!;
    expect(set).toMatch(/^sumi_session=[\w-]{43}; Path=\/; HttpOnly; SameSite=Strict; Max-Age=\d+$/);
    expect(set).not.toContain(service.secrets[WRITE]);
    const behindTls = await service.post(
      'session',
      { token: service.secrets[WRITE] },
      { token: null, headers: { 'x-forwarded-proto': 'https' } },
    );
    expect(behindTls.headers.get('set-cookie')).toMatch(/; Secure$/);
    const cookie = `other=1; ${set.split(';', 1)[0]}`;
    const as = (headers: Headers) => ({ token: null, headers: { cookie, ...headers } });
    expect((await service.get('session', as({}))).body).toMatchObject({ kind: 'session', name: 't2' });
    const rename = (headers: Headers) => service.patch(`projects/${mine}`, { name: 'mine' }, as(headers));
    expect((await rename({})).body.code).toBe('origin-refused');
    expect((await rename({ origin: 'http://evil.example' })).status).toBe(403);
    expect((await rename({ origin })).status).toBe(200);
    expect((await rename({ 'sec-fetch-site': 'same-origin' })).status).toBe(200);
    expect((await service.get('tokens', as({}))).status).toBe(403);
    const out = await service.ask('DELETE', 'session', as({ origin }));
    expect([out.status, out.headers.get('set-cookie')]).toEqual([204, expect.stringContaining('Max-Age=0')]);
    expect((await service.get('session', as({}))).status).toBe(401);
    expect((await service.post('session', { token: 'sumi_no' }, { token: null })).status).toBe(401);
    expect(service.secrets[ADMIN]).not.toBe('');
  });
});

describe.each(STORES)('on %s', (store) => {
  it('this machine needs no token until the first is made, and then for good', async () => {
    const service = await start({ store });
    const open = { token: null };
    expect((await service.get('session', open)).body).toMatchObject({ kind: 'open', scopes: ['admin'] });
    const { body } = await service.post('tokens', { name: 'first', scopes: ['admin'] }, open);
    expect((await service.get('projects', open)).status).toBe(401);
    const signedIn = await service.post('session', { token: body.token }, open);
    const cookie = signedIn.headers.get('set-cookie')!.split(';', 1)[0];
    expect((await service.get('projects', { token: null, headers: { cookie } })).status).toBe(200);
    expect((await service.ask('DELETE', `tokens/${body.id}`, { token: body.token })).status).toBe(204);
    for (const more of [open, { token: body.token }, { token: null, headers: { cookie } }])
      expect((await service.get('projects', more)).status).toBe(401);
    await service.stop();
    const next = await start({ store, address: service.address });
    expect((await next.get('projects', open)).status).toBe(401);
  });
});

describe('limits', () => {
  it('of requests are those of a token, and say when to come back', async () => {
    const service = await start({ options: { apiRate: 1 }, tokens: [{}, {}] });
    const answers = [];
    for (let asked = 0; asked < 30; asked++) answers.push(await service.get('session'));
    const refused = answers.filter(({ status }) => status === 429);
    expect(refused.length).toBeGreaterThan(5);
    expect(refused[0].body.code).toBe('too-many-requests');
    expect(Number(refused[0].headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
    expect((await service.get('session', { token: service.secrets[1] })).status).toBe(200);
  });

  it('of failed sign-ins are strict, and do not shut out who has a token', async () => {
    const service = await start({ tokens: [{}] });
    const statuses = [];
    for (let tried = 0; tried < 14; tried++)
      statuses.push((await service.get('session', { token: `sumi_${tried}` })).status);
    expect(statuses.slice(0, 10)).toEqual(Array(10).fill(401));
    expect(statuses.slice(11)).toContain(429);
    const tries = [];
    for (let tried = 0; tried < 14; tried++)
      tries.push((await service.post('session', { token: `sumi_${tried}` }, { token: null })).status);
    expect(tries.slice(11)).toContain(429);
    expect((await service.get('session')).status).toBe(200);
    expect((await service.post('session', { token: service.secrets[0] }, { token: null })).status).toBe(201);
  });
});

describe('another address than this machine', () => {
  it('is served only once there is a token', async () => {
    await expect(start({ host: '0.0.0.0' })).rejects.toMatchObject({
      code: 'serve-needs-token',
      hint: expect.stringContaining('sumi token create'),
    });
    await expect(start({ host: '0.0.0.0', tokens: [{ expiresAt: 1 }] })).rejects.toMatchObject({
      code: 'serve-needs-token',
    });
    const service = await start({ host: '0.0.0.0', tokens: [{}] });
    expect((await service.get('projects')).status).toBe(200);
    expect((await service.get('projects', { token: null })).status).toBe(401);
    // An address names who answers; a name may be somebody else's.
    expect((await ask(service, { host: '192.0.2.7:7864' })).status).toBe(401);
    expect((await ask(service, { host: 'evil.example' })).status).toBe(403);
  });
});
