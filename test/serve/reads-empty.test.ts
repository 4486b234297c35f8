// What is read of a project before its first run, and after it was deleted: empty or not there, and never a failure.
import { describe, expect, it } from 'vitest';
import { STORES, useService } from './start-serving.ts';

const start = useService();

const PAGE = '00000000-0000-8000-8000-000000000000';
const EMPTY = [
  'pages',
  'runs',
  'crawl-history',
  'changes',
  'changes?since=2020-01-01',
  'hosts',
  'links',
  'links?broken=true',
  'views',
];
const WHOLE = ['graph', 'graph?of=pages', 'graph?of=domains', 'statistics', 'audit'];
const FILES = [
  'what=pages',
  'what=pages&format=parquet',
  'what=links',
  'what=changes',
  'what=changes&format=atom',
  'what=graph',
];
const MISSING = [
  ...[
    `pages/${PAGE}`,
    `pages/${PAGE}/history`,
    'runs/1',
    'runs/1/log',
    'compare?from=1&to=2',
    'changes?since=1',
  ],
  ...['why?url=https://example.com/', 'export?what=report', `views/${PAGE}`, 'audit?run=1'],
];

describe.each(STORES)('a project without a run on %s', (store) => {
  it('is empty, and not there once it is deleted', async () => {
    const service = await start({ store });
    const id = await service.project('idle', 'https://127.0.0.1:9/');
    const statusOf = async (path: string) => [path, (await service.get(`projects/${id}/${path}`)).status];
    for (const path of EMPTY) {
      const { status, body } = await service.get(
        `projects/${id}/${path}${path.includes('?') ? '&' : '?'}count=true`,
      );
      expect([path, status, body]).toEqual([
        path,
        200,
        { items: [], next_cursor: null, prev_cursor: null, total: 0, total_is_exact: true },
      ]);
    }
    for (const path of WHOLE) expect(await statusOf(path)).toEqual([path, 200]);
    for (const query of FILES) expect(await statusOf(`export?${query}`)).toEqual([`export?${query}`, 200]);
    for (const path of MISSING) expect(await statusOf(path)).toEqual([path, 404]);
    expect((await service.ask('DELETE', `projects/${id}`)).status).toBe(204);
    for (const path of [...EMPTY, ...WHOLE, ...MISSING, 'export?what=pages'])
      expect(await statusOf(path)).toEqual([path, 404]);
    expect(service.log).toEqual([]);
  });
});
