// What a wrong request is told, over a real connection: always a problem with a code and the fields that are wrong, never
// a 5xx, and nothing is written.
import { request } from 'node:http';
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startService, type TestService } from './start-serving.ts';

let service: TestService;
let remove: () => Promise<void>;
let id: string;

beforeAll(async () => {
  ({ service, remove } = await startService({ options: { maxPagesLimit: 500 } }));
  id = await service.project('one', 'http://127.0.0.1:9/');
});

afterAll(async () => {
  await service.stop();
  await remove();
});

const URL_OF_SITE = 'https://127.0.0.1:9/';
const many = Array.from({ length: 10_000 }, (_, i) => `/p${i}/`).join(',');

/** Body of POST /projects → status, code, pointers. */
const BODIES: [string, unknown, number, string, string[]][] = [
  ['nothing', {}, 400, 'request-invalid', ['/name', '/website_url']],
  ['a list', [], 400, 'request-invalid', ['']],
  ['a text', '"x"', 400, 'request-invalid', ['']],
  ['a wrong type', { name: 1, website_url: URL_OF_SITE }, 400, 'request-invalid', ['/name']],
  [
    'an unknown field',
    { name: 'x', website_url: URL_OF_SITE, setings: {} },
    400,
    'request-invalid',
    ['/setings'],
  ],
  ['no name', { name: '', website_url: URL_OF_SITE }, 400, 'request-invalid', ['/name']],
  ['a blank name', { name: '  ', website_url: URL_OF_SITE }, 400, 'request-invalid', ['/name']],
  ['a name of 201', { name: 'x'.repeat(201), website_url: URL_OF_SITE }, 400, 'request-invalid', ['/name']],
  ['a line break', { name: 'a\nb', website_url: URL_OF_SITE }, 400, 'request-invalid', ['/name']],
  ['NUL', { name: 'a\0b', website_url: URL_OF_SITE }, 400, 'request-invalid', ['/name']],
  ['no URL', { name: 'x', website_url: 'http://' }, 400, 'request-invalid', ['/website_url']],
  [
    'another scheme',
    { name: 'x', website_url: 'ftp://example.com/' },
    400,
    'request-invalid',
    ['/website_url'],
  ],
  ['a script', { name: 'x', website_url: 'javascript:alert(1)' }, 400, 'request-invalid', ['/website_url']],
  ['a file', { name: 'x', website_url: 'file:///etc/passwd' }, 400, 'request-invalid', ['/website_url']],
  [
    'a password',
    { name: 'x', website_url: 'https://u:p@example.com/' },
    400,
    'request-invalid',
    ['/website_url'],
  ],
  [
    'an inner address',
    { name: 'x', website_url: 'http://10.0.0.1/' },
    422,
    'egress-refused',
    ['/website_url'],
  ],
  [
    'the metadata',
    { name: 'x', website_url: 'http://169.254.169.254/' },
    422,
    'egress-refused',
    ['/website_url'],
  ],
  ['localhost', { name: 'x', website_url: 'localhost' }, 422, 'egress-refused', ['/website_url']],
  [
    'a single label',
    { name: 'x', website_url: 'https://intranet/' },
    422,
    'egress-refused',
    ['/website_url'],
  ],
];

/** Settings → pointers and what is said. */
const SETTINGS: [string, Record<string, unknown>, Record<string, RegExp>][] = [
  ['an unknown one', { max_page: 3 }, { max_page: /nearest is max_pages/ }],
  ['an option of the operator', { bodies: 'files:x' }, { bodies: /no such setting/ }],
  [
    'a wrong type',
    { max_pages: '10', delay_seconds: '1', max_concurrent: null },
    { max_pages: /whole number/, delay_seconds: /number/ },
  ],
  ['zero pages', { max_pages: 0 }, { max_pages: /at least 1/ }],
  ['more than the limit', { max_pages: 501 }, { max_pages: /1 to 500/ }],
  ['no limit', { max_pages: 'none' }, { max_pages: /1 to 500/ }],
  ['a broken pattern', { include_patterns: 'a,(' }, { include_patterns: /regular expression/ }],
  ['10,000 patterns', { exclude_patterns: many }, { exclude_patterns: /at most 200/ }],
  ['a list of patterns', { exclude_patterns: ['a'] }, { exclude_patterns: /one text/ }],
  [
    'no robots',
    { respect_robots_txt: false, max_depth: 'x' },
    { respect_robots_txt: /operator/, max_depth: /whole number/ },
  ],
  ['URLs of a run', { fetch_only_urls: ['https://example.com/'] }, { fetch_only_urls: /with the run/ }],
  ['a negative delay', { delay_seconds: -1 }, { delay_seconds: /0 to/ }],
];

const pointers = (body: { errors?: { pointer: string }[] }) =>
  (body.errors ?? []).map(({ pointer }) => pointer);

