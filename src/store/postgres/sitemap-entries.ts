/**
 * Sitemap entries: offered like links of depth 1, and kept beside their pages, in one transaction a batch behind that of new
 * pages; and what is known of how the pages of a host are found.
 */
import type { TransactionSql } from 'postgres';
import { PAGE_STATES } from '../../frontier/page-state.ts';
import { checkTransition } from '../../frontier/page-transitions.ts';
import { NO_DEPTH } from '../settlement.ts';
import type { HostDiscovery, SavedEntry, SitemapFinding } from '../sitemap-port.ts';
import { discoveryOf, LEAST_DAY_LETTERS, type StoredDiscovery } from '../visit-rows.ts';
import { applyEffects, hasWorkForOthers, lockQueues, newEffects, writeWaiting } from './effects.ts';
import type { PendingCandidate, Resolved } from './group.ts';
import { makeUrls } from './make-urls.ts';
import { lower, reopen, reopenPriorityOf } from './offers.ts';
import { setPrepared } from './runs.ts';
import { ask, recordset, rowsJson, type Session, transaction } from './session.ts';
import { notifyWork } from './write-rows.ts';

const BATCH = 4000;

export async function saveEntries(
  session: Session,
  findings: readonly SitemapFinding[],
  now: number,
): Promise<SavedEntry[]> {
  await setPrepared(session);
  const saved: SavedEntry[] = [];
  for (let at = 0; at < findings.length; at += BATCH) {
    const batch = findings.slice(at, at + BATCH);
    for (const { candidate } of batch) checkTransition('found', PAGE_STATES.Discovered, candidate.state);
    saved.push(...(await saveBatch(session, batch, now)));
  }
  return saved;
}

/** Of an entry: its date, and the sitemap that named it last, unless that does so no more. */
interface EntryBefore {
  lastmod: number | null;
  sitemap: string | null;
}
const NOTHING: EntryBefore = { lastmod: null, sitemap: null };

async function saveBatch(
  session: Session,
  findings: readonly SitemapFinding[],
  now: number,
): Promise<SavedEntry[]> {
  // A URL that stands twice is one page, and one entry: the last one's words, the newest of the dates.
  const byUrl = new Map<string, { finding: SitemapFinding; pending: PendingCandidate }>();
  for (const finding of findings) {
    const { candidate, lastmod } = finding;
    const depth = candidate.onlyNofollow ? NO_DEPTH : candidate.depth;
    const reopenPriority = reopenPriorityOf(candidate);
    const earlier = byUrl.get(candidate.url);
    if (earlier === undefined) {
      const pending = { candidate, depth, shorterDepth: depth, referrerId: null, reopenPriority };
      byUrl.set(candidate.url, { finding, pending });
      continue;
    }
    earlier.finding = { ...finding, lastmod: newest(earlier.finding.lastmod, lastmod) };
    earlier.pending.shorterDepth = Math.min(earlier.pending.shorterDepth, depth);
    earlier.pending.reopenPriority ??= reopenPriority;
  }
  const distinct = [...byUrl.values()];
  const pending = distinct.map((each) => each.pending);
  const resolved = await makeUrls(session, pending);
  const { before, effects } = await transaction(session, async (tx) => {
    const effects = newEffects();
    // One at a time: whoever comes second must see what the first one's dates were.
    await ask(tx, 'SELECT pg_advisory_xact_lock(hashtextextended($1, 0))', [
      `sumi entries ${session.projectId}`,
    ]);
    await lower(tx, session, shorterPaths(pending, resolved), effects);
    await reopen(tx, pending, resolved, effects);
    const before = await putEntries(
      tx,
      distinct.map(({ finding }, i) => ({ finding, page: resolved[i] })),
      now,
    );
    await lockQueues(tx, effects, []);
    await writeWaiting(tx, session, effects);
    if (hasWorkForOthers(session, effects)) await notifyWork(tx, session);
    return { before, effects };
  });
  applyEffects(session, effects);
  for (const [i, { finding }] of distinct.entries()) {
    const { id, hostId } = resolved[i];
    const date = finding.lastmod === null ? null : Math.round(finding.lastmod);
    const isDay = (finding.lastmodText?.length ?? 0) >= LEAST_DAY_LETTERS;
    const holding = session.held.get(hostId);
    const found = { date, isDay, seenAt: Math.round(now) };
    holding?.waiting.date(id, found);
    const claimed = holding?.inFlight.get(id);
    // One that is given back unvisited is claimed anew with it.
    if (claimed !== undefined) claimed.dates = [...(claimed.dates ?? []), found];
  }
  const places = new Map([...byUrl.keys()].map((url, i) => [url, i]));
  return findings.map(({ candidate, lastmod, sitemap }) => {
    const { id } = resolved[places.get(candidate.url)!];
    const { lastmod: date, sitemap: last } = before.get(id) ?? NOTHING;
    const isNewer = lastmod !== null && (date === null || lastmod > date);
    before.set(id, { lastmod: isNewer ? lastmod : date, sitemap });
    return { pageId: id, isNewer, namedBy: last === null ? 'none' : last === sitemap ? 'same' : 'another' };
  });
}

