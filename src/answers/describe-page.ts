/** A row of the store as a CrawledPage. Decides nothing but names: states are told by the words of the specification. */
import type { CrawledPage, PageField } from '../contract/pages.ts';
import { CRAWLED_PAGES_STATUS } from '../frontier/counting-words.ts';
import type { PageRow } from '../store/read-side.ts';
import { pageUid } from './page-uid.ts';

/** What stands elsewhere, and is read for who asks. */
export interface PageContent {
  text: string | null;
  links: string[];
}

export const NO_CONTENT: PageContent = { text: null, links: [] };

/** robots.txt is no failure, whatever state a profile gives it. */
export function statusOf({ state, reason }: Pick<PageRow, 'state' | 'reason'>): CrawledPage['status'] {
  const status = CRAWLED_PAGES_STATUS[state];
  return status === 'failed' && reason?.startsWith('robots:') === true ? 'skipped' : status;
}

const flag = (value: number | null) => (value === null ? null : value !== 0);

export function describePage(row: PageRow, projectUid: string, content: PageContent): CrawledPage {
  const status = statusOf(row);
  const uidOf = (id: number | null) => (id === null ? null : pageUid(projectUid, id));
  return {
    id: pageUid(projectUid, row.id),
    project_id: projectUid,
    url: row.url,
    title: row.title,
    h1: row.h1,
    meta_description: row.meta_description,
    content_text: content.text,
    word_count: row.word_count,
    links_found: content.links,
    crawled_at: row.visited_at,
    status,
    error_message: status === 'success' || status === null ? null : (row.error ?? row.reason),
    state: row.state,
    reason: row.reason,
    status_code: row.status_code,
    host: row.host,
    depth: row.depth,
    content_type: row.content_type,
    content_length: row.content_length,
    canonical: row.canonical,
    noindex: flag(row.noindex),
    nofollow: flag(row.nofollow),
    lang: row.lang,
    charset: row.charset,
    change: row.change,
    change_frequency: row.change_frequency,
    changes_detected: row.changes_detected,
    response_ms: row.response_ms,
    fetch_url: row.fetch_url,
    final_url: row.final_url,
    redirect_count: row.redirect_count,
    redirect_to: uidOf(row.redirect_to),
    referrer_id: uidOf(row.referrer_id),
    etag: row.etag,
    last_modified: row.last_modified,
    cache_control: row.cache_control,
    content_hash: row.content_hash,
    simhash: row.simhash,
    has_body: row.body_key !== null,
    priority: row.priority,
    attempts: row.attempts,
    retry_at: row.retry_at,
    discovered_at: row.discovered_at,
    discovered_run: row.discovered_run,
    visited_run: row.visited_run,
    left_run: row.left_run,
    left_reason: row.left_reason,
  };
}

export function chooseFields(page: CrawledPage, fields: readonly PageField[]): Partial<CrawledPage> {
  return Object.fromEntries(fields.map((field) => [field, page[field]]));
}