describe('a project', () => {
  it.each(BODIES)('of %s is refused', async (_, body, status, code, expected) => {
    const answer = await service.post('projects', body);
    expect([answer.status, answer.body.code, pointers(answer.body)]).toEqual([status, code, expected]);
    expect(answer.headers.get('content-type')).toBe('application/problem+json');
    expect(answer.body).toMatchObject({
      status,
      title: expect.any(String),
      detail: expect.any(String),
      hint: expect.any(String),
    });
    expect(JSON.stringify(answer.body)).not.toContain('u:p@');
    expect((await service.get('projects?count=true&state=all')).body.total).toBe(1);
  });

  it.each(SETTINGS)('with %s in its settings is refused', async (_, settings, expected) => {
    const before = (await service.get(`projects/${id}`)).body;
    for (const answer of [
      await service.post('projects', { name: 'x', website_url: URL_OF_SITE, settings }),
      await service.patch(`projects/${id}`, { name: 'other', settings }),
    ]) {
      expect(answer.status).toBe(400);
      expect(pointers(answer.body)).toEqual(Object.keys(expected).map((name) => `/settings/${name}`));
      for (const { pointer, detail } of answer.body.errors)
        expect(detail).toMatch(expected[pointer.slice('/settings/'.length)]);
    }
    expect((await service.get(`projects/${id}`)).body).toEqual(before);
  });

  it('may ignore robots.txt only where the operator allows it', async () => {
    const refused = await service.patch(`projects/${id}`, { settings: { respect_robots_txt: false } });
    expect(refused.body).toMatchObject({
      code: 'robots-fixed',
      hint: expect.stringContaining('--no-robots'),
    });
  });

  it.each([
    ['GET', 'projects/no-uuid'],
    ['GET', 'projects/00000000-0000-4000-8000-000000000009'],
    ['PATCH', 'projects/00000000-0000-4000-8000-000000000009'],
    ['DELETE', 'projects/x'],
    ['POST', 'projects/x/restore'],
    ['GET', 'projects/%00/phases/crawl/status'],
    ['POST', 'projects/x/phases/crawl/run'],
    ['GET', `projects/${'a'.repeat(900)}`],
  ])('that is not there answers 404: %s %s', async (method, path) => {
    const answer = await service.ask(method, path, { body: method === 'PATCH' ? { name: 'n' } : undefined });
    expect([answer.status, answer.body.status]).toEqual([path.includes('%00') ? 400 : 404, answer.status]);
  });
});

describe('a list', () => {
  it.each([
    ['limit=0', '/limit'],
    ['limit=1001', '/limit'],
    ['limit=1e2', '/limit'],
    ['limit=5&limit=6', '/limit'],
    ['sort=size', '/sort'],
    ['order=up', '/order'],
    ['state=gone', '/state'],
    ['count=yes', '/count'],
    ['cursor=nonsense', '/cursor'],
    ['serach=x', '/serach'],
    ['q=%00', '/q'],
  ])('with %s answers 400', async (query, pointer) => {
    const answer = await service.get(`projects?${query}`);
    expect([answer.status, pointers(answer.body)]).toEqual([400, [pointer]]);
  });
});

describe('a run', () => {
  it.each([
    [{ mode: 'fast' }, ['/mode']],
    [{ max_pages: 501 }, ['/max_pages']],
    [{ max_pages: 1.5 }, ['/max_pages']],
    [{ fetch_only_urls: [] }, ['/fetch_only_urls']],
    [{ fetch_only_urls: ['http://127.0.0.1:9/', 'ftp://x/'] }, ['/fetch_only_urls/1']],
    [{ fetch_only_urls: Array(10_000).fill('http://127.0.0.1:9/') }, ['/fetch_only_urls']],
    [{ meta: { 'a b': 'x' } }, ['/meta/a b']],
    [{ meta: { a: 1 } }, ['/meta/a']],
    [{ freshh: true }, ['/freshh']],
  ])('of %j is refused', async (body, expected) => {
    const answer = await service.post(`projects/${id}/phases/crawl/run`, body);
    expect([answer.status, pointers(answer.body)]).toEqual([400, expected]);
    expect((await service.get(`projects/${id}/phases/crawl/status`)).body.state).toBe('pending');
  });

  it('that is not under way cannot be steered', async () => {
    for (const verb of ['pause', 'resume', 'stop']) {
      const { status, body } = await service.post(`projects/${id}/phases/crawl/${verb}`);
      expect([verb, status, body.code]).toEqual([verb, 409, expect.any(String)]);
    }
    const adjusted = await service.post(`projects/${id}/phases/crawl/adjust`, { settings: { max_pages: 3 } });
    expect(adjusted.status).toBe(409);
  });
});

