/** Sitemap entries and how hosts were discovered, on SQLite. */
import type { Database } from 'better-sqlite3';
import type { DiscoveryRow, SitemapEntryRow } from '../read-rows.ts';

const BATCH = 256;

type StoredEntry = Omit<SitemapEntryRow, 'lastmod' | 'first_seen' | 'last_seen'> & {
  lastmod: number | null;
  first_seen: number;
  last_seen: number;
};

/** Many have the same times. */
const isoTimes = new Map<number, string>();
const MOST_TIMES = 1024;

function iso(time: number): string {
  let text = isoTimes.get(time);
  if (text === undefined) {
    text = new Date(time).toISOString();
    if (isoTimes.size < MOST_TIMES) isoTimes.set(time, text);
  }
  return text;
}

function shown(row: StoredEntry): SitemapEntryRow {
  return {
    url: row.url,
    lastmod: row.lastmod === null ? null : iso(row.lastmod),
    changefreq: row.changefreq,
    priority: row.priority,
    sitemap: row.sitemap,
    first_seen: iso(row.first_seen),
    last_seen: iso(row.last_seen),
    page_id: row.page_id,
    lastmod_text: row.lastmod_text,
    details: row.details,
  };
}

export function createSitemapReader(db: Database) {
  async function* entriesOf(filter: {
    project?: string;
    host?: string;
    limit?: number;
  }): AsyncGenerator<SitemapEntryRow[]> {
    const { project = null, host = null } = filter;
    // CROSS JOIN pins the table of the keyset as the outer loop, as in read-side.ts.
    const read = db.prepare(
      `SELECT u.url, e.lastmod, e.changefreq, e.priority, e.sitemap, e.first_seen, e.last_seen, e.page_id,
         e.lastmod_text, e.details
       FROM sitemap_entry e CROSS JOIN url u ON u.id = e.page_id
       WHERE e.page_id > @after AND (@project IS NULL OR u.project_id = (SELECT id FROM project WHERE name = @project))
         AND (@host IS NULL OR u.host_id = (SELECT id FROM host WHERE name = @host))
       ORDER BY e.page_id LIMIT @size`,
    );
    let left = filter.limit ?? Number.POSITIVE_INFINITY;
    for (let after = 0; left > 0; ) {
      const size = Math.min(BATCH, left);
      const rows = read.all({ after, project, host, size }) as StoredEntry[];
      if (rows.length > 0) yield rows.map(shown);
      if (rows.length < size) return;
      after = rows[rows.length - 1].page_id;
      left -= rows.length;
    }
  }

  function discoveriesOf({ project = null }: { project?: string | null }): DiscoveryRow[] {
    const rows = db
      .prepare(
        `SELECT h.name AS host, d.method, d.checked_at, d.entries, d.sitemaps, d.trouble, d.looks, d.searched,
           d.guessed
         FROM discovery d JOIN host h ON h.id = d.host_id JOIN project p ON p.id = d.project_id
         WHERE @project IS NULL OR p.name = @project ORDER BY p.id, h.name`,
      )
      .all({ project }) as (Omit<DiscoveryRow, 'checked_at'> & { checked_at: number })[];
    return rows.map((row) => ({ ...row, checked_at: iso(row.checked_at) }));
  }

  return {
    sitemapEntries: entriesOf,
    discoveries: async (filter: { project?: string }) => discoveriesOf(filter),
  };
}
