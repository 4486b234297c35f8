/** POST P/query as programs send it: the rows, every mistake as a problem, and an end when the program goes away. */
import { describe, expect, it } from 'vitest';
import { page, useBench } from '../crawls/crawl-site.ts';
import { STORES, useService } from './start-serving.ts';

const bench = useBench();
const service = useService();

const ENDLESS = 'SELECT sum(a.range * b.range) FROM range(10000000000) a, range(1000) b';

describe.each(STORES)('a query over REST on %s', (store) => {
  it('is answered from the tables of its project, for readers too', async () => {
    const web = await bench.web({ pages: { '/': page('Home', '/a'), '/a': page('A') } });
    const one = await service({ store, tokens: [{}, { scopes: ['read'] }] });
    const id = await one.project('one', web.origin);
    await one.project('two', web.origin);
    await one.crawl(id);
    const [, reader] = one.secrets;
    const asked = await one.post(
      `projects/${id}/query`,
      { sql: 'SELECT title, status_code FROM pages WHERE title <> $1 ORDER BY id', params: ['B'], limit: 1 },
      { token: reader },
    );
    expect(asked).toMatchObject({
      status: 200,
      body: {
        columns: [
          { name: 'title', type: 'VARCHAR' },
          { name: 'status_code', type: 'INTEGER' },
        ],
        rows: [['Home', 200]],
        truncated: true,
      },
    });
    expect(asked.body.milliseconds).toBeGreaterThanOrEqual(0);
    const named = await one.post(`projects/${id}/query`, { sql: 'SELECT $a AS a', params: { a: [1, 2] } });
    expect(named.body.rows).toEqual([[[1, 2]]]);
    const projects = await one.post(`projects/${id}/query`, { sql: 'SELECT DISTINCT project FROM runs' });
    expect(projects.body.rows).toEqual([['one']]);
  });
});

describe('a query over REST', () => {
  it('that is wrong, writes, attaches or does not end is a problem, and nothing has changed', async () => {
    const one = await service({
      tokens: [{}, { scopes: ['write'], projects: ['00000000-0000-4000-8000-000000000000'] }],
    });
    const id = await one.project('one', 'http://127.0.0.1:9/');
    const path = `projects/${id}/query`;
    const cases: [body: unknown, status: number, code: string][] = [
      [{ sql: 'DELETE FROM pages' }, 400, 'query-refused'],
      [{ sql: "ATTACH 'x.db'" }, 400, 'query-refused'],
      [{ sql: 'SELECT 1; SELECT 2' }, 400, 'query-refused'],
      [{ sql: 'SELEC 1' }, 400, 'sql-syntax'],
      [{ sql: 'FROM nothing' }, 400, 'query-no-table'],
      [{ sql: '' }, 400, 'request-invalid'],
      [{ sql: 'x'.repeat(100_001) }, 400, 'request-invalid'],
      [{ sql: 'SELECT \u0000' }, 400, 'request-invalid'],
      [{}, 400, 'request-invalid'],
      [{ sql: 'SELECT 1', limit: 0 }, 400, 'request-invalid'],
      [{ sql: 'SELECT 1', limit: 10_001 }, 400, 'request-invalid'],
      [{ sql: 'SELECT 1', params: 'x' }, 400, 'request-invalid'],
      [{ sql: 'SELECT 1', params: [{ a: 1 }] }, 400, 'request-invalid'],
      [{ sql: 'SELECT 1', other: 1 }, 400, 'request-invalid'],
      [{ sql: ENDLESS }, 408, 'query-timeout'],
    ];
    for (const [body, status, code] of cases) {
      const asked = await one.post(path, body);
      expect([asked.status, asked.body.code], JSON.stringify(body).slice(0, 80)).toEqual([status, code]);
      expect(asked.body.hint).not.toBe('');
    }
    const unknown = 'projects/00000000-0000-4000-8000-000000000001/query';
    expect((await one.post(unknown, { sql: 'SELECT 1' })).status).toBe(404);
    expect((await one.post(path, { sql: 'SELECT 1' }, { token: one.secrets[1] })).status).toBe(404);
    expect((await one.post(path, { sql: 'SELECT 1' }, { token: null })).status).toBe(401);
    expect((await one.post(path, { sql: 'SELECT count(*) FROM pages' })).body.rows).toEqual([[0]]);
  });

  it('of one program is not held up by endless ones of another', async () => {
    const one = await service({ tokens: [{}, {}] });
    const id = await one.project('one', 'http://127.0.0.1:9/');
    const [greedy, modest] = one.secrets;
    const ask = (token: string, sql: string) => one.post(`projects/${id}/query`, { sql }, { token });
    // All processes are there.
    await Promise.all([greedy, greedy, modest].map((token) => ask(token, 'SELECT 1')));
    const leave = new AbortController();
    let over = 0;
    const endless = Array.from({ length: 8 }, () =>
      fetch(`${one.url}/api/v1/projects/${id}/query`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization: `Bearer ${greedy}` },
        body: JSON.stringify({ sql: ENDLESS }),
        signal: leave.signal,
      })
        .catch(() => {})
        .then(() => over++),
    );
    // Those came first.
    await one.get('session', { token: greedy });
    const asked = await ask(modest, 'SELECT 3');
    expect([asked.status, asked.body.rows, over]).toEqual([200, [[3]], 0]);
    leave.abort();
    await Promise.all(endless);
  });

  it('ends when the program goes away: the next ones are answered at once', async () => {
    const one = await service();
    const id = await one.project('one', 'http://127.0.0.1:9/');
    const url = `${one.url}/api/v1/projects/${id}/query`;
    const ask = (sql: string, signal?: AbortSignal) =>
      fetch(url, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ sql }),
        signal,
      });
    expect((await ask('SELECT 1')).status).toBe(200);
    const leave = new AbortController();
    const left = [1, 2, 3, 4].map(() => ask(ENDLESS, leave.signal).catch((error: Error) => error.name));
    // Both processes are busy, and two more wait.
    const behind = ask('SELECT 2');
    leave.abort();
    expect(await Promise.all(left)).toEqual(Array(4).fill('AbortError'));
    const answer = await behind;
    expect([answer.status, ((await answer.json()) as { rows: unknown }).rows]).toEqual([200, [[2]]]);
    expect(one.log).toEqual([]);
  });
});
