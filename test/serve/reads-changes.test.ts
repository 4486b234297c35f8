// Runs, what changed, and the comparison of runs over HTTP on both stores: the same as the use cases of the commands tell.
import { describe, expect, it } from 'vitest';
import { xhtmlToHtml } from '../../src/parse/xhtml-to-html.ts';
import { compareTwoRuns } from '../../src/project/compare-two-runs.ts';
import { listChanges } from '../../src/project/list-changes.ts';
import { openReading } from '../../src/project/reading.ts';
import { judge } from '../graph/outside-program.ts';
import { HOSTILE_TITLE, useReadWorld } from './reads-site.ts';
import { type Loose, STORES } from './start-serving.ts';

describe.each(STORES)('what changed on %s', (store) => {
  const world = useReadWorld(store);
  const pathsOf = (items: Loose[]) => items.map(({ url }) => new URL(url).pathname).sort();

  /** As the commands tell it. */
  async function byCommands(ask: 'changes' | 'compare', since?: number): Promise<Loose[]> {
    const reading = await openReading(world().service.address, 'Read & <me>');
    try {
      const told =
        ask === 'compare'
          ? await compareTwoRuns(reading, [1, 2])
          : await listChanges(reading, {
              ...(since === undefined ? {} : { sinceMs: since }),
              now: Date.now(),
            });
      const rows: Loose[] = [];
      for await (const row of told.rows()) rows.push(row);
      return JSON.parse(JSON.stringify(rows));
    } finally {
      await reading.close();
    }
  }

  const comparable = (rows: Loose[]) =>
    rows
      .map(({ page_id: _, project: __, text_steps = [], ...row }) => ({ ...row, text_steps }))
      .sort((a, b) => (a.url < b.url ? -1 : 1));

  it('is told of the last run, as many rows as the total says', async () => {
    const items = await world().all('changes', 2);
    expect(pathsOf(items)).toEqual(['/docs/one', '/docs/three', '/hostile', '/leaving']);
    expect(comparable(items)).toEqual(comparable(await byCommands('changes')));
    const { total, total_is_exact } = await world().read<Loose>('changes?count=true&limit=1');
    expect([total, total_is_exact]).toEqual([4, true]);
    expect(items.find(({ title }) => title === 'One, again')).toMatchObject({
      page_id: (await world().page('/docs/one')).id,
      ...{ outcome: 'changed', run: 2, known_by: 'content' },
    });
  });

  it('is told of several runs as what they come to', async () => {
    const since = Date.parse('2020-01-01T00:00:00Z');
    const items = await world().all('changes?since=2020-01-01T00:00:00Z', 2);
    expect(comparable(items)).toEqual(comparable(await byCommands('changes', since)));
    expect(new Set(items.map(({ page_id }) => page_id)).size).toBe(items.length);
    const { total } = await world().read<Loose>('changes?since=2020-01-01&count=true&limit=2');
    expect(total).toBe(items.length);
    expect(await world().all('changes?since=1', 2)).toEqual(await world().all('changes', 2));
    expect(await world().all('changes?since=2')).toEqual([]);
    expect(await world().all('changes?since=2999-01-01')).toEqual([]);
    const back = await world().read<Loose>('changes?since=2020-01-01&limit=2');
    const next = await world().read<Loose>(`changes?since=2020-01-01&limit=2&cursor=${back.next_cursor}`);
    const again = await world().read<Loose>(`changes?since=2020-01-01&limit=2&cursor=${next.prev_cursor}`);
    expect(again.items).toEqual(back.items);
  });

  it('is filtered by outcome and by part', async () => {
    expect(pathsOf(await world().all('changes?outcome=gone,new'))).toEqual(['/docs/three', '/leaving']);
    expect(pathsOf(await world().all('changes?part=text'))).toContain('/docs/one');
    expect(pathsOf(await world().all('changes?part=text'))).not.toContain('/hostile');
    const failed = await world().all('changes?since=2020-01-01&outcome=failed');
    expect(pathsOf(failed)).toEqual(['/broken', '/missing']);
    const { total } = await world().read<Loose>('changes?part=title&count=true');
    expect(total).toBe((await world().all('changes?part=title')).length);
    for (const query of [
      'since=yesterday',
      'since=0',
      'outcome=moved',
      'part=x',
      'format=html',
      'cursor=x',
      'limit=0',
    ])
      expect([query, (await world().service.get(`projects/${world().id}/changes?${query}`)).status]).toEqual([
        query,
        400,
      ]);
    expect((await world().service.get(`projects/${world().id}/changes?since=99`)).status).toBe(404);
    const { next_cursor } = await world().read<Loose>('changes?limit=1');
    const other = await world().service.get(
      `projects/${world().id}/changes?limit=1&part=title&cursor=${next_cursor}`,
    );
    expect([other.status, other.body.code]).toEqual([400, 'cursor-of-other-list']);
  });

  it('is a valid Atom feed with ids that stay', async () => {
    const path = `projects/${world().id}/changes?format=atom&limit=3`;
    const { body, headers } = await world().service.get(path);
    expect(headers.get('content-type')).toBe('application/atom+xml; charset=utf-8');
    expect(xhtmlToHtml(body)).not.toBeNull();
    const xpath = (expression: string) => judge('xmllint', ['--xpath', expression, '-'], body).stdout.trim();
    const named = (name: string) => `/*[local-name()="feed"]/*[local-name()="${name}"]`;
    if (judge('xmllint', ['--version'], '').status === 0) {
      expect(judge('xmllint', ['--noout', '-'], body).stderr).toBe('');
      expect(xpath(`count(${named('entry')})`)).toBe('3');
      expect(xpath(`string(${named('title')})`)).toBe('Changes of Read & <me>');
      expect(xpath(`string(${named('link')}[@rel="self"]/@href)`)).toBe(
        `${world().service.url}/api/v1/${path}`,
      );
      const next = xpath(`string(${named('link')}[@rel="next"]/@href)`);
      const second = await world().service.get(new URL(next).pathname + new URL(next).search);
      expect(second.body.match(/<entry>/g)).toHaveLength(1);
      const all = body + second.body;
      expect(all).not.toContain('<script>');
      expect(all).toContain('&lt;script&gt;alert(1)');
    }
    const idsOf = (text: string) => [...text.matchAll(/<id>([^<]+)<\/id>/g)].map(([, id]) => id);
    const again = await world().service.get(path);
    expect(idsOf(again.body)).toEqual(idsOf(body));
    expect(new Set(idsOf(body)).size).toBe(4);
    expect(body).toMatch(/<updated>\d{4}-\d\d-\d\dT/);
    expect(HOSTILE_TITLE).toContain(']]>');
  });

  it('between two runs is what the comparison of the commands says', async () => {
    const items = await world().all('compare?from=1&to=2', 2);
    expect(comparable(items)).toEqual(comparable(await byCommands('compare')));
    expect(items.map(({ outcome }) => outcome).sort()).toEqual(['added', 'changed', 'changed', 'removed']);
    const whole = await world().read<Loose>('compare?from=2&to=1&count=true');
    expect(whole).toMatchObject({
      ...{ from: 1, to: 2, total: items.length, total_is_exact: true },
      counts: { changed: 2, added: 1, removed: 1, failed: 0, unvisited: 0 },
    });
    expect(pathsOf(await world().all('compare?from=1&to=2&outcome=added'))).toEqual(['/docs/three']);
    for (const [query, status] of [
      ['from=1', 400],
      ['from=1&to=1', 400],
      ['from=1&to=3', 404],
      ['from=1&to=99', 404],
      ['from=a&to=b', 400],
      ['from=1&to=2&outcome=x', 400],
    ] as const)
      expect([query, (await world().service.get(`projects/${world().id}/compare?${query}`)).status]).toEqual([
        query,
        status,
      ]);
  });

  it('belongs to runs, with their type and a summary', async () => {
    const runs = await world().all('runs', 1);
    expect(runs.map(({ run, type, state, status }) => [run, type, state, status])).toEqual([
      [2, 'manual', 'completed', 'completed'],
      [1, 'initial', 'completed', 'completed'],
    ]);
    expect(runs[0]).toMatchObject({
      ...{ project_id: world().id, mode: 'full', error: null },
      change_summary: { new: 1, changed: 2, gone: 1 },
    });
    expect(runs[0].statistics.pages).toBeGreaterThan(5);
    expect(await world().read('runs/2')).toEqual(runs[0]);
    expect(await world().all('crawl-history', 1)).toEqual(runs);
    expect(await world().all('runs?state=failed,stopped')).toEqual([]);
    expect(await world().read('runs?state=completed&count=true')).toMatchObject({
      total: 2,
      total_is_exact: true,
    });
    expect(await world().all('runs/2/changes', 2)).toEqual(await world().all('changes', 2));
    expect(pathsOf(await world().all('runs/1/changes?outcome=failed'))).toEqual([
      '/broken',
      '/docs/three',
      '/missing',
    ]);
    const all = (await world().service.get('runs?count=true')).body;
    expect([all.total, all.items.map(({ run }: Loose) => run)]).toEqual([3, [3, 2, 1]]);
    for (const path of [
      'runs/3',
      'runs/3/log',
      'runs/3/changes',
      'runs/0',
      'runs/x',
      'runs/99999999999',
      'runs/-1',
    ])
      expect([path, (await world().service.get(`projects/${world().id}/${path}`)).status]).toEqual([
        path,
        404,
      ]);
    for (const query of ['state=done', 'limit=0', 'cursor=x'])
      expect((await world().service.get(`projects/${world().id}/runs?${query}`)).status).toBe(400);
  });

  it('is in the log of a run, page by page', async () => {
    const entries = await world().all('runs/2/log', 1);
    expect(entries.map(({ nth }) => nth)).toEqual(entries.map((_, index) => index + 1));
    expect([entries[0].type, entries.at(-1).type]).toEqual(['started', 'completed']);
    const first = await world().read<Loose>('runs/2/log?limit=1&count=true');
    expect([first.total, first.prev_cursor]).toEqual([entries.length, null]);
    const second = await world().read<Loose>(`runs/2/log?limit=1&cursor=${first.next_cursor}`);
    const back = await world().read<Loose>(`runs/2/log?limit=1&cursor=${second.prev_cursor}`);
    expect(back.items).toEqual(first.items);
    expect((await world().service.get(`projects/${world().id}/runs/2/log?cursor=x`)).status).toBe(400);
  });

  it('stays what it was for who reads on while another run finds more', async () => {
    for (const query of ['since=last', 'since=2020-01-01']) {
      const whole = await world().all(`changes?${query}`, 2);
      const first = await world().read<Loose>(`changes?${query}&limit=2`);
      await world().service.crawl(world().id, { mode: 'full' });
      const rest: Loose[] = [];
      for (let cursor = first.next_cursor; cursor !== null; ) {
        const some = await world().read<Loose>(`changes?${query}&limit=2&cursor=${cursor}`);
        rest.push(...some.items);
        cursor = some.next_cursor;
      }
      expect([...first.items, ...rest], query).toEqual(whole);
    }
    // The last run found nothing new.
    expect(await world().all('changes')).toEqual([]);
  });
});