function newest(a: number | null, b: number | null): number | null {
  return a === null || b === null ? (a ?? b) : Math.max(a, b);
}

function shorterPaths(
  candidates: readonly PendingCandidate[],
  resolved: readonly Resolved[],
): Map<number, number> {
  const shorter = new Map<number, number>();
  for (const [i, { shorterDepth }] of candidates.entries())
    if (shorterDepth < resolved[i].depth) shorter.set(resolved[i].id, shorterDepth);
  return shorter;
}

const PUT_ENTRIES = `
WITH r AS (SELECT * FROM ${recordset(1, 'i int, h int, l bigint, c text, p float8, s text, t text, d text', 'r')}),
  old AS (SELECT e.page_id, e.lastmod, CASE WHEN e.lost_run IS NULL THEN e.sitemap END AS sitemap FROM r JOIN sitemap_entry e ON e.page_id = r.i AND e.host_id = r.h),
  put AS (INSERT INTO sitemap_entry AS e (page_id, host_id, lastmod, changefreq, priority, sitemap, first_seen, last_seen,
      lastmod_text, details)
    SELECT i, h, l, c, p, s, $2, $2, t, d FROM r ORDER BY h, i
    ON CONFLICT (page_id, host_id) DO UPDATE SET
      lastmod = CASE WHEN e.last_seen = excluded.last_seen THEN greatest(e.lastmod, excluded.lastmod) ELSE excluded.lastmod END,
      changefreq = excluded.changefreq, priority = excluded.priority, sitemap = excluded.sitemap,
      last_seen = excluded.last_seen, lost_run = NULL, lastmod_text = excluded.lastmod_text, details = excluded.details)
SELECT page_id AS id, lastmod, sitemap FROM old`;

/** Answers what was stored before. */
async function putEntries(
  tx: TransactionSql,
  entries: readonly { finding: SitemapFinding; page: Resolved }[],
  now: number,
): Promise<Map<number, EntryBefore>> {
  const rows = entries.map(({ finding, page }) => ({
    i: page.id,
    h: page.hostId,
    l: finding.lastmod === null ? null : Math.round(finding.lastmod),
    c: finding.changefreq,
    p: finding.priority,
    s: finding.sitemap,
    t: finding.lastmodText,
    d: finding.details,
  }));
  const values = [rowsJson(rows), Math.round(now)];
  const old = await ask<EntryBefore & { id: number }>(tx, PUT_ENTRIES, values);
  return new Map(old.map(({ id, lastmod, sitemap }) => [id, { lastmod, sitemap }]));
}

const READ_DISCOVERY = `
SELECT d.method, d.checked_at, d.entries, d.sitemaps, d.trouble, d.looks, d.searched, d.guessed
FROM discovery d JOIN host h ON h.id = d.host_id
WHERE h.name = $1 AND d.project_id = $2`;

export async function readDiscovery(session: Session, host: string): Promise<HostDiscovery | null> {
  const [row] = await session.attempt((sql) =>
    ask<StoredDiscovery>(sql, READ_DISCOVERY, [host, session.projectId]),
  );
  return row === undefined ? null : discoveryOf(row);
}

const PUT_DISCOVERY = `
INSERT INTO discovery (project_id, host_id, method, checked_at, entries, sitemaps, trouble, looks, searched, guessed)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
ON CONFLICT (host_id, project_id) DO UPDATE SET method = excluded.method, checked_at = excluded.checked_at,
  entries = excluded.entries, sitemaps = excluded.sitemaps, trouble = excluded.trouble, looks = excluded.looks,
  searched = excluded.searched, guessed = excluded.guessed`;

export async function saveDiscovery(session: Session, host: string, found: HostDiscovery): Promise<void> {
  const hosts = await transaction(session, async (tx) => {
    const ids = await session.hosts.ensure(tx, [host]);
    const { method, checkedAt, entries, sitemaps, trouble } = found;
    const looks = found.looks === undefined ? null : JSON.stringify(found.looks);
    const searched = found.searched === null ? null : JSON.stringify(found.searched);
    const guessed = found.guessed === null ? null : JSON.stringify(found.guessed);
    const values = [
      method,
      Math.round(checkedAt),
      entries,
      JSON.stringify(sitemaps),
      trouble,
      looks,
      searched,
      guessed,
    ];
    await ask(tx, PUT_DISCOVERY, [session.projectId, ids.get(host), ...values]);
    return ids;
  });
  session.hosts.remember(hosts);
}