describe('a body', () => {
  const post = (body: string | Uint8Array<ArrayBuffer>, type: string | null) =>
    fetch(`${service.url}/api/v1/projects`, {
      method: 'POST',
      headers: type === null ? {} : { 'content-type': type },
      body,
    });

  it.each([
    ['text', 'hello', 'text/plain', 415, 'body-type'],
    ['a form', 'name=x', 'application/x-www-form-urlencoded', 415, 'body-type'],
    ['JSON by another name', '{}', 'text/json', 415, 'body-type'],
    ['half a body', '{"name": ', 'application/json', 400, 'body-not-json'],
    ['not JSON', 'name: x', 'application/json; charset=utf-8', 400, 'body-not-json'],
    ['two values', '{} {}', 'application/json', 400, 'body-not-json'],
    ['nothing', '', 'application/json', 400, 'request-invalid'],
    ['a prototype', '{"__proto__": {"a": 1}}', 'application/json', 400, 'request-invalid'],
    ['no UTF-8', Uint8Array.from([0x22, 0xff, 0x22]), 'application/json', 400, 'body-not-json'],
    [
      'a deep one',
      `${'['.repeat(100_000)}${']'.repeat(100_000)}`,
      'application/json',
      400,
      'request-invalid',
    ],
    ['a megabyte and more', JSON.stringify('x'.repeat(1_000_001)), 'application/json', 413, 'body-too-large'],
  ])('of %s is refused', async (_, body, type, status, code) => {
    const response = await post(body, type);
    expect([response.status, ((await response.json()) as { code: string }).code]).toEqual([status, code]);
  });

  it('of 20 MB is refused, announced or in a stream', async () => {
    for (const isAnnounced of [true, false]) {
      const { status, connection } = await send(20_000_000, isAnnounced);
      expect([status, connection]).toEqual([413, 'close']);
    }
    expect((await service.get('health')).status).toBe(200);
  });
});

/** By the raw protocol: an answer before the end of the body is read as well. */
function send(
  bytes: number,
  isAnnounced: boolean,
): Promise<{ status: number | undefined; connection?: string }> {
  return new Promise((resolve, reject) => {
    const headers = {
      'content-type': 'application/json',
      ...(isAnnounced ? { 'content-length': bytes } : {}),
    };
    const sent = request(`${service.url}/api/v1/projects`, { method: 'POST', headers }, (response) => {
      resolve({ status: response.statusCode, connection: response.headers.connection });
      sent.destroy();
    });
    sent.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EPIPE' && error.code !== 'ECONNRESET') reject(error);
    });
    const piece = Buffer.alloc(100_000, 'x');
    let left = bytes;
    const write = () => {
      while (left > 0) {
        left -= piece.length;
        if (!sent.write(piece)) return void sent.once('drain', write);
      }
      sent.end();
    };
    write();
  });
}

describe('a request', () => {
  it('to nothing answers 404, with a wrong method 405 and the right ones', async () => {
    for (const path of ['/', '/api', '/api/v1', '/api/v1/nothing', '/api/v1/projects/', '/../etc/passwd'])
      expect([path, (await service.ask('GET', path)).status]).toEqual([path, 404]);
    const wrong = await service.ask('PUT', 'projects');
    expect([wrong.status, wrong.headers.get('allow'), wrong.body.code]).toEqual([
      405,
      'GET, HEAD, POST',
      'method-refused',
    ]);
    expect((await service.ask('DELETE', `projects/${id}/phases/crawl/run`)).headers.get('allow')).toBe(
      'POST',
    );
    expect((await service.ask('OPTIONS', 'projects')).status).toBe(405);
  });

  it('that is no HTTP, or too long, is answered and ended', async () => {
    expect(await raw('nonsense\r\n\r\n')).toMatch(/^HTTP\/1.1 400 .*request-malformed/s);
    expect(await raw(`GET /${'x'.repeat(20_000)} HTTP/1.1\r\nHost: localhost\r\n\r\n`)).toMatch(
      /^HTTP\/1.1 431 .*request-too-long/s,
    );
    expect((await service.get(`projects/${'x'.repeat(2000)}/pages`)).body.code).toBe('route-unknown');
    // Newer versions of Node know the method; without a type of its body it is refused before any route.
    expect(
      await raw('QUERY /api/v1/projects HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n'),
    ).toMatch(/^HTTP\/1.1 40[05] /);
    expect(await raw('GET /%zz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n')).toMatch(
      /^HTTP\/1.1 40[04] /,
    );
    expect((await service.get('health')).status).toBe(200);
  });
});

it('is never told where the store is kept', async () => {
  for (const path of [
    ...['runs/77', 'runs/77/log', 'runs/77/changes', 'changes?since=77', 'compare?from=76&to=77'],
    ...['audit?run=77', 'export?what=report&format=json&run=77', 'why?url=http://127.0.0.1:9/none'],
  ]) {
    const { status, body } = await service.get(`projects/${id}/${path}`);
    expect([path, status]).toEqual([path, 404]);
    expect(JSON.stringify(body)).not.toContain(service.address);
  }
});

function raw(text: string): Promise<string> {
  const { hostname, port } = new URL(service.url);
  return new Promise((resolve, reject) => {
    let answer = '';
    const socket = connect(Number(port), hostname, () => socket.write(text));
    socket.setEncoding('utf8').on('data', (piece: string) => {
      answer += piece;
    });
    socket.on('error', reject).on('close', () => resolve(answer));
  });
}

it('and the operator was told of no defect', () => {
  expect(service.log).toEqual([]);
});
