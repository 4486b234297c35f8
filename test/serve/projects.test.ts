// Projects over HTTP on both stores: made, listed, changed, deleted, restored, purged; what a wrong request is told.
import { describe, expect, it } from 'vitest';
import { useBench } from '../crawls/crawl-site.ts';
import { STORES, useService } from './start-serving.ts';

const start = useService();
const bench = useBench();

const SITE = { pages: { '/': '<title>home</title><a href="/a">a</a>', '/a': '<title>a</title>' } };

describe.each(STORES)('projects on %s', (store) => {
  it('are made with defaults, crawled, and answered whole', async () => {
    const web = await bench.web(SITE);
    const service = await start({ store });
    const made = await service.post('projects', { name: ' My shop ', website_url: web.origin });
    expect(made.status).toBe(201);
    expect(made.headers.get('location')).toBe(`/api/v1/projects/${made.body.id}`);
    expect(made.body).toMatchObject({
      name: 'My shop',
      website_url: `${web.origin}/`,
      settings: {
        max_pages: 200,
        include_patterns: '',
        exclude_patterns: '',
        max_concurrent: 5,
        delay_seconds: 0.5,
        respect_robots_txt: true,
        fetch_only_urls: null,
      },
      phase: { status: 'pending', state: 'pending', run: null, progress: 0 },
      last_run: null,
      next_run_at: null,
      counts: { pages: 0, success: 0, failed: 0, skipped: 0, waiting: 0, is_exact: true },
      deleted_at: null,
    });
    expect(made.body.id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    const changed = await service.patch(`projects/${made.body.id}`, {
      settings: { delay_seconds: 0, max_depth: 3 },
    });
    expect(changed.body.settings).toMatchObject({ delay_seconds: 0, max_depth: 3, max_pages: 200 });
    const phase = await service.crawl(made.body.id);
    expect(phase).toMatchObject({ status: 'completed', state: 'completed', progress: 100 });
    const { body } = await service.get(`projects/${made.body.id}`);
    expect(body).toMatchObject({
      phase: { status: 'completed' },
      last_run: { state: 'completed', type: 'initial' },
      counts: { pages: 2, success: 2, is_exact: true },
    });
    expect((await service.get('projects?count=true')).body).toMatchObject({
      items: [{ id: made.body.id }],
      next_cursor: null,
      total: 1,
      total_is_exact: true,
    });
  });

  it('are changed, deleted, restored and purged', async () => {
    const service = await start({ store });
    const id = await service.project('one', 'http://127.0.0.1:9/', { max_pages: 7, crawler_name: 'Otter' });
    const { body: changed } = await service.patch(`projects/${id}`, {
      name: 'two',
      website_url: '127.0.0.1:10/shop',
      settings: { max_pages: null, crawler_name: null, include_patterns: '/a/,/b{2,3}/' },
    });
    expect(changed).toMatchObject({ name: 'two', website_url: 'https://127.0.0.1:10/shop' });
    expect(changed.settings).toMatchObject({ max_pages: 200, include_patterns: '/a/,/b{2,3}/' });
    expect(changed.settings).not.toHaveProperty('crawler_name');
    expect((await service.ask('DELETE', `projects/${id}`)).status).toBe(204);
    expect((await service.ask('DELETE', `projects/${id}`)).status).toBe(404);
    expect((await service.get('projects')).body.items).toEqual([]);
    expect((await service.get('projects?state=deleted')).body.items).toMatchObject([{ id, name: 'two' }]);
    expect((await service.get(`projects/${id}`)).body.deleted_at).not.toBeNull();
    expect((await service.post(`projects/${id}/phases/crawl/run`)).status).toBe(404);
    const restored = await service.post(`projects/${id}/restore`);
    expect([restored.status, restored.body.deleted_at]).toEqual([200, null]);
    expect((await service.ask('DELETE', `projects/${id}?purge=true`)).status).toBe(202);
    for (const state of ['active', 'deleted', 'all'])
      expect((await service.get(`projects?state=${state}`)).body.items).toEqual([]);
    expect((await service.get(`projects/${id}`)).status).toBe(404);
  });

  it('are listed by name, a part of it, and page by page', async () => {
    const service = await start({ store });
    for (const name of ['Delta', 'alpha', 'charlie', 'bravo'])
      await service.project(name, 'https://127.0.0.1:9/');
    const { body: first } = await service.get('projects?sort=name&limit=3');
    const { body: second } = await service.get(`projects?sort=name&limit=3&cursor=${first.next_cursor}`);
    const names = [...first.items, ...second.items].map(({ name }: { name: string }) => name);
    expect([...names].sort()).toEqual(['Delta', 'alpha', 'bravo', 'charlie']);
    const { body: back } = await service.get(`projects?sort=name&limit=3&cursor=${second.prev_cursor}`);
    expect(back.items).toEqual(first.items);
    expect((await service.get('projects?q=HARL')).body.items).toMatchObject([{ name: 'charlie' }]);
    const other = await service.get(`projects?sort=created_at&cursor=${first.next_cursor}`);
    expect([other.status, other.body.code]).toEqual([400, 'cursor-of-other-list']);
  });

  it('have names of their own', async () => {
    const service = await start({ store });
    await service.project('taken', 'https://127.0.0.1:9/');
    const id = await service.project('free', 'https://127.0.0.1:9/');
    for (const answer of [
      await service.post('projects', { name: 'taken', website_url: 'https://127.0.0.1:9/' }),
      await service.patch(`projects/${id}`, { name: 'taken' }),
    ])
      expect([answer.status, answer.body]).toMatchObject([
        409,
        { code: 'project-exists', errors: [{ pointer: '/name' }] },
      ]);
    expect((await service.get('projects')).body.items).toHaveLength(2);
  });
});

describe('robots.txt', () => {
  it('is ignored by a project only where operator and project want it', async () => {
    const web = await bench.web({ ...SITE, robots: 'User-agent: *\nDisallow: /' });
    const service = await start({ options: { robots: false } });
    const obeying = await service.project('obeying', web.origin);
    expect((await service.crawl(obeying)).pages_crawled).toBe(0);
    const ignoring = await service.project('ignoring', web.origin, { respect_robots_txt: false });
    expect((await service.get(`projects/${ignoring}`)).body.settings.respect_robots_txt).toBe(false);
    expect((await service.crawl(ignoring)).pages_crawled).toBe(2);
  });
});
