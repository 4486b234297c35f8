/** What is stored of a page, put together for comparison: only asked where a visit found something else. */
import type { Database } from 'better-sqlite3';
import type { PastPage } from '../../change/visit-record.ts';

type PastRow = Omit<PastPage, 'links' | 'noindex' | 'nofollow'> & {
  noindex: number;
  nofollow: number;
  wasRead: number;
};

export function createPastReader(db: Database): (pageId: number, withLinks: boolean) => PastPage | null {
  const read = db.prepare(
    `SELECT f.status_code AS statusCode, f.title, f.h1, f.description, f.canonical, f.noindex, f.nofollow,
       f.robots_other AS robotsOther,
       f.structured_data AS structuredData, t.text, r.url AS redirectTo,
       f.content_hash IS NOT NULL OR f.facet_hash IS NOT NULL OR f.redirect_to IS NOT NULL AS wasRead
     FROM fetched f LEFT JOIN page_text t ON t.page_id = f.page_id LEFT JOIN url r ON r.id = f.redirect_to
     WHERE f.page_id = ?`,
  );
  // CROSS JOIN keeps the order of the set.
  const links = db
    .prepare(
      `SELECT u.url FROM link_set l CROSS JOIN json_each(l.targets) j CROSS JOIN url u ON u.id = j.value
       WHERE l.page_id = ? ORDER BY j.key`,
    )
    .pluck();
  return (pageId, withLinks) => {
    const row = read.get(pageId) as PastRow | undefined;
    if (row === undefined || row.wasRead === 0) return null;
    const { wasRead: _, noindex, nofollow, ...rest } = row;
    return {
      ...rest,
      noindex: noindex === 1,
      nofollow: nofollow === 1,
      links: withLinks ? (links.all(pageId) as string[]) : [],
    };
  };
}
