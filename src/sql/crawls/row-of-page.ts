/** A row for a page that no visit of its own decided, made of what the store beside the table knows. */
import type { PageState } from '../../frontier/page-state.ts';
import type { PageRow } from '../../store/read-side.ts';
import { surtKey } from '../../url/surt.ts';
import type { CrawlRow, ErrorType } from '../table/crawl-row.ts';
import { errorTypeOf } from './row-of-visit.ts';

const NOTHING: Omit<CrawlRow, 'url' | 'surtKey' | 'crawlTime' | 'state'> = {
  httpStatus: null,
  contentType: null,
  error: null,
  errorType: null,
  etag: null,
  lastModified: null,
  contentHash: null,
  finalUrl: null,
  redirectCount: null,
  elapsedMs: null,
  title: null,
  depth: null,
  inputUrl: null,
  body: null,
  charset: null,
  headers: null,
  text: null,
  h1: null,
  metaDescription: null,
  lang: null,
  canonical: null,
  wordCount: null,
};

/** A row that says only what went wrong. */
export function failedRow(
  page: { url: string; state: PageState; error: string; errorType: ErrorType },
  more: Partial<CrawlRow> & { crawlTime: number },
): CrawlRow {
  return { ...NOTHING, surtKey: surtOf(page.url), ...page, ...more };
}

export function rowOfPage(page: PageRow, inputUrl: string | null, now: number): CrawlRow {
  const { state, reason, status_code: httpStatus } = page;
  const errorType = errorTypeOf({ state, reason, httpStatus });
  return failedRow(
    { url: page.url, state, error: reason ?? state, errorType: errorType ?? 'network_error' },
    {
      crawlTime: page.visited_at === null ? now : Date.parse(page.visited_at),
      httpStatus,
      depth: page.depth,
      inputUrl,
    },
  );
}

function surtOf(url: string): string | null {
  return URL.canParse(url) ? surtKey(url) : null;
}
