/** Agents: every tool through every official client, in both eras of the protocol, over both ways. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { page, useBench } from '../crawls/crawl-site.ts';
import { sharedPostgres } from '../servers/shared-postgres.ts';
import { answer } from '../web/fake-web.ts';
import { CLIENTS, type ClientKind, connectAgent, type TestAgent, type Way } from './agent-clients.ts';
import { useService } from './start-serving.ts';

const bench = useBench();
const service = useService();
const ends: (() => Promise<void> | void)[] = [];

afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

const QUICK = { delay_seconds: 0, adaptive_delay: false, discover: ['links'] };
const TOOLS = [
  ...['start_crawl', 'crawl_status', 'stop_crawl', 'list_projects', 'list_pages', 'get_page', 'search'],
  ...['changes', 'compare', 'query', 'why'],
];

async function connect(kind: ClientKind, way: Way): Promise<TestAgent> {
  const agent = await connectAgent(kind, way);
  ends.push(() => agent.close());
  return agent;
}

type WayName = 'stdio' | 'HTTP' | 'stdio on PostgreSQL' | 'HTTP on PostgreSQL';

async function wayOf(name: WayName): Promise<Way> {
  const store = name.endsWith('PostgreSQL') ? 'PostgreSQL' : 'SQLite';
  if (name.startsWith('HTTP')) return { url: `${(await service({ store })).url}/mcp` };
  if (store === 'PostgreSQL') {
    const server = await sharedPostgres();
    const address = await server.newDatabase();
    ends.push(() => server.dropDatabase(address));
    return { stdio: ['--store', address, '--egress-allow', '127.0.0.0/8', '--key-file', keyFile()] };
  }
  const folder = mkdtempSync(join(tmpdir(), 'sumi-mcp-'));
  ends.push(() => rmSync(folder, { recursive: true, force: true }));
  return { stdio: ['--db', join(folder, 'sumi.db'), '--egress-allow', '127.0.0.0/8'] };
}

function keyFile(): string {
  const folder = mkdtempSync(join(tmpdir(), 'sumi-mcp-'));
  ends.push(() => rmSync(folder, { recursive: true, force: true }));
  return join(folder, 'key');
}

const COMBINATIONS: (readonly [ClientKind, WayName])[] = [
  ...(['stdio', 'HTTP'] as const).flatMap((way) => CLIENTS.map((client) => [client, way] as const)),
  ['client 2026-07-28', 'stdio on PostgreSQL'],
  ['client initialize', 'HTTP on PostgreSQL'],
];

describe.each(COMBINATIONS)('%s over %s', (kind, wayName) => {
  it('crawls a site twice and hears all about it', async () => {
    let words = 'first words';
    const web = await bench.web({
      robots: 'User-agent: *\nDisallow: /private',
      pages: {
        '/': page('Home', '/a', '/gone', '/private'),
        '/a': (exchange) => answer(exchange, { body: `<title>Page A</title><p>${words}</p>` }),
      },
    });
    const agent = await connect(kind, await wayOf(wayName));
    expect(agent.tools.map(({ name }) => name)).toEqual(TOOLS);
    expect(agent.instructions).toContain('start_crawl');
    if (kind === 'client 2026-07-28') expect(agent.version).toBe('2026-07-28');

    const begun = await agent.get('start_crawl', { url: web.origin, max_pages: 10, ...QUICK });
    expect(begun).toMatchObject({ started: true, project_name: new URL(web.origin).host });
    const { project_id } = begun;
    const until = async (state: string) =>
      await expect
        .poll(async () => (await agent.get('crawl_status', { project_id })).phase.state, { timeout: 20_000 })
        .toBe(state);
    await until('completed');
    expect((await agent.get('crawl_status', { project_id })).phase).toMatchObject({
      progress: 100,
      status: 'completed',
    });

    const { projects } = await agent.get('list_projects');
    expect(projects).toMatchObject([{ project_id, website_url: `${web.origin}/`, state: 'completed' }]);
    const { pages } = await agent.get('list_pages', { project_id });
    expect(
      pages.map(({ url, status }: { url: string; status: string }) => [url.replace(web.origin, ''), status]),
    ).toEqual([
      ['/', 'success'],
      ['/a', 'success'],
      ['/gone', 'skipped'],
      ['/private', 'skipped'],
    ]);
    expect(
      (await agent.get('list_pages', { project_id, status: 'skipped', reason: 'robots' })).pages,
    ).toHaveLength(1);
    const byId = await agent.get('get_page', { project_id, page_id: pages[1].page_id });
    expect(byId.page).toMatchObject({
      status_code: 200,
      untrusted: { title: 'Page A', text: 'first words' },
    });
    expect(await agent.get('get_page', { project_id, url: `${web.origin}/a#x` })).toEqual(byId);
    const found = await agent.get('search', { project_id, query: 'first words' });
    expect(found.pages).toMatchObject([{ url: `${web.origin}/a`, untrusted: { excerpt: 'first words' } }]);
    const rows = await agent.get('query', {
      project_id,
      sql: 'SELECT title, status_code FROM pages WHERE status_code = $code ORDER BY url',
      params: { code: 200 },
    });
    expect(rows).toMatchObject({
      untrusted_rows: [
        ['Home', 200],
        ['Page A', 200],
      ],
      next_cursor: null,
    });
    expect(await agent.get('why', { project_id, url: `${web.origin}/private` })).toMatchObject({
      state: 'Skipped',
      reason: 'robots: Disallow /private',
      path: [`${web.origin}/`],
    });

    words = 'other words';
    const again = await agent.get('start_crawl', { url: web.origin });
    expect(again).toMatchObject({ project_id, started: true });
    await until('completed');
    expect((await agent.get('crawl_status', { project_id })).phase.run).toBe(2);
    const { changes } = await agent.get('changes', { project_id });
    expect(changes).toMatchObject([{ url: `${web.origin}/a`, outcome: 'changed', run: 2, words_added: 1 }]);
    expect(changes[0].untrusted.text).toContain('{+other+}');
    expect(await agent.get('compare', { project_id, from: 1, to: 2 })).toMatchObject({
      counts: { changed: 1 },
      changes: [{ url: `${web.origin}/a` }],
    });
    const stopped = await agent.call('stop_crawl', { project_id });
    expect(stopped).toMatchObject({ isError: true, data: { code: 'run-not-under-way' } });
  });
});

describe.each(CLIENTS)('%s', (kind) => {
  it('hears of mistakes as answers with code, message and hint', async () => {
    const agent = await connect(kind, await wayOf('HTTP'));
    const mistakes: [tool: string, args: object, code: string, pointer?: string][] = [
      ['start_crawl', {}, 'request-invalid', '/url'],
      ['start_crawl', { url: 'ftp://example.com/' }, 'request-invalid', '/url'],
      ['start_crawl', { url: 'http://169.254.169.254/' }, 'egress-refused', '/url'],
      ['start_crawl', { url: 'http://localhost/' }, 'egress-refused', '/url'],
      ['start_crawl', { url: 'http://127.0.0.1:1/', max_page: 3 }, 'request-invalid', '/max_page'],
      ['start_crawl', { url: 'http://127.0.0.1:1/', max_pages: 'many' }, 'request-invalid', '/max_pages'],
      ['start_crawl', { url: 'http://127.0.0.1:1/', respect_robots_txt: false }, 'robots-fixed'],
      ['crawl_status', { project_id: 'no uuid' }, 'project-unknown'],
      ['list_pages', { project_id: '00000000-0000-4000-8000-000000000000' }, 'project-unknown'],
      ['list_projects', { limit: 51 }, 'request-invalid', '/limit'],
      ['list_projects', { cursor: 'x' }, 'cursor-unreadable', '/cursor'],
    ];
    for (const [tool, args, code, pointer] of mistakes) {
      const { isError, data, whole } = await agent.call(tool, args);
      expect({ tool, args, isError, code: data.code }).toEqual({ tool, args, isError: true, code });
      expect(data.message).not.toBe('');
      expect(data.hint).not.toBe('');
      if (pointer !== undefined) expect(data.errors[0].pointer).toBe(pointer);
      expect(JSON.stringify(whole)).not.toMatch(/\.ts:\d|node_modules|\bat \w+ \(/);
    }
  });
});
