/** What sitemaps say of pages, and how the pages of each host were found, for reading. */
import type { DiscoveryRow, SitemapEntryRow } from '../read-rows.ts';
import type { Sql } from './connection.ts';
import { ask } from './session.ts';
import { iso } from './views.ts';

const BATCH = 1000;

interface EntryFilter {
  project?: string;
  host?: string;
  limit?: number;
}

/** Its first two values are the page behind which a batch begins, and how many entries it is cut from. */
export function entriesQuery({ project, host }: EntryFilter): { text: string; values: string[] } {
  const values: string[] = [];
  const idOf = (table: string, name: string) => {
    values.push(name);
    return `(SELECT id FROM ${table} WHERE name = $${values.length + 2})`;
  };
  const ofHost = host === undefined ? '' : `AND host_id = ${idOf('host', host)}`;
  const ofProject = project === undefined ? '' : `AND u.project_id = ${idOf('project', project)}`;
  // The batch is cut from the entries alone, and the pages to its range of ids: else every batch might read all of them.
  // The row without a URL says where it was cut, whether or not any of it was wanted.
  const text = `WITH e AS MATERIALIZED (SELECT * FROM sitemap_entry WHERE page_id > $1 ${ofHost} ORDER BY page_id LIMIT $2)
    SELECT u.url, ${iso('e.lastmod')} AS lastmod, e.changefreq, e.priority, e.sitemap,
      ${iso('e.first_seen')} AS first_seen, ${iso('e.last_seen')} AS last_seen, e.page_id, e.lastmod_text, e.details
    FROM e JOIN url u ON u.id = e.page_id AND u.host_id = e.host_id
      AND u.id > $1 AND u.id <= (SELECT max(page_id) FROM e) ${ofProject}
    UNION ALL SELECT NULL, NULL, NULL, NULL, NULL, NULL, NULL, max(page_id), NULL, NULL FROM e
    ORDER BY page_id, url`;
  return { text, values };
}

export function createSitemapReader(sql: Sql) {
  async function* sitemapEntries(filter: EntryFilter): AsyncGenerator<SitemapEntryRow[]> {
    const { text, values } = entriesQuery(filter);
    let left = filter.limit ?? Number.POSITIVE_INFINITY;
    for (let after = 0; left > 0; ) {
      const rows = await ask<SitemapEntryRow>(sql, text, [after, BATCH, ...values]);
      const end: number | null = rows.pop()!.page_id;
      if (rows.length > left) rows.length = left;
      if (rows.length > 0) yield rows;
      if (end === null) return;
      after = end;
      left -= rows.length;
    }
  }

  function discoveries({ project }: { project?: string }): Promise<DiscoveryRow[]> {
    return ask<DiscoveryRow>(
      sql,
      `SELECT h.name AS host, d.method, ${iso('d.checked_at')} AS checked_at, d.entries, d.sitemaps, d.trouble, d.looks,
         d.searched, d.guessed
       FROM discovery d JOIN host h ON h.id = d.host_id JOIN project p ON p.id = d.project_id
       WHERE $1::text IS NULL OR p.name = $1 ORDER BY p.id, h.name COLLATE "C"`,
      [project ?? null],
    );
  }

  return { sitemapEntries, discoveries };
}
