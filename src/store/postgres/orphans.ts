/**
 * Pages that nothing leads to any more, at the end of a run. Those of earlier runs are back when a page that this run
 * read, or a sitemap, leads to them. Who may have lost the last link is found first, from what
 * this run itself noted: removed links, pages that vanished, redirects that lead elsewhere, entries no longer named. Only
 * if there is one, a walk from the start URLs and the entries of sitemaps says who is still reached; where the project is too large for
 * what the run did, all links are looked through, once, for whoever is still led to.
 */
import type { TransactionSql } from 'postgres';
import { PAGE_STATES } from '../../frontier/page-state.ts';
import { partsNumber } from '../change-parts.ts';
import { mostWalked, PageSet } from '../page-set.ts';
import { knownByNumber, outcomeNumber, redirectBefore, returnedChange } from '../visit-rows.ts';
import { ask, recordset, rowsJson, type Session, transaction } from './session.ts';

const { Processed, DeadLink, Gone } = PAGE_STATES;
/** Whose links lead somewhere: not those of pages that vanished, but for a start URL, which is hardly gone for good. */
const LEADS = `(u.state NOT IN (${DeadLink}, ${Gone}) OR u.depth = 0)`;
const GONE = outcomeNumber('gone');
const NEW = outcomeNumber('new');
const CHANGED = outcomeNumber('changed');
const ORPHAN = knownByNumber('orphan');
/** Runs that are looked back on: one that ended early asked nobody, and a page may have failed when it was led to again. */
const RECENT = '(SELECT id FROM run WHERE project_id = $1 ORDER BY id DESC LIMIT 20)';
const ofPage = (table: string, page = 'u') =>
  `${table}.page_id = ${page}.id AND ${table}.host_id = ${page}.host_id`;

export async function markOrphans(session: Session, since: number, now: number): Promise<number> {
  session.window.touch();
  await session.window.flush();
  return transaction(session, async (tx) => {
    // Several workers may end a run at once: the second finds everything told.
    await ask(tx, 'SELECT 1 FROM project WHERE id = $1 FOR UPDATE', [session.projectId]);
    const candidates = await findCandidates(tx, session, Math.round(since));
    const lost = candidates.size === 0 ? [] : await fitOf(tx, session, [...candidates], IS_LEFT);
    const found = { lost, returned: await findReturned(tx, session) };
    const isWalked = found.lost.length + found.returned.length > 0 && (await mayWalk(tx, session));
    const { lost: orphans, returned } = isWalked
      ? await walk(tx, session, found)
      : { ...found, lost: await dropLed(tx, session, lost) };
    if (returned.length > 0) await tellReturned(tx, session, returned, Math.round(now));
    if (orphans.length > 0) await tell(tx, session, orphans, Math.round(now));
    await ask(tx, KEEP_GONE, [session.projectId]);
    return orphans.length;
  });
}

/** Strikes out whoever a page leads to, whether that one is reached or not. */
async function dropLed(
  tx: TransactionSql,
  session: Session,
  pages: readonly LonelyPage[],
): Promise<LonelyPage[]> {
  const there = await fitOf(
    tx,
    session,
    pages.map(({ i }) => i),
    IS_THERE,
  );
  const ids = there.map(({ i }) => i);
  const led = new Set<number>();
  for (const text of [BY_REDIRECT, BY_ENTRY, BY_LINK]) {
    const left = ids.filter((id) => !led.has(id));
    if (left.length === 0) return [];
    for (const { id } of await ask<{ id: number }>(tx, text, [left, session.projectId])) led.add(id);
  }
  return there.filter(({ i }) => !led.has(i));
}

/** Only what answers is told; what failed may have led on to others before it was lost. */
const IS_THERE = `u.state = ${Processed}`;
const IS_LEFT = `u.state NOT IN (${DeadLink}, ${Gone})`;

/** Who of these can be an orphan, whoever leads to it. */
function fitOf(
  tx: TransactionSql,
  { projectId, runId }: Session,
  ids: number[],
  state: typeof IS_THERE | typeof IS_LEFT,
): Promise<LonelyPage[]> {
  return ask<LonelyPage>(tx, `${FIT} AND ${state}`, [ids, projectId, runId]);
}

const VISITS = 'SELECT count(*)::int AS count FROM visit WHERE run_id = $1';
const LINKING = `
SELECT count(*)::int AS count FROM (SELECT 1 FROM link_set l JOIN url u ON ${ofPage('l')} WHERE u.project_id = $1 LIMIT $2) x`;

