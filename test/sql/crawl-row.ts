// A row of a page that was read, with whatever a test wants otherwise.
import type { CrawlRow } from '../../src/sql/table/crawl-row.ts';

export function crawlRow(url: string, more: Partial<CrawlRow> = {}): CrawlRow {
  return {
    ...{ url, surtKey: null, httpStatus: 200, contentType: 'text/html', crawlTime: 1_700_000_000_123 },
    ...{ error: null, errorType: null, etag: null, lastModified: null, contentHash: null, finalUrl: url },
    ...{ redirectCount: 0, elapsedMs: 12, title: null, depth: 0, inputUrl: null, state: 'Processed' },
    ...{ body: null, charset: null, headers: null, text: null, h1: null, metaDescription: null },
    ...{ lang: null, canonical: null, wordCount: null },
    ...more,
  };
}
