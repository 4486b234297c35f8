// Pages over HTTP on both stores: the list with its fields, filters, cursors and totals; one page and what is kept of it.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { FIELDS_OF_LISTS, PAGE_FIELDS } from '../../src/contract/pages.ts';
import { HOSTILE_TITLE, useReadWorld } from './reads-site.ts';
import { type Loose, STORES } from './start-serving.ts';

const bodies = mkdtempSync(join(tmpdir(), 'sumi-bodies-'));
afterAll(() => rmSync(bodies, { recursive: true, force: true }));

describe.each(STORES)('pages on %s', (store) => {
  const world = useReadWorld(store, { bodies: `files:${join(bodies, store)}` });

  it('are listed with every field but texts and links', async () => {
    const { items, next_cursor, prev_cursor, ...rest } = await world().read<Loose>('pages');
    expect([next_cursor, prev_cursor, rest]).toEqual([null, null, {}]);
    expect(Object.keys(items[0])).toEqual(FIELDS_OF_LISTS);
    const of = (path: string) => items.find(({ url }: Loose) => url === world().web.url(path));
    expect(of('/')).toMatchObject({
      ...{ project_id: world().id, title: 'Home', h1: 'Welcome', status: 'success', error_message: null },
      ...{
        state: 'Processed',
        status_code: 200,
        depth: 0,
        noindex: false,
        host: '127.0.0.1',
        change: 'unchanged',
      },
    });
    expect(of('/missing')).toMatchObject({ status: 'skipped', state: 'DeadLink', status_code: 404 });
    expect(of('/broken')).toMatchObject({ status: 'failed', state: 'Failed', status_code: 500 });
    expect(of('/broken').error_message).toMatch(/500/);
    expect(of('/private/x')).toMatchObject({ status: 'skipped', crawled_at: null });
    expect(of('/private/x').error_message).toMatch(/^robots: Disallow \/private\//);
    expect(of('/leaving')).toMatchObject({ status: 'skipped', state: 'Gone', change: 'gone' });
    expect(of('/noindex')).toMatchObject({ noindex: true });
    expect(of('/moved')).toMatchObject({
      ...{ final_url: world().web.url('/docs/two'), redirect_count: 1, redirect_to: of('/docs/two').id },
    });
    expect(of('/docs/one').crawled_at).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    expect(of('/docs/one').referrer_id).toBe(of('/').id);
  });

  it('have the fields that are asked for, texts and links too', async () => {
    const { items } = await world().read<Loose>('pages?fields=url,content_text,links_found');
    for (const page of items) expect(Object.keys(page)).toEqual(['url', 'content_text', 'links_found']);
    const one = items.find(({ url }: Loose) => url === world().web.url('/docs/one'));
    expect(one).toMatchObject({ links_found: [world().web.url('/docs/three')] });
    expect(one.content_text).toContain('The quick red fox');
  });

  it('are found by each filter, as many as the total says, page by page', async () => {
    const filters = [
      ...[
        '',
        'status=success',
        'status=failed,skipped',
        'state=DeadLink,Gone',
        'status_code=404',
        'status_code=4xx,500',
      ],
      ...['host=127.0.0.1', 'section=/docs', 'depth=0', 'depth=1-2', 'change=changed,new', 'reason=robots'],
      ...['noindex=true', 'q=docs', 'q=FOX', 'content_type=text/html', 'sort=word_count&order=desc'],
    ];
    for (const filter of filters) {
      const whole = await world().read<Loose>(`pages?limit=1000&count=true&${filter}`);
      const parts = await world().all(`pages?${filter}`, 2);
      expect(parts, filter).toEqual(whole.items);
      expect([whole.total, whole.total_is_exact], filter).toEqual([whole.items.length, true]);
      expect(whole.items.length, filter).toBeGreaterThan(0);
    }
    const success = await world().read<Loose>('pages?status=success&limit=1000');
    expect(new Set(success.items.map(({ status }: Loose) => status))).toEqual(new Set(['success']));
    const docs = await world().all('pages?section=/docs&fields=url');
    expect(docs.map(({ url }) => new URL(url).pathname).sort()).toEqual([
      '/docs/one',
      '/docs/three',
      '/docs/two',
    ]);
  });

  it('are sorted by what they have, with cursors all the same', async () => {
    for (const [sort, field] of [
      ['status_code', 'status_code'],
      ['word_count', 'word_count'],
      ['visited_at', 'crawled_at'],
      ['depth', 'depth'],
    ]) {
      const up = await world().all(`pages?sort=${sort}&order=asc&fields=id,${field}`, 2);
      const down = await world().all(`pages?sort=${sort}&order=desc&fields=id,${field}`, 2);
      expect(down, sort).toEqual([...up].reverse());
      const values = up.map((page) => page[field]);
      const sorted = [...values].sort((a, b) => (a < b ? -1 : a > b ? 1 : 0));
      expect([values, values.length > 5], sort).toEqual([sorted, true]);
    }
  });

  it('are paged back as well as forth', async () => {
    const first = await world().read<Loose>('pages?limit=4&fields=id');
    const second = await world().read<Loose>(`pages?limit=4&fields=id&cursor=${first.next_cursor}`);
    const back = await world().read<Loose>(`pages?limit=4&fields=id&cursor=${second.prev_cursor}`);
    expect(back.items).toEqual(first.items);
  });

  it('refuse what cannot be asked, and say which parameter is wrong', async () => {
    const wrong = [
      ...[
        'limit=0',
        'limit=1001',
        'limit=x',
        'limit=1e3',
        'cursor=x',
        'cursor=WzEsImEiXQ',
        'sort=nope',
        'order=up',
      ],
      ...[
        'fields=',
        'fields=nope',
        'fields=id,,nope',
        'status=ok',
        'state=processed',
        'status_code=99',
        'depth=x',
      ],
      ...[
        'depth=3-1',
        'noindex=yes',
        'change=moved',
        'count=1',
        'q=',
        'unknown=1',
        'limit=1&limit=2',
        'q=%00',
      ],
    ];
    for (const query of wrong) {
      const { status, body } = await world().service.get(`projects/${world().id}/pages?${query}`);
      expect([query, status, body.errors?.[0]?.pointer]).toEqual([query, 400, `/${query.split('=', 1)[0]}`]);
    }
    const { next_cursor } = await world().read<Loose>('pages?limit=1');
    const other = await world().service.get(
      `projects/${world().id}/pages?limit=1&status=failed&cursor=${next_cursor}`,
    );
    expect([other.status, other.body.code]).toEqual([400, 'cursor-of-other-list']);
  });

  it('are only those of their project', async () => {
    const mine = await world().page('/');
    const [theirs] = (await world().service.get(`projects/${world().otherId}/pages`)).body.items;
    const forged = `${mine.id.slice(0, -1)}${mine.id.endsWith('0') ? '1' : '0'}`;
    const made = '00000000-0000-8000-8000-000000000000';
    for (const id of [theirs.id, forged, made, world().id, '1', 'x'.repeat(500), '%00', '..%2f'])
      for (const part of ['', '/history', '/links', '/diff', '/body', '/why'])
        expect((await world().service.get(`projects/${world().id}/pages/${id}${part}`)).status).toBeOneOf([
          404, 400,
        ]);
    expect((await world().service.get(`projects/${world().id}/pages/${theirs.id}`)).body.code).toBe(
      'page-unknown',
    );
    expect((await world().service.get(`projects/${world().id}/pages/${mine.id.toUpperCase()}`)).status).toBe(
      200,
    );
  });

  it('are answered whole one by one, with an ETag', async () => {
    const { id } = await world().page('/docs/one');
    const { body, headers } = await world().service.get(`projects/${world().id}/pages/${id}`);
    expect(Object.keys(body)).toEqual(PAGE_FIELDS);
    expect(body).toMatchObject({ id, links_found: [world().web.url('/docs/three')], etag: '"/docs/one"' });
    const again = await world().service.get(`projects/${world().id}/pages/${id}`, {
      headers: { 'if-none-match': headers.get('etag')! },
    });
    expect(again.status).toBe(304);
  });

  it('have a history, links both ways and a difference between runs', async () => {
    const { id } = await world().page('/docs/one');
    const visits = await world().all(`pages/${id}/history`, 1);
    expect(visits.map(({ outcome }) => outcome)).toEqual(['changed', 'new']);
    expect(visits[0].parts).toEqual(expect.arrayContaining(['title', 'text', 'links']));
    expect(visits[0]).not.toHaveProperty('etag');
    const outward = await world().read<Loose>(`pages/${id}/links?count=true`);
    expect(outward).toMatchObject({ total: 1, items: [{ direction: 'out', from_id: id, to_status: 200 }] });
    const inward = await world().read<Loose>(`pages/${id}/links?direction=in&count=true`);
    expect(inward).toMatchObject({
      total: 1,
      items: [{ direction: 'in', to_id: id, from_url: world().web.url('/') }],
    });
    const diff = await world().read<Loose>(`pages/${id}/diff`);
    expect(diff).toMatchObject({
      ...{ page_id: id, from: 1, to: 2, difference: 'changed', words_added: 2, words_removed: 2 },
      links_added: [world().web.url('/docs/three')],
      links_removed: [world().web.url('/docs/two')],
    });
    expect(diff.fields).toContainEqual({ name: 'title', before: 'One', after: 'One, again' });
    expect(diff.text).toContainEqual(['+', 'red']);
    expect(await world().read(`pages/${id}/diff?from=2&to=1`)).toEqual(diff);
    const still = await world().page('/docs/two');
    expect(await world().read(`pages/${still.id}/diff`)).toMatchObject({
      difference: 'unchanged',
      parts: [],
    });
    for (const query of ['from=1&to=1', 'from=0', 'to=x'])
      expect((await world().service.get(`projects/${world().id}/pages/${id}/diff?${query}`)).status).toBe(
        400,
      );
    for (const query of ['from=1&to=99', 'from=1&to=3'])
      expect((await world().service.get(`projects/${world().id}/pages/${id}/diff?${query}`)).status).toBe(
        404,
      );
  });

  it('give their bytes, text and headers, never as HTML', async () => {
    const { id } = await world().page('/docs/one');
    const raw = await world().service.get(`projects/${world().id}/pages/${id}/body?as=raw`);
    expect(raw.body).toContain('<title>One, again</title>');
    expect(raw.headers.get('content-type')).toBe('application/octet-stream');
    expect(raw.headers.get('content-disposition')).toMatch(/^attachment; filename="page-[0-9a-f-]+\.bin"$/);
    const text = await world().service.get(`projects/${world().id}/pages/${id}/body`);
    expect(text.body).toContain('The quick red fox');
    expect(text.headers.get('content-type')).toBe('text/plain; charset=utf-8');
    for (const { headers } of [raw, text]) {
      expect(headers.get('x-content-type-options')).toBe('nosniff');
      expect(headers.get('content-security-policy')).toMatch(/^sandbox/);
    }
    const { headers } = await world().read<Loose>(`pages/${id}/body?as=headers`);
    expect(headers).toMatchObject({ 'content-type': 'text/html; charset=utf-8', etag: '"/docs/one"' });
    const { id: none } = await world().page('/private/x');
    for (const as of ['raw', 'text', 'headers']) {
      const missing = await world().service.get(`projects/${world().id}/pages/${none}/body?as=${as}`);
      expect([missing.status, missing.body.code]).toEqual([404, 'body-missing']);
      expect(missing.body.hint).toContain('--bodies');
    }
    expect((await world().service.get(`projects/${world().id}/pages/${id}/body?as=html`)).status).toBe(400);
  });

  it('say why they are as they are, by id or by any spelling of the URL', async () => {
    const { id } = await world().page('/private/x');
    const why = await world().read<Loose>(`pages/${id}/why`);
    expect(why).toMatchObject({
      ...{ page_id: id, state: 'Skipped', path: [world().web.url('/')], visits: [] },
      robots: { decision: 'denied', rule: 'Disallow /private/' },
    });
    const spelled = encodeURIComponent(world().web.url('/private/./x#part'));
    expect(await world().read(`why?url=${spelled}`)).toEqual(why);
    const read = await world().page('/docs/one');
    const told = await world().read<Loose>(`pages/${read.id}/why`);
    expect(told).toMatchObject({ visits_total: 2, requests_total: 2, robots: { decision: 'allowed' } });
    expect(told.next_visit.at).toMatch(/Z$/);
    for (const [url, status] of [
      ['https://nowhere.example/', 404],
      ['/path', 400],
      ['http://', 404],
      ['javascript:alert(1)', 404],
    ] as const)
      expect([
        url,
        (await world().service.get(`projects/${world().id}/why?url=${encodeURIComponent(url)}`)).status,
      ]).toEqual([url, status]);
  });

  it('keep hostile words as data', async () => {
    const page = await world().page('/hostile');
    expect(page.title).toBe(`${HOSTILE_TITLE}!`);
    const odd = (await world().all('pages')).find(({ url }) => url.includes('/q?'));
    expect(odd.title).toBe('Odd');
    const csv = await world().service.get(`projects/${world().id}/export?what=pages&fields=url,title`);
    expect(csv.body.split('\n')[0]).toBe('url,title');
  });
});
