// What a program knows of what it saw: ETag, If-None-Match and If-Match on both stores; POST that is repeated with a key is
// done once, and answered the same.
import { describe, expect, it } from 'vitest';
import { useBench } from '../crawls/crawl-site.ts';
import { type Answer, STORES, useService } from './start-serving.ts';

const start = useService();
const bench = useBench();

const SITE = 'http://127.0.0.1:9/';

describe.each(STORES)('on %s', (store) => {
  it('an unchanged resource is not sent again', async () => {
    const service = await start({ store });
    const id = await service.project('one', SITE);
    for (const path of [`projects/${id}`, `projects/${id}/phases/crawl/status`, 'info', 'options']) {
      const first = await service.get(path);
      const tag = first.headers.get('etag')!;
      expect(tag).toMatch(/^"[^"]+"$/);
      for (const known of [tag, `"other", ${tag}`, `W/${tag}`, '*']) {
        const again = await service.get(path, { headers: { 'if-none-match': known } });
        expect([path, again.status, again.body, again.headers.get('etag')]).toEqual([path, 304, '', tag]);
      }
      expect((await service.get(path, { headers: { 'if-none-match': '"other"' } })).status).toBe(200);
      const head = await service.ask('HEAD', path, { headers: { 'if-none-match': tag } });
      expect([head.status, head.headers.get('etag')]).toEqual([304, tag]);
    }
    const before = (await service.get(`projects/${id}`)).headers.get('etag')!;
    const changed = await service.patch(`projects/${id}`, { name: 'two' });
    const now = await service.get(`projects/${id}`, { headers: { 'if-none-match': before } });
    expect([now.status, now.headers.get('etag')]).toEqual([200, changed.headers.get('etag')]);
    expect((await service.get('projects')).headers.get('etag')).toBeNull();
  });

  it('a change is made only to what was seen, whoever comes first', async () => {
    const service = await start({ store });
    const id = await service.project('one', SITE);
    const seen = (await service.get(`projects/${id}`)).headers.get('etag')!;
    const change = (name: string, tag: string) =>
      service.patch(`projects/${id}`, { name }, { headers: { 'if-match': tag } });
    const answers = await Promise.all(['a', 'b', 'c', 'd'].map((name) => change(name, seen)));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 412, 412, 412]);
    const refused = answers.find(({ status }) => status === 412)!;
    expect(refused.body.code).toBe('precondition-failed');
    const winner = answers.find(({ status }) => status === 200)!;
    expect((await service.get(`projects/${id}`)).body.name).toBe(winner.body.name);
    expect((await change('e', '"nothing"')).status).toBe(412);
    expect((await change('e', winner.headers.get('etag')!)).status).toBe(200);
    expect((await change('f', '*')).status).toBe(200);
    expect((await service.patch(`projects/${id}`, { name: 'g' })).status).toBe(200);
  });

  it('a crawl does not stand in the way of a change', async () => {
    const web = await bench.web({ pages: { '/': 'home' } });
    const service = await start({ store });
    const id = await service.project('one', web.origin);
    const before = await service.get(`projects/${id}`);
    await service.crawl(id);
    const after = await service.get(`projects/${id}`);
    expect(after.headers.get('etag')).not.toBe(before.headers.get('etag'));
    const headers = { 'if-match': before.headers.get('etag')! };
    expect((await service.patch(`projects/${id}`, { name: 'two' }, { headers })).status).toBe(200);
  });

  it('a repeated POST is done once', async () => {
    const service = await start({ store, tokens: [{}, {}] });
    const body = { name: 'one', website_url: SITE, settings: { max_pages: 5, max_depth: 2 } };
    const keyed = (key: string, token?: string) => ({ headers: { 'idempotency-key': key }, token });
    const answers = await Promise.all(
      Array.from({ length: 6 }, () => service.post('projects', body, keyed('k1'))),
    );
    const done = answers.filter(({ status }) => status === 201);
    expect(answers.every(({ status, body }) => status === 201 || body.code === 'idempotency-under-way')).toBe(
      true,
    );
    expect(new Set(done.map(({ body }) => body.id)).size).toBe(1);
    const [first] = done;
    const again = await service.post(
      'projects',
      { settings: { max_depth: 2, max_pages: 5 }, website_url: SITE, name: 'one' },
      keyed('k1'),
    );
    const told = ({ status, body, headers }: Answer) => [
      status,
      body,
      headers.get('location'),
      headers.get('etag'),
    ];
    expect(told(again)).toEqual(told(first));
    expect(again.headers.get('idempotency-replayed')).toBe('true');
    const { status, body: problem } = await service.post('projects', { ...body, name: 'two' }, keyed('k1'));
    expect([status, problem.code]).toEqual([422, 'idempotency-other-request']);
    const elsewhere = await service.post(`projects/${first.body.id}/restore`, undefined, keyed('k1'));
    expect(elsewhere.status).toBe(422);
    // Another token has keys of its own: the name is taken, nothing is replayed.
    const other = await service.post('projects', body, keyed('k1', service.secrets[1]));
    expect([other.status, other.body.code]).toEqual([409, 'project-exists']);
    // What failed was not done, and may be tried again.
    await service.patch(`projects/${first.body.id}`, { name: 'renamed' });
    expect((await service.post('projects', body, keyed('k1', service.secrets[1]))).status).toBe(201);
    expect((await service.get('projects?count=true')).body.total).toBe(2);
    for (const key of ['', 'ä', 'a b', 'x'.repeat(256)].map((text) => Buffer.from(text).toString('latin1')))
      expect((await service.post('projects', body, keyed(key))).body.code).toBe('idempotency-key-invalid');
  });

  it('a repeated start of a run starts one', async () => {
    const web = await bench.web({ pages: { '/': 'home' } });
    const service = await start({ store });
    const id = await service.project('one', web.origin);
    const headers = { 'idempotency-key': 'run' };
    const path = `projects/${id}/phases/crawl/run`;
    const first = await service.post(path, { meta: { by: 'test' } }, { headers });
    expect([first.status, first.headers.get('location')]).toEqual([
      202,
      `/api/v1/projects/${id}/phases/crawl/status`,
    ]);
    await service.until(id, ({ state }) => state === 'completed');
    const again = await service.post(path, { meta: { by: 'test' } }, { headers });
    expect([again.status, again.body]).toEqual([202, first.body]);
    expect((await service.get(`projects/${id}/runs`)).body.items).toHaveLength(1);
  });
});
