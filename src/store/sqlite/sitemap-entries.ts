/** Sitemap entries by page, and how the pages of each host were found. */
import type { Database, Statement } from 'better-sqlite3';
import type { HostDiscovery, SavedEntry, SitemapFinding } from '../sitemap-port.ts';
import { discoveryOf, type StoredDiscovery } from '../visit-rows.ts';
import type { Offers } from './offers.ts';
import type { Session } from './session.ts';

type StoredEntry = readonly [lastmod: number | null, namedBy: SavedEntry['namedBy']];
const NOTHING: StoredEntry = [null, 'none'];

export function createSitemaps(session: Session, offers: Offers) {
  const { db } = session;
  const storedOf = db
    .prepare(
      `SELECT lastmod, CASE WHEN lost_run IS NOT NULL THEN 'none' WHEN sitemap = ? THEN 'same' ELSE 'another' END
       FROM sitemap_entry WHERE page_id = ?`,
    )
    .raw();
  const write = createEntryWriter(db);
  const readDiscovery = db.prepare(
    `SELECT method, checked_at, entries, sitemaps, trouble, looks, searched, guessed FROM discovery
     WHERE project_id = ? AND host_id = (SELECT id FROM host WHERE name = ?)`,
  );
  const putDiscovery = db.prepare('INSERT OR REPLACE INTO discovery VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)');

  function stored(pageId: number, sitemap: string): StoredEntry {
    if (write.isPending(pageId)) write.flush();
    return (storedOf.get(sitemap, pageId) as StoredEntry | undefined) ?? NOTHING;
  }

  return {
    saveEntries(findings: readonly SitemapFinding[], now: number): SavedEntry[] {
      // Those that were not known have no entry yet; they get their ids in order.
      let { lastId } = session.rows;
      const pageIds = offers.offerAll(
        findings.map(({ candidate }) => candidate),
        null,
      );
      const answers = findings.map((finding, i) => {
        const pageId = pageIds[i];
        const isNew = pageId > lastId;
        if (isNew) lastId = pageId;
        const { lastmod, sitemap } = finding;
        const [date, namedBy] = isNew ? NOTHING : stored(pageId, sitemap);
        write.add(pageId, finding, now);
        return { pageId, isNewer: lastmod !== null && !(date !== null && date >= lastmod), namedBy };
      });
      write.flush();
      session.window.count();
      return answers;
    },

    discovery(host: string): HostDiscovery | null {
      const row = readDiscovery.get(session.projectId, host) as StoredDiscovery | undefined;
      return row === undefined ? null : discoveryOf(row);
    },

    saveDiscovery(host: string, found: HostDiscovery): void {
      const { method, checkedAt, entries, sitemaps, trouble } = found;
      const hostId = session.hosts.idOf(host);
      const looks = found.looks === undefined ? null : JSON.stringify(found.looks);
      const searched = found.searched === null ? null : JSON.stringify(found.searched);
      const guessed = found.guessed === null ? null : JSON.stringify(found.guessed);
      const values = [
        method,
        checkedAt,
        entries,
        JSON.stringify(sitemaps),
        trouble,
        looks,
        searched,
        guessed,
      ];
      putDiscovery.run(session.projectId, hostId, ...values);
      session.window.commit();
    },
  };
}

/** So many rows to a statement, as many as there are: the more, the less each costs. */
const SIZES = [64, 8, 1];
const OWN_VALUES = 4;

/** Writes rows several to a statement, what they share (the sitemap, the time, mostly what they say of themselves) bound once. */
function createEntryWriter(db: Database) {
  const statements = new Map<number, Statement>();
  const pending = new Set<number>();
  const common = { sitemap: '', now: 0, changefreq: null as string | null, details: null as string | null };
  let gathered: unknown[] = [];

  // Several sitemaps may name a page: the newest date of one look is the page's, the rest is as read last. What looks before
  // gave is over: a date of the year 2099 that was put right must not stand for ever.
  function statementFor(rows: number): Statement {
    let statement = statements.get(rows);
    if (statement === undefined) {
      statement = db.prepare(
        `INSERT INTO sitemap_entry (page_id, lastmod, priority, lastmod_text, changefreq, details, sitemap, first_seen, last_seen)
         VALUES ${Array(rows).fill('(?, ?, ?, ?, @changefreq, @details, @sitemap, @now, @now)').join(', ')}
         ON CONFLICT DO UPDATE SET lastmod = CASE WHEN last_seen = excluded.last_seen
             THEN max(COALESCE(lastmod, excluded.lastmod), COALESCE(excluded.lastmod, lastmod)) ELSE excluded.lastmod END,
           changefreq = excluded.changefreq, priority = excluded.priority, sitemap = excluded.sitemap,
           last_seen = excluded.last_seen, lost_run = NULL, lastmod_text = excluded.lastmod_text, details = excluded.details`,
      );
      statements.set(rows, statement);
    }
    return statement;
  }

  function flush(): void {
    let from = 0;
    for (const size of SIZES) {
      const count = size * OWN_VALUES;
      for (; from + count <= gathered.length; from += count)
        statementFor(size).run(
          count === gathered.length ? gathered : gathered.slice(from, from + count),
          common,
        );
    }
    gathered = [];
    pending.clear();
  }

  return {
    flush,
    isPending: (pageId: number) => pending.has(pageId),
    add(pageId: number, finding: SitemapFinding, now: number): void {
      const { lastmod, changefreq, priority, sitemap, lastmodText, details } = finding;
      if (
        sitemap !== common.sitemap ||
        now !== common.now ||
        changefreq !== common.changefreq ||
        details !== common.details
      ) {
        flush();
        common.sitemap = sitemap;
        common.now = now;
        common.changefreq = changefreq;
        common.details = details;
      }
      gathered.push(pageId, lastmod, priority, lastmodText);
      pending.add(pageId);
      if (gathered.length === SIZES[0] * OWN_VALUES) flush();
    },
  };
}
