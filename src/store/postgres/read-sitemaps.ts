/** What sitemaps say of pages, and how the pages of each host were found, for reading. */
import type { DiscoveryRow, SitemapEntryRow } from '../read-side.ts';
import type { Sql } from './connection.ts';
import { ask } from './session.ts';
import { iso } from './views.ts';

const BATCH = 1000;

export function createSitemapReader(sql: Sql) {
  async function* sitemapEntries(filter: {
    project?: string;
    host?: string;
    limit?: number;
  }): AsyncGenerator<SitemapEntryRow[]> {
    const conditions = ['e.page_id > $1'];
    const values: unknown[] = [];
    const add = (condition: string, value: unknown) => {
      values.push(value);
      conditions.push(condition.replace('?', `$${values.length + 2}`));
    };
    const { project, host } = filter;
    if (project !== undefined) add('u.project_id = (SELECT id FROM project WHERE name = ?)', project);
    if (host !== undefined) add('e.host_id = (SELECT id FROM host WHERE name = ?)', host);
    const text = `SELECT u.url, ${iso('e.lastmod')} AS lastmod, e.changefreq, e.priority, e.sitemap,
        ${iso('e.first_seen')} AS first_seen, ${iso('e.last_seen')} AS last_seen, e.page_id, e.lastmod_text, e.details
      FROM sitemap_entry e JOIN url u ON u.id = e.page_id AND u.host_id = e.host_id
      WHERE ${conditions.join(' AND ')} ORDER BY e.page_id LIMIT $2`;
    let left = filter.limit ?? Number.POSITIVE_INFINITY;
    for (let after = 0; left > 0; ) {
      const size = Math.min(BATCH, left);
      const rows = await ask<SitemapEntryRow>(sql, text, [after, size, ...values]);
      if (rows.length > 0) yield rows;
      if (rows.length < size) return;
      after = rows[rows.length - 1].page_id;
      left -= rows.length;
    }
  }

  function discoveries({ project }: { project?: string }): Promise<DiscoveryRow[]> {
    return ask<DiscoveryRow>(
      sql,
      `SELECT h.name AS host, d.method, ${iso('d.checked_at')} AS checked_at, d.entries, d.sitemaps, d.trouble
       FROM discovery d JOIN host h ON h.id = d.host_id JOIN project p ON p.id = d.project_id
       WHERE $1::text IS NULL OR p.name = $1 ORDER BY p.id, h.name COLLATE "C"`,
      [project ?? null],
    );
  }

  return { sitemapEntries, discoveries };
}
