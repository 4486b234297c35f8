import { describe, expect, it } from 'vitest';
import type { ProgressEvent, SummaryEvent, WaitingFor } from '../events/events.ts';
import {
  renderBlock,
  renderConfigChange,
  renderPage,
  renderProgressLine,
  renderStart,
} from './render-progress.ts';
import { renderSummary, shellWord } from './render-summary.ts';

const STAMP = { run: 3, project: 'shop', time: '2026-01-02T03:04:05.000Z' };
const plain = (_: string, text: string) => text;
const PROGRESS: ProgressEvent = {
  ...STAMP,
  type: 'progress',
  pages: 1200,
  pages_per_second: 48.5,
  waiting: 300,
  hosts_active: 2,
  hosts_cooling: 1,
  in_flight: 5,
  errors: 1,
  percent: 80,
  seconds_left: 61,
  waiting_for: null,
};
const RUN = {
  ...STAMP,
  type: 'run',
  resumed: true,
  config_changed: true,
  known_urls: 7,
} as const;
const SUMMARY: SummaryEvent = {
  ...STAMP,
  type: 'summary',
  status: 'completed',
  pages: 10,
  requests: 12,
  bytes: 2_500_000,
  duration_ms: 2000,
  by_state: { DeadLink: 2, Processed: 8 },
  known_urls: 10,
  read: 8,
  broken: 2,
  rate_limited: 0,
  skipped: 0,
  waiting: 0,
  left_out: 0,
  error: null,
  mode: 'full',
  mode_reason: 'mode full',
  new: 8,
  changed: 0,
  unchanged: 0,
  gone: 0,
  failed: 2,
  not_transferred: 0,
  bytes_saved: 0,
  average_change_frequency: 0,
  refused_starts: [],
  ledger: [],
};

