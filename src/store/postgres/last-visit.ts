import { IS_DAY } from '../visit-rows.ts';

/** What a claim says of the page's last visit (StoredLastVisit): one lookup a table, in the host's own partition. */
export const LAST_COLUMNS = `f.visited_at, f.status_code, f.content_hash, f.text_hash, f.facet_hash,
  f.simhash::text AS simhash, f.etag, f.last_modified, f.cache_control, f.wire_bytes, e.lastmod AS sitemap_date,
  CASE WHEN ${IS_DAY} THEN e.last_seen END AS sitemap_seen_at,
  f.change_frequency, f.changes_detected, f.x_robots_tag, f.content_type, f.change`;

export function lastJoins(page: string, host: string): string {
  return `LEFT JOIN fetched f ON f.page_id = ${page} AND f.host_id = ${host}
  LEFT JOIN sitemap_entry e ON e.page_id = ${page} AND e.host_id = ${host} AND e.lost_run IS NULL`;
}
