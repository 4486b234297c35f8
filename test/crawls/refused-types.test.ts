import { describe, expect, it } from 'vitest';
import { answer, type FixedAnswer } from '../web/fake-web.ts';
import { type CrawlOptions, page, useBench } from './crawl-site.ts';
import { changedParts, outcomes } from './history-rows.ts';

const bench = useBench();
const PDF: FixedAnswer = { headers: { 'content-type': 'application/pdf' }, body: '%PDF-1.7' };
const MOVED: FixedAnswer = { status: 301, headers: { location: '/end' } };

/** A site whose `/x` answers as it is told; only `/x` leads to `/only`. */
async function serve(path = '/x') {
  const html: FixedAnswer = { body: '<title>X</title>words<a href="/only">o</a>' };
  const now = { x: html, html };
  const web = await bench.web({
    pages: {
      '/': page('home', '/x', '/end'),
      '/end': page('end'),
      '/only': page('only'),
      [path]: (exchange) => answer(exchange, now.x),
    },
  });
  const file = bench.file();
  const crawl = (options: CrawlOptions = {}) => bench.crawl(file, web.url('/'), options);
  return { web, now, file, crawl };
}

describe.each(['full', 'incremental'] as const)(
  'a page that became of a type that is refused, in a %s run,',
  (mode) => {
    it('has changed in its type, and what it said and linked to is gone', async () => {
      const { web, now, file, crawl } = await serve();
      await crawl();
      now.x = PDF;
      const { summary } = await crawl({ mode });
      expect(summary).toMatchObject({ changed: 1, gone: 1, failed: 0 });
      expect(changedParts(file)).toEqual({ '/x': 'type' });
      expect(outcomes(file)).toMatchObject({ '/x': 'changed content', '/only': 'gone orphan' });
      expect(file.page('/x')).toMatchObject({
        state: 'ContentMismatch',
        reason: 'type: application/pdf',
        status_code: 200,
        content_type: 'application/pdf',
        title: null,
        content_hash: null,
        change: 'changed',
      });
      expect(file.text('/x')).toBeNull();
      expect(file.links()).not.toContain('/x → /only');
      const [{ detail }] = file.rows<{ detail: string }>('SELECT detail FROM page_changes');
      expect(JSON.parse(detail).fields).toEqual([
        { name: 'type', before: 'text/html', after: 'application/pdf' },
      ]);
      expect(JSON.parse(detail).lost).toMatchObject({ title: 'X', links: [web.url('/only')] });
    });

    it('is the same while its type is, whatever fails in between, and has changed when it is a page again', async () => {
      const { now, file, crawl } = await serve();
      await crawl();
      now.x = PDF;
      await crawl({ mode });
      await crawl({ mode });
      expect(outcomes(file)['/x']).toBe('unchanged status');
      expect(file.page('/x').state).toBe('ContentMismatch');
      now.x = { status: 503 };
      await crawl({ mode, retries: 0 });
      now.x = { ...PDF, headers: { 'content-type': 'application/pdf; version=2' }, body: 'other' };
      await crawl({ mode });
      expect(outcomes(file)['/x']).toBe('unchanged status');
      now.x = { ...PDF, headers: { 'content-type': 'image/png' } };
      await crawl({ mode });
      expect(changedParts(file)).toEqual({ '/x': 'type' });
      now.x = now.html;
      await crawl({ mode });
      expect(changedParts(file)).toMatchObject({ '/x': 'type' });
      expect(file.page('/x')).toMatchObject({ state: 'Processed', title: 'X', change: 'changed' });
      expect(outcomes(file)['/only']).toBe('changed orphan');
    });
  },
);

describe('a type that is refused', () => {
  it('is no change where the page always was of it, or what is wanted has changed', async () => {
    const { now, file, crawl } = await serve();
    now.x = PDF;
    await crawl();
    await crawl();
    expect(outcomes(file)['/x']).toBe('failed status');
    await crawl({ acceptTypes: ['*/*'] });
    expect(outcomes(file)['/x']).toBe('new content');
    await crawl();
    expect(outcomes(file)['/x']).toBe('failed status');
    expect(file.page('/x').content_hash).not.toBeNull();
  });

  it('ends a redirect: it leads nowhere any more', async () => {
    const { now, file, crawl } = await serve();
    now.x = MOVED;
    await crawl();
    expect(file.page('/x').final_url).toContain('/end');
    now.x = PDF;
    await crawl();
    expect(changedParts(file)).toEqual({ '/x': 'status,redirect' });
    expect(file.page('/x')).toMatchObject({ final_url: null, status_code: 200 });
  });

  it('of a start URL leaves its links as they were, as when it is not found', async () => {
    const { now, file, crawl } = await serve('/');
    await crawl();
    now.x = PDF;
    const { summary } = await crawl();
    expect(summary).toMatchObject({ changed: 1, gone: 0 });
    expect(file.links()).toContain('/ → /only');
  });

  it('that HEAD tells counts as one that GET tells', async () => {
    const { now, file, crawl } = await serve();
    await crawl({ headFirst: true });
    now.x = PDF;
    await crawl({ headFirst: true });
    expect(changedParts(file)).toEqual({ '/x': 'type' });
  });
});

describe('a page that became a document which is kept', () => {
  it('is told with its type beside what it lost, and has again', async () => {
    const { now, file, crawl } = await serve();
    const acceptTypes = ['*/*'];
    await crawl({ acceptTypes });
    now.x = PDF;
    await crawl({ acceptTypes });
    expect(changedParts(file)).toEqual({ '/x': 'title,links,text,type' });
    now.x = now.html;
    await crawl({ acceptTypes });
    expect(changedParts(file)).toMatchObject({ '/x': 'title,links,text,type' });
  });
});
