/** Sitemap entries by page, and how the pages of each host were found. */
import type { HostDiscovery, SitemapFinding } from '../port.ts';
import { discoveryOf, type StoredDiscovery } from '../visit-rows.ts';
import type { Offers } from './offers.ts';
import type { Session } from './session.ts';

export function createSitemaps(session: Session, offers: Offers) {
  const { db } = session;
  const dateOf = db.prepare('SELECT lastmod FROM sitemap_entry WHERE page_id = ?').pluck();
  // Several sitemaps may name a page: the newest date is the page's, the rest is as read last.
  const put = db.prepare(
    `INSERT INTO sitemap_entry (page_id, lastmod, changefreq, priority, sitemap, first_seen, last_seen,
       lastmod_text, details)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
     ON CONFLICT DO UPDATE SET lastmod = max(COALESCE(lastmod, excluded.lastmod), COALESCE(excluded.lastmod, lastmod)),
       changefreq = excluded.changefreq, priority = excluded.priority, sitemap = excluded.sitemap,
       last_seen = excluded.last_seen, lost_run = NULL, lastmod_text = excluded.lastmod_text, details = excluded.details`,
  );
  const readDiscovery = db.prepare(
    `SELECT method, checked_at, entries, sitemaps, trouble FROM discovery
     WHERE project_id = ? AND host_id = (SELECT id FROM host WHERE name = ?)`,
  );
  const putDiscovery = db.prepare('INSERT OR REPLACE INTO discovery VALUES (?, ?, ?, ?, ?, ?, ?)');

  return {
    saveEntries(findings: readonly SitemapFinding[], now: number): { pageId: number; isNewer: boolean }[] {
      const answers = findings.map(
        ({ candidate, lastmod, changefreq, priority, sitemap, lastmodText, details }) => {
          const knownBefore = session.known.size;
          const pageId = offers.offer(candidate, null);
          // A page that was not known has no entry.
          const isNew = session.known.size > knownBefore;
          const stored = isNew ? null : (dateOf.get(pageId) as number | null | undefined);
          put.run(pageId, lastmod, changefreq, priority, sitemap, now, now, lastmodText, details);
          return { pageId, isNewer: lastmod !== null && !(stored != null && stored >= lastmod) };
        },
      );
      session.window.count();
      return answers;
    },

    discovery(host: string): HostDiscovery | null {
      const row = readDiscovery.get(session.projectId, host) as StoredDiscovery | undefined;
      return row === undefined ? null : discoveryOf(row);
    },

    saveDiscovery(host: string, { method, checkedAt, entries, sitemaps, trouble }: HostDiscovery): void {
      const hostId = session.hosts.idOf(host);
      const values = [method, checkedAt, entries, JSON.stringify(sitemaps), trouble];
      putDiscovery.run(session.projectId, hostId, ...values);
      session.window.commit();
    },
  };
}