describe('progress', () => {
  it('says pages, pace, what waits, hosts, errors, percent and time left, as a line and as a block', () => {
    expect(renderProgressLine(PROGRESS, 25)).toBe(
      '25 s: 1,200 pages, 48.5/s, 300 waiting, 3 hosts (1 cooling), 1 error, 80.0 %, about 1 min 1 s left',
    );
    expect(renderBlock(PROGRESS, 25, 'https://example.com/', plain)).toEqual([
      '███████████████████░░░░░  80.0 %  25 s, about 1 min 1 s left',
      '1,200 pages · 48.5/s · 300 waiting · 3 hosts (1 cooling) · 1 error',
      'https://example.com/',
    ]);
  });

  it('says at the start what goes on and whether the options changed', () => {
    expect(renderStart(RUN, plain)).toBe('sumi continues run 3 of shop, 7 URLs known');
    expect(renderConfigChange(RUN, plain)).toContain('differ from those with which this run began');
    expect(renderConfigChange({ ...RUN, resumed: false }, plain)).toContain('the last run was made:');
    expect(renderConfigChange({ ...RUN, config_changed: false }, plain)).toBeNull();
  });

  it('says why no page is read, in the place of the current URL', () => {
    const wait = { host: 'a.test', until: 1, in_seconds: 7.2, seconds: null, status: null, detail: null };
    const said = (more: Partial<WaitingFor> & Pick<WaitingFor, 'why'>): string => {
      const progress = { ...PROGRESS, waiting_for: { sitemap: null, ...wait, ...more } };
      const [, , last] = renderBlock(progress, 1, 'https://a.test/now', plain);
      expect(renderProgressLine(progress, 1)).toContain(`; ${last}`);
      return last;
    };
    expect(said({ why: 'crawl-delay', seconds: 30 })).toBe(
      'waiting for Crawl-delay 30 s of a.test, next request in 8 s',
    );
    expect(said({ why: 'robots', status: 500 })).toBe('robots.txt of a.test answered 500, next try in 8 s');
    expect(said({ why: 'robots', detail: 'connection reset' })).toBe(
      'robots.txt of a.test cannot be had (connection reset), next try in 8 s',
    );
    expect(said({ why: 'blocked', status: 429, in_seconds: 600 })).toBe(
      'a.test answered 429, next request in 10 min 0 s',
    );
    const sitemap = { url: 'https://a.test/s3.xml', nth: 3, of: 11, is_guess: false };
    expect(said({ why: 'answer', seconds: 4, in_seconds: null, sitemap })).toBe(
      'waiting for an answer of a.test since 4 s (reading sitemap 3 of 11)',
    );
    expect(said({ why: 'delay', seconds: 10, sitemap: { ...sitemap, is_guess: true } })).toBe(
      'waiting for the delay of 10 s between requests to a.test, next request in 8 s (looking for a sitemap at /s3.xml)',
    );
    expect(said({ why: 'workers', host: null, in_seconds: null })).toContain('other workers');
    expect(renderBlock(PROGRESS, 1, 'https://a.test/now', plain)[2]).toBe('https://a.test/now');
  });

  it('shows the reason of a page that failed and the title of one that did not', () => {
    const page = {
      ...STAMP,
      page_id: 1,
      type: 'page',
      url: 'https://example.com/',
      state: 'Processed',
      reason: null,
      status_code: 200,
      title: 'Home\u001b[2J',
      depth: 0,
      content_type: 'text/html',
      links: 0,
      bytes: 0,
      duration_ms: 1,
      outcome: 'new',
      known_by: 'content',
      is_modified: true,
      change_detected: false,
      change_frequency: 0,
      bytes_saved: 0,
    } as const;
    expect(renderPage(page, plain)).toBe('200 Processed https://example.com/  Home [2J');
    expect(renderPage({ ...page, links: 23 }, plain)).toMatch(/Home \[2J {2}\(23 links\)$/);
    expect(renderPage({ ...page, state: 'Failed', reason: 'http: 403', status_code: 403 }, plain)).toBe(
      '403 Failed    https://example.com/  http: 403',
    );
    expect(renderPage({ ...page, outcome: 'unchanged', known_by: '304', status_code: 304 }, plain)).toContain(
      'https://example.com/  unchanged (304)',
    );
  });
});

describe('a summary', () => {
  const view = { isResumed: false, program: 'sumi', at: '', paint: plain };

  it('says what came of it, by state, most first, and where to look next', () => {
    expect(renderSummary(SUMMARY, view)).toEqual([
      'Completed run 3 of shop: 10 pages in 2.0 s (5.0/s), 2.5 MB in 12 requests.',
      '10 known URLs: 8 read, 2 broken.',
      '  Processed  8',
      '  DeadLink   2',
      '',
      '  sumi pages            the pages',
      '  sumi links --broken   what is broken, and which pages link to it',
      '  sumi stats            the figures',
      '  sumi why URL          what became of a URL, and which rule decided',
    ]);
  });

  it('names the state in which most skipped URLs are', () => {
    const skipped = { broken: 0, skipped: 3, by_state: { Processed: 7, ContentMismatch: 2, Skipped: 1 } };
    expect(renderSummary({ ...SUMMARY, ...skipped }, view)).toContainEqual(
      expect.stringMatching(/^ {2}sumi pages --state ContentMismatch +what was skipped/),
    );
  });

  it('of a revisit says what changed, how the rest was known, and what that spared', () => {
    const ledger = [
      { level: 'freshness', pages: 3, requests_saved: 3, bytes_saved: 900 },
      { level: '304', pages: 4, requests_saved: 0, bytes_saved: 1600 },
    ] as const;
    const revisit = { ...SUMMARY, new: 0, changed: 1, unchanged: 7, bytes_saved: 2500, ledger: [...ledger] };
    const lines = renderSummary({ ...revisit, mode: 'incremental' }, view);
    expect(lines.slice(4, 7)).toEqual([
      '',
      'Since the last visit: 1 changed, 7 unchanged, 2 failed (incremental).',
      '  Unchanged: 3 still fresh, 4 not modified; 2.5 KB and 3 requests spared.',
    ]);
    expect(lines).toContain('  sumi changes          what changed, page by page');
  });

  it('gives commands that can be typed as they stand', () => {
    const [, , , , , first] = renderSummary(SUMMARY, {
      ...view,
      program: 'npm start --',
      at: " --db 'my crawl.db'",
    });
    expect(first).toMatch(/^ {2}npm start -- pages --db 'my crawl\.db' /);
    expect(shellWord("it's")).toBe("'it'\\''s'");
  });

  it('claims no pace for a run that went on', () => {
    expect(renderSummary(SUMMARY, { ...view, isResumed: true })[0]).not.toContain('/s)');
  });
});