async function mayWalk(tx: TransactionSql, { projectId, runId }: Session): Promise<boolean> {
  const [visits] = await ask<{ count: number }>(tx, VISITS, [runId]);
  const limit = mostWalked(visits.count);
  const [pages] = await ask<{ count: number }>(tx, LINKING, [projectId, limit + 1]);
  return pages.count <= limit;
}

const ROOTS = `
SELECT u.id FROM url u WHERE u.project_id = $1 AND (u.depth = 0
  OR EXISTS (SELECT 1 FROM sitemap_entry e WHERE ${ofPage('e')} AND e.lost_run IS NULL))`;
const LED_BY = `
SELECT DISTINCT j.id FROM unnest($1::int[]) AS p(id) JOIN url u ON u.id = p.id
LEFT JOIN fetched f ON ${ofPage('f')} LEFT JOIN link_set l ON ${ofPage('l')}
CROSS JOIN LATERAL unnest(l.targets || f.redirect_to) AS j(id)
WHERE u.project_id = $2 AND ${LEADS} AND j.id IS NOT NULL`;
/** Few, so that they are looked up one by one whatever the size of the tables. */
const EXPANDED_AT_ONCE = 1000;

interface Moved {
  lost: LonelyPage[];
  returned: LonelyPage[];
}

/**
 * Of the lost who is not reached any more, and whoever only such pages lead to; of the returned who is reached: what leads
 * there may be lost itself.
 */
async function walk(tx: TransactionSql, session: Session, { lost, returned }: Moved): Promise<Moved> {
  const sought = new Set([...lost, ...returned].map(({ i }) => i));
  const reached = new PageSet();
  const reachFrom = async (from: Iterable<number>, onPage: (id: number) => void) => {
    let next: number[] = [];
    const reach = (id: number) => {
      if (!reached.add(id)) return;
      onPage(id);
      next.push(id);
    };
    for (const id of from) reach(id);
    // Level by level: what is lost here is mostly linked from somewhere near.
    while (next.length > 0 && sought.size > 0) {
      const level = next;
      next = [];
      for (let at = 0; at < level.length && sought.size > 0; at += EXPANDED_AT_ONCE) {
        const some = level.slice(at, at + EXPANDED_AT_ONCE);
        for (const { id } of await ask<{ id: number }>(tx, LED_BY, [some, session.projectId])) reach(id);
      }
    }
  };
  const roots = await ask<{ id: number }>(tx, ROOTS, [session.projectId]);
  await reachFrom(
    roots.map(({ id }) => id),
    (id) => sought.delete(id),
  );
  const back = returned.filter(({ i }) => !sought.has(i));
  const left = lost.map(({ i }) => i).filter((id) => sought.has(id));
  if (left.length === 0) return { lost: [], returned: back };
  const cutOff: number[] = [];
  await reachFrom(left, (id) => cutOff.push(id));
  return { lost: await fitOf(tx, session, cutOff, IS_THERE), returned: back };
}

const OF_ORPHANS = `
FROM orphan o JOIN url u ON ${ofPage('o')} WHERE u.project_id = $1 AND u.state = ${Processed}`;
// Named by a sitemap, or a start URL now.
const ALL_ORPHANS = `
SELECT u.id AS i, u.host_id AS h, u.depth = 0 OR EXISTS (SELECT 1 FROM sitemap_entry e WHERE ${ofPage('e')}
  AND e.lost_run IS NULL) AS named ${OF_ORPHANS}`;
// By pages that were read anew lately.
const LED_TO = `
SELECT DISTINCT j.id FROM visit v JOIN url u ON ${ofPage('v')}
LEFT JOIN fetched f ON ${ofPage('f')} LEFT JOIN link_set l ON ${ofPage('l')}
CROSS JOIN LATERAL unnest(l.targets || f.redirect_to) AS j(id)
WHERE v.run_id IN ${RECENT} AND v.outcome IN (${NEW}, ${CHANGED}) AND ${LEADS}
  AND j.id = ANY($2::int[]) AND u.id <> ALL($2::int[])`;

async function findReturned(tx: TransactionSql, session: Session): Promise<LonelyPage[]> {
  const orphans = await ask<LonelyPage & { named: boolean }>(tx, ALL_ORPHANS, [session.projectId]);
  if (orphans.length === 0) return [];
  const led = await ask<{ id: number }>(tx, LED_TO, [session.projectId, orphans.map(({ i }) => i)]);
  const all = new Set(orphans.map(({ i }) => i));
  const returned = new Set(led.map(({ id }) => id));
  for (const { i, named } of orphans) if (named) returned.add(i);
  // One that is back leads on.
  for (let from = [...returned]; from.length > 0; ) {
    const next = await ask<{ id: number }>(tx, LED_BY, [from, session.projectId]);
    from = next.map(({ id }) => id).filter((id) => all.has(id) && !returned.has(id));
    for (const id of from) returned.add(id);
  }
  return orphans.filter(({ i }) => returned.has(i)).map(({ i, h }) => ({ i, h }));
}

