/**
 * Answers who leads to whom, for whoever decides about orphans, and writes what was decided, in one transaction; see
 * history-port.ts for the rules. Nothing is asked of all links but `ledTo`.
 */
import type { TransactionSql } from 'postgres';
import { PAGE_STATES } from '../../frontier/page-state.ts';
import { partsNumber } from '../change-parts.ts';
import type { LinkQuestions, Orphan } from '../history-port.ts';
import { knownByNumber, outcomeNumber, redirectBefore, returnedChange } from '../visit-rows.ts';
import { ask, recordset, rowsJson, type Session, transaction } from './session.ts';

const { Processed, DeadLink, Gone } = PAGE_STATES;
/** Whose links lead somewhere: not those of pages that vanished, but for a start URL, which is hardly gone for good. */
const LEADS = `(u.state NOT IN (${DeadLink}, ${Gone}) OR u.depth = 0)`;
const GONE = outcomeNumber('gone');
const NEW = outcomeNumber('new');
const CHANGED = outcomeNumber('changed');
const ORPHAN = knownByNumber('orphan');
const RECENT = '(SELECT id FROM run WHERE project_id = $1 ORDER BY id DESC LIMIT 20)';
const ofPage = (table: string, page = 'u') =>
  `${table}.page_id = ${page}.id AND ${table}.host_id = ${page}.host_id`;

interface Id {
  id: number;
}

export async function judgeOrphans<Answer>(
  session: Session,
  judge: (links: LinkQuestions) => Promise<Answer>,
): Promise<Answer> {
  session.window.touch();
  await session.window.flush();
  return transaction(session, async (tx) => {
    // Several workers may end a run at once: the second finds everything told.
    await ask(tx, 'SELECT 1 FROM project WHERE id = $1 FOR UPDATE', [session.projectId]);
    return judge(createLinkQuestions(tx, session));
  });
}

function createLinkQuestions(tx: TransactionSql, session: Session): LinkQuestions {
  const { projectId, runId } = session;
  const ids = async (text: string, values: unknown[]) =>
    (await ask<Id>(tx, text, values)).map(({ id }) => id);
  return {
    lostTargets: async (since) => [...(await findCandidates(tx, session, Math.round(since)))],
    mayBeOrphans: async (pageIds, state) =>
      pageIds.length === 0 ? [] : ids(`${FIT} AND ${STATES[state]}`, [pageIds, projectId, runId]),
    orphans: () => ask<Orphan>(tx, ALL_ORPHANS, [projectId]),
    ledToAnew: (pageIds) => ids(LED_TO, [projectId, pageIds]),
    targetsOf: (pageIds) => ids(LED_BY, [pageIds, projectId]),
    roots: () => ids(ROOTS, [projectId]),
    async ledTo(pageIds) {
      const led = new Set<number>();
      for (const text of [BY_REDIRECT, BY_LINK]) {
        const left = pageIds.filter((id) => !led.has(id));
        if (left.length > 0) for (const id of await ids(text, [left, projectId])) led.add(id);
      }
      return [...led];
    },
    async visits() {
      const [{ count }] = await ask<{ count: number }>(tx, VISITS, [runId]);
      return count;
    },
    async linkingPages(most) {
      const [{ count }] = await ask<{ count: number }>(tx, LINKING, [projectId, most]);
      return count;
    },
    async write({ orphans, returned, now }) {
      if (returned.length > 0) await tellReturned(tx, session, await keysOf(tx, returned), Math.round(now));
      if (orphans.length > 0) await tell(tx, session, await keysOf(tx, orphans), Math.round(now));
      await ask(tx, KEEP_GONE, [projectId]);
    },
  };
}

interface PageKey {
  i: number;
  h: number;
}

function keysOf(tx: TransactionSql, pageIds: readonly number[]): Promise<PageKey[]> {
  return ask(tx, 'SELECT id AS i, host_id AS h FROM url WHERE id = ANY($1::int[])', [pageIds]);
}

const STATES = { left: `u.state NOT IN (${DeadLink}, ${Gone})`, there: `u.state = ${Processed}` };

const VISITS = 'SELECT count(*)::int AS count FROM visit WHERE run_id = $1';
const LINKING = `
SELECT count(*)::int AS count FROM (SELECT 1 FROM link_set l JOIN url u ON ${ofPage('l')} WHERE u.project_id = $1 LIMIT $2) x`;

const ROOTS = `
SELECT u.id FROM url u WHERE u.project_id = $1 AND (u.depth = 0
  OR EXISTS (SELECT 1 FROM sitemap_entry e WHERE ${ofPage('e')} AND e.lost_run IS NULL))`;
const LED_BY = `
SELECT DISTINCT j.id FROM unnest($1::int[]) AS p(id) JOIN url u ON u.id = p.id
LEFT JOIN fetched f ON ${ofPage('f')} LEFT JOIN link_set l ON ${ofPage('l')}
CROSS JOIN LATERAL unnest(l.targets || f.redirect_to) AS j(id)
WHERE u.project_id = $2 AND ${LEADS} AND j.id IS NOT NULL`;
const OF_ORPHANS = `
FROM orphan o JOIN url u ON ${ofPage('o')} WHERE u.project_id = $1 AND u.state = ${Processed}`;
// Named by a sitemap, or a start URL now.
const ALL_ORPHANS = `
SELECT u.id AS "pageId", u.depth = 0 OR EXISTS (SELECT 1 FROM sitemap_entry e WHERE ${ofPage('e')}
  AND e.lost_run IS NULL) AS "isNamed" ${OF_ORPHANS}`;
// By pages that were read anew lately.
const LED_TO = `
SELECT DISTINCT j.id FROM visit v JOIN url u ON ${ofPage('v')}
LEFT JOIN fetched f ON ${ofPage('f')} LEFT JOIN link_set l ON ${ofPage('l')}
CROSS JOIN LATERAL unnest(l.targets || f.redirect_to) AS j(id)
WHERE v.run_id IN ${RECENT} AND v.outcome IN (${NEW}, ${CHANGED}) AND ${LEADS}
  AND j.id = ANY($2::int[]) AND u.id <> ALL($2::int[])`;

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
SELECT u.id FROM url u JOIN fetched f ON ${ofPage('f')}
WHERE u.id = ANY($1::int[]) AND u.project_id = $2 AND u.depth > 0
  AND u.discovered_run < $3 AND NOT EXISTS (SELECT 1 FROM orphan o WHERE ${ofPage('o')}) AND NOT EXISTS (
  SELECT 1 FROM visit v WHERE v.run_id = $3 AND ${ofPage('v')}
    AND (v.outcome = ${NEW} OR v.known_by = ${ORPHAN}))
  AND NOT EXISTS (SELECT 1 FROM sitemap_entry e WHERE ${ofPage('e')} AND e.lost_run IS NULL)`;
const BY_REDIRECT = `
SELECT DISTINCT f.redirect_to AS id FROM fetched f JOIN url u ON ${ofPage('f')}
WHERE f.redirect_to = ANY($1::int[]) AND f.redirect_to <> f.page_id AND u.project_id = $2 AND ${LEADS}`;
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
  pages: readonly PageKey[],
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
  orphans: readonly PageKey[],
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

interface ReturnedPage extends PageKey {
  at: number;
  detail: string | null;
  status_code: number | null;
}

async function tellReturned(
  tx: TransactionSql,
  session: Session,
  returned: readonly PageKey[],
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
