// Exports as streams over HTTP: whole while a run goes on, ended by who leaves, and never cut without a sign. And what a
// caller sees who may see one project only.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type FakeWeb, startFakeWeb } from '../web/fake-web.ts';
import { startService, type TestService, useService } from './start-serving.ts';

const start = useService();

describe('a stream of an export', () => {
  let web: FakeWeb;
  let made: Awaited<ReturnType<typeof startService>>;
  let service: TestService;
  let id: string;
  beforeAll(async () => {
    web = await startFakeWeb({ graph: { seed: 7, pages: 4000 } });
    made = await startService();
    service = made.service;
    id = await service.project('large', web.origin, { max_pages: 1000 });
    await service.crawl(id);
  }, 120_000);
  afterAll(async () => {
    await service.stop();
    await web.close();
    await made.remove();
  });

  const ask = (query: string, signal?: AbortSignal) =>
    fetch(`${service.url}/api/v1/projects/${id}/export?${query}`, { signal });

  async function known(filter = ''): Promise<number> {
    const { body } = await service.get(`projects/${id}/pages?limit=1&count=true${filter}`);
    expect(body.total_is_exact).toBe(true);
    return body.total;
  }

  it('has as many rows as the list, through many pages of results', async () => {
    const total = await known();
    expect(total).toBeGreaterThan(1500);
    const text = await (await ask('what=pages&format=jsonl&fields=id')).text();
    const ids = text.trim().split('\n');
    expect([ids.length, new Set(ids).size]).toEqual([total, total]);
    const skipped = await (await ask('what=pages&format=csv&fields=id&status=skipped')).text();
    expect(skipped.trim().split('\n').length - 1).toBe(await known('&status=skipped'));
    const links = await (await ask('what=links&format=jsonl')).text();
    const { body } = await service.get(`projects/${id}/links?limit=1&count=true`);
    // More are not counted.
    expect([body.total, body.total_is_exact]).toEqual([20_000, false]);
    const rows = links.trim().split('\n');
    expect([rows.length > 20_000, new Set(rows).size]).toEqual([true, rows.length]);
  });

  it('comes during a run, too', async () => {
    const begun = await service.post(`projects/${id}/phases/crawl/run`, { mode: 'full' });
    expect(begun.status).toBe(202);
    await service.until(id, ({ run, status }) => run === 2 || status !== 'in_progress');
    const rows = (await (await ask('what=pages&format=jsonl&fields=id')).text()).trim().split('\n');
    expect(new Set(rows).size).toBe(rows.length);
    expect(rows.length).toBeGreaterThan(1500);
    await service.until(id, ({ status }) => status === 'completed');
  });

  it('ends with its reader, and others go on', async () => {
    for (let n = 0; n < 12; n++) {
      const leaving = new AbortController();
      const answer = await ask('what=pages&format=jsonl&fields=id,content_text', leaving.signal);
      await answer.body!.getReader().read();
      leaving.abort();
    }
    for (let n = 0; n < 4; n++) {
      const leaving = new AbortController();
      const answered = ask('what=graph&format=jsonl', leaving.signal);
      const graph = service.get(`projects/${id}/graph?of=domains`);
      leaving.abort();
      await expect(answered).rejects.toThrow();
      expect((await graph).status).toBe(200);
    }
    const text = await (await ask('what=pages&format=jsonl&fields=id')).text();
    expect(text.trim().split('\n')).toHaveLength(await known());
    expect(service.log).toEqual([]);
  });

  it('breaks off where it fails midway: half a file does not look like a whole one', async () => {
    const answer = await ask('what=pages&format=json&fields=id,content_text,links_found');
    const reader = answer.body!.getReader();
    expect((await reader.read()).done).toBe(false);
    await service.serving.answering.side.close();
    await expect(
      (async () => {
        while (!(await reader.read()).done);
      })(),
    ).rejects.toThrow();
  });
});

describe('a caller of one project', () => {
  it('sees its runs only, and counts no others', async () => {
    const web = await startFakeWeb({ pages: { '/': '<title>one</title>' } });
    try {
      const all = await start({ tokens: [{ scopes: ['admin'] }] });
      const mine = await all.project('mine', web.origin);
      const theirs = await all.project('theirs', web.origin);
      await all.crawl(mine);
      await all.crawl(theirs);
      const token = (await all.post('tokens', { name: 'narrow', scopes: ['read'], projects: [mine] })).body
        .token;
      const { body } = await all.get('runs?count=true', { token });
      expect([body.total, body.items.map(({ project_id }: { project_id: string }) => project_id)]).toEqual([
        1,
        [mine],
      ]);
      for (const part of [
        'pages',
        'runs',
        'changes',
        'hosts',
        'links',
        'graph',
        'statistics',
        'audit',
        'views',
        'export?what=pages',
      ])
        expect([part, (await all.get(`projects/${theirs}/${part}`, { token })).status]).toEqual([part, 404]);
      expect((await all.post(`projects/${mine}/views`, { name: 'x', query: {} }, { token })).status).toBe(
        403,
      );
      expect((await all.get(`projects/${mine}/pages`, { token: null })).status).toBe(401);
    } finally {
      await web.close();
    }
  });
});