interface LonelyPage {
  i: number;
  h: number;
}

const REMOVED = `SELECT DISTINCT unnest(removed) AS id FROM link_change WHERE run_id IN ${RECENT}`;
const OF_VANISHED = `
SELECT unnest(l.targets || f.redirect_to) AS id
FROM visit v JOIN url u ON ${ofPage('v')} LEFT JOIN fetched f ON ${ofPage('f')} LEFT JOIN link_set l ON ${ofPage('l')}
WHERE v.run_id IN ${RECENT} AND v.outcome = ${GONE}`;
const REDIRECTED = `SELECT detail FROM page_change WHERE run_id IN ${RECENT} AND parts & ${partsNumber(['redirect'])} <> 0`;
const LOSE_ENTRIES = `
UPDATE sitemap_entry e SET lost_run = $1 FROM discovery d, url u
WHERE d.project_id = $2 AND d.method = 'sitemap' AND d.trouble IS NULL AND d.checked_at >= $3 AND e.host_id = d.host_id
  AND ${ofPage('e')}
  AND u.project_id = $2 AND e.last_seen < $3 AND e.lost_run IS NULL RETURNING e.page_id AS id`;

// Of this run's pages: when they lost their entries lately, they may have failed, or have been new.
const UNNAMED = `
SELECT e.page_id AS id FROM visit v JOIN sitemap_entry e ON e.page_id = v.page_id AND e.host_id = v.host_id
WHERE v.run_id = $2 AND e.lost_run IN ${RECENT}`;

async function findCandidates(tx: TransactionSql, session: Session, since: number): Promise<Set<number>> {
  const { runId, projectId } = session;
  const ids = new Set<number>();
  const add = (rows: { id: number | null }[]) => {
    for (const { id } of rows) if (id !== null) ids.add(id);
  };
  add(await ask(tx, LOSE_ENTRIES, [runId, projectId, since]));
  add(await ask(tx, UNNAMED, [projectId, runId]));
  add(await ask(tx, REMOVED, [projectId]));
  add(await ask(tx, OF_VANISHED, [projectId]));
  const urls = (await ask<{ detail: string }>(tx, REDIRECTED, [projectId]))
    .map(({ detail }) => redirectBefore(detail))
    .filter((url) => url !== null);
  if (urls.length > 0) add(await findUrls(tx, session, urls));
  return ids;
}

const BY_IDENTITY = `
SELECT u.id FROM ${recordset(1, 'h text, i uuid', 'r')} JOIN host h ON h.name = r.h
JOIN url u ON u.host_id = h.id AND u.project_id = $2 AND u.identity = r.i`;

function findUrls(tx: TransactionSql, session: Session, urls: readonly string[]): Promise<{ id: number }[]> {
  const rows = urls.map((url) => ({ h: new URL(url).hostname, i: session.identityOf(url) }));
  return ask(tx, BY_IDENTITY, [rowsJson(rows), session.projectId]);
}

// Read in an earlier run, and not told yet.
const FIT = `
SELECT u.id AS i, u.host_id AS h FROM url u JOIN fetched f ON ${ofPage('f')}
WHERE u.id = ANY($1::int[]) AND u.project_id = $2 AND u.depth > 0
  AND u.discovered_run < $3 AND NOT EXISTS (SELECT 1 FROM orphan o WHERE ${ofPage('o')}) AND NOT EXISTS (
  SELECT 1 FROM visit v WHERE v.run_id = $3 AND ${ofPage('v')}
    AND (v.outcome = ${NEW} OR v.known_by = ${ORPHAN}))`;
const BY_REDIRECT = `
SELECT DISTINCT f.redirect_to AS id FROM fetched f JOIN url u ON ${ofPage('f')}
WHERE f.redirect_to = ANY($1::int[]) AND f.redirect_to <> f.page_id AND u.project_id = $2 AND ${LEADS}`;
const BY_ENTRY = `
SELECT u.id FROM url u JOIN sitemap_entry e ON ${ofPage('e')}
WHERE u.id = ANY($1::int[]) AND u.project_id = $2 AND e.lost_run IS NULL`;
// Few are looked for in the arrays themselves, many by a hash of them: each way is slow for the other.
const BY_LINK = `
SELECT DISTINCT j.id FROM link_set l JOIN url u ON ${ofPage('l')} CROSS JOIN unnest(l.targets) AS j(id)
JOIN unnest($1::int[]) AS c(id) ON c.id = j.id
WHERE u.project_id = $2 AND ${LEADS} AND j.id <> l.page_id
  AND (cardinality($1::int[]) > 16 OR l.targets && $1::int[])`;

// A page that was visited in the run keeps its one line, so that nothing counts twice.
const RETELL = `
UPDATE visit v SET outcome = $3::smallint, known_by = ${ORPHAN} FROM (
  SELECT r.i, r.h, max(o.visited_at) AS at FROM ${recordset(1, 'i int, h int', 'r')}
  JOIN visit o ON o.run_id = $2 AND o.page_id = r.i AND o.host_id = r.h GROUP BY r.i, r.h) t
WHERE v.run_id = $2 AND v.page_id = t.i AND v.host_id = t.h AND v.visited_at = t.at RETURNING v.page_id AS id`;
const ADD_LINES = `
INSERT INTO visit (run_id, page_id, visited_at, host_id, outcome, known_by, wire_bytes, bytes_saved)
SELECT $2, i, $3, h, $4::smallint, ${ORPHAN}, 0, 0 FROM ${recordset(1, 'i int, h int', 'r')}`;

async function writeLines(
  tx: TransactionSql,
  { runId }: Session,
  pages: readonly LonelyPage[],
  outcome: number,
  now: number,
): Promise<void> {
  const retold = await ask<{ id: number }>(tx, RETELL, [rowsJson(pages), runId, outcome]);
  const seen = new Set(retold.map(({ id }) => id));
  const unvisited = pages.filter(({ i }) => !seen.has(i));
  if (unvisited.length > 0) await ask(tx, ADD_LINES, [rowsJson(unvisited), runId, now, outcome]);
}

const KEEP = `INSERT INTO orphan (page_id, host_id, run_id) SELECT i, h, $2 FROM ${recordset(1, 'i int, h int', 'r')}`;

async function tell(
  tx: TransactionSql,
  session: Session,
  orphans: readonly LonelyPage[],
  now: number,
): Promise<void> {
  await writeLines(tx, session, orphans, GONE, now);
  await ask(tx, KEEP, [rowsJson(orphans), session.runId]);
}

// Whatever its visits find, a page is gone as long as nothing leads to it.
export const KEEP_GONE = `
UPDATE fetched f SET change = 'gone' FROM (SELECT u.id, u.host_id ${OF_ORPHANS}) u
WHERE ${ofPage('f')} AND f.change IS DISTINCT FROM 'gone'`;

const RETURNED = `
SELECT r.i, r.h, v.visited_at AS at, c.detail, f.status_code FROM ${recordset(1, 'i int, h int', 'r')}
JOIN visit v ON v.run_id = $2 AND v.page_id = r.i AND v.host_id = r.h AND v.known_by = ${ORPHAN}
JOIN fetched f ON f.page_id = r.i AND f.host_id = r.h
LEFT JOIN page_change c ON c.run_id = $2 AND c.page_id = r.i AND c.host_id = r.h AND c.visited_at = v.visited_at`;
const PUT_CHANGES = `
INSERT INTO page_change (run_id, page_id, visited_at, host_id, parts, detail)
SELECT $2, i, at, h, parts, detail FROM ${recordset(1, 'i int, h int, at bigint, parts int, detail text', 'r')}
ON CONFLICT (run_id, page_id, visited_at, host_id) DO UPDATE SET parts = excluded.parts, detail = excluded.detail`;
const SET_CHANGED = `
UPDATE fetched f SET change = 'changed' FROM ${recordset(1, 'i int, h int', 'r')}
WHERE f.page_id = r.i AND f.host_id = r.h`;
const FORGET = `DELETE FROM orphan o USING ${recordset(1, 'i int, h int', 'r')} WHERE o.page_id = r.i`;

interface ReturnedPage extends LonelyPage {
  at: number;
  detail: string | null;
  status_code: number | null;
}

async function tellReturned(
  tx: TransactionSql,
  session: Session,
  returned: readonly LonelyPage[],
  now: number,
): Promise<void> {
  const json = rowsJson(returned);
  await writeLines(tx, session, returned, CHANGED, now);
  const pages = await ask<ReturnedPage>(tx, RETURNED, [json, session.runId]);
  const changes = pages.map(({ i, h, at, detail, status_code }) => ({
    i,
    h,
    at,
    ...returnedChange(detail, status_code),
  }));
  await ask(tx, PUT_CHANGES, [rowsJson(changes), session.runId]);
  await ask(tx, SET_CHANGED, [json]);
  await ask(tx, FORGET, [json]);
}
