/**
 * Answers who leads to whom, for whoever decides about orphans, and writes what was decided; see history-port.ts for the
 * rules. Nothing is asked of all links but `ledTo`.
 */
import type { Database } from 'better-sqlite3';
import { PAGE_STATES } from '../../frontier/page-state.ts';
import { partsNumber } from '../change-parts.ts';
import type { LinkQuestions, Orphan, OrphanVerdict } from '../history-port.ts';
import { knownByNumber, outcomeNumber, redirectBefore, returnedChange } from '../visit-rows.ts';
import { unpackNumbers } from './pack-links.ts';
import type { Session } from './session.ts';

const SETS_A_BATCH = 500;
const { Processed, DeadLink, Gone } = PAGE_STATES;
const GONE = outcomeNumber('gone');
const ORPHAN = knownByNumber('orphan');
const NEW = outcomeNumber('new');
const CHANGED = outcomeNumber('changed');
const REDIRECT = partsNumber(['redirect']);
/** Whose links lead somewhere: not those of pages that vanished, but for a start URL. */
const LEADS = `(u.state NOT IN (${DeadLink}, ${Gone}) OR u.depth = 0)`;
/** What could not be read may name what was not seen. */
const WAS_READ_WHOLE = "d.method = 'sitemap' AND d.trouble IS NULL";
const RECENT = '(SELECT id FROM run WHERE project_id = @project ORDER BY id DESC LIMIT 20)';
const IS_NAMED = 'EXISTS (SELECT 1 FROM sitemap_entry e WHERE e.page_id = u.id AND e.lost_run IS NULL)';
const OF_ORPHANS = `FROM orphan o CROSS JOIN url u ON u.id = o.page_id
     WHERE u.project_id = @project AND u.state = ${Processed}`;

export function createLinkQuestions(session: Session): LinkQuestions {
  const { db, projectId, runId } = session;
  const project = { project: projectId };
  const expand = prepareExpand(db, projectId);
  return {
    async lostTargets(since) {
      const lost = new Set<number>();
      addLostTargets(session, lost);
      addLostEntries(session, lost, since);
      addUnnamed(session, lost);
      return [...lost];
    },
    mayBeOrphans: async (pageIds, state) => dropUnfit(session, pageIds, state),
    async orphans() {
      const rows = db
        .prepare(`SELECT u.id AS pageId, u.depth = 0 OR ${IS_NAMED} AS isNamed ${OF_ORPHANS}`)
        .all(project) as { pageId: number; isNamed: number }[];
      return rows.map(({ pageId, isNamed }): Orphan => ({ pageId, isNamed: isNamed === 1 }));
    },
    ledToAnew: async (pageIds) => ledToAnew(db, projectId, new Set(pageIds)),
    targetsOf: async (pageIds) => pageIds.flatMap(expand),
    async roots() {
      const read = db.prepare(
        `SELECT u.id FROM url u WHERE u.project_id = ? AND (u.depth = 0 OR ${IS_NAMED})`,
      );
      return read.pluck().all(projectId) as number[];
    },
    async ledTo(pageIds) {
      const sought = new Set(pageIds);
      const found: number[] = [];
      const see = (id: number) => {
        if (sought.delete(id)) found.push(id);
      };
      seeRedirects(db, projectId, see);
      seeLinks(db, projectId, see, () => sought.size === 0);
      return found;
    },
    visits: async () =>
      db.prepare('SELECT count(*) FROM visit WHERE run_id = ?').pluck().get(runId) as number,
    linkingPages: async (most) =>
      db
        .prepare(
          `SELECT count(*) FROM (SELECT 1 FROM link_set l CROSS JOIN url u ON u.id = l.page_id
             WHERE u.project_id = ? LIMIT ?)`,
        )
        .pluck()
        .get(projectId, most) as number,
    async write({ orphans, returned, now }: OrphanVerdict) {
      tellReturned(session, returned, now);
      tell(session, orphans, now);
      keepGone(session);
    },
  };
}

function ledToAnew(db: Database, projectId: number, sought: ReadonlySet<number>): number[] {
  const found = new Set<number>();
  const read = db.prepare(
    `SELECT v.page_id, l.targets, f.redirect_to FROM visit v CROSS JOIN url u ON u.id = v.page_id
       LEFT JOIN link_set l ON l.page_id = v.page_id LEFT JOIN fetched f ON f.page_id = v.page_id
     WHERE v.run_id IN ${RECENT} AND v.outcome IN (${NEW}, ${CHANGED}) AND ${LEADS}`,
  );
  for (const row of read.iterate({ project: projectId }) as Iterable<Leading & { page_id: number }>)
    if (!sought.has(row.page_id)) for (const id of ledBy(row)) if (sought.has(id)) found.add(id);
  return [...found];
}

interface Leading {
  targets: string | null;
  redirect_to: number | null;
}

function ledBy({ targets, redirect_to }: Leading): number[] {
  const led = targets === null ? [] : unpackNumbers(targets);
  if (redirect_to !== null) led.push(redirect_to);
  return led;
}

/** Where a page leads. */
function prepareExpand(db: Database, projectId: number): (pageId: number) => number[] {
  const read = db.prepare(
    `SELECT l.targets, f.redirect_to FROM url u LEFT JOIN link_set l ON l.page_id = u.id
       LEFT JOIN fetched f ON f.page_id = u.id
     WHERE u.id = ? AND u.project_id = ? AND ${LEADS}`,
  );
  return (pageId) => {
    const row = read.get(pageId, projectId) as Leading | undefined;
    return row === undefined ? [] : ledBy(row);
  };
}

/** In the line of its visit, or in one of its own where there was none. */
function tellReturned({ db, runId }: Session, returned: readonly number[], now: number): void {
  const ofVisit = 'run_id = @run AND page_id = @page AND visited_at = @at';
  const findVisit = db.prepare('SELECT max(visited_at) FROM visit WHERE run_id = ? AND page_id = ?').pluck();
  const turn = db.prepare(`UPDATE visit SET outcome = ${CHANGED}, known_by = ${ORPHAN} WHERE ${ofVisit}`);
  const add = db.prepare(
    `INSERT INTO visit (run_id, page_id, visited_at, outcome, known_by) VALUES (@run, @page, @at, ${CHANGED}, ${ORPHAN})`,
  );
  const findDetail = db.prepare(`SELECT detail FROM page_change WHERE ${ofVisit}`).pluck();
  const putChange = db.prepare(
    'INSERT OR REPLACE INTO page_change VALUES (@run, @page, @at, @parts, @detail)',
  );
  const setChange = db
    .prepare("UPDATE fetched SET change = 'changed' WHERE page_id = ? RETURNING status_code")
    .pluck();
  const forget = db.prepare('DELETE FROM orphan WHERE page_id = ?');
  for (const page of returned) {
    const visitedAt = findVisit.get(runId, page) as number | null;
    const line = { run: runId, page, at: visitedAt ?? Math.round(now) };
    (visitedAt === null ? add : turn).run(line);
    const status = setChange.get(page) as number | null;
    const detail = (findDetail.get(line) ?? null) as string | null;
    putChange.run({ ...line, ...returnedChange(detail, status) });
    forget.run(page);
  }
}

/** Whatever its visits find, a page is gone as long as nothing leads to it; also at the end of a run that asked nobody. */
export function keepGone({ db, projectId }: Session): void {
  const ofOrphans = `page_id IN (SELECT u.id ${OF_ORPHANS})`;
  db.prepare(`UPDATE fetched SET change = 'gone' WHERE ${ofOrphans} AND change IS NOT 'gone'`).run({
    project: projectId,
  });
}

/** Targets of links and redirects that went lately, with their page or without; an orphan's go with it. */
function addLostTargets({ db, projectId, known }: Session, lost: Set<number>): void {
  const project = { project: projectId };
  const removed = db
    .prepare(`SELECT removed FROM link_change WHERE run_id IN ${RECENT} AND removed <> '[]'`)
    .pluck();
  for (const ids of removed.all(project) as string[]) for (const id of unpackNumbers(ids)) lost.add(id);
  const vanished = db.prepare(
    `SELECT l.targets, f.redirect_to FROM visit v LEFT JOIN link_set l ON l.page_id = v.page_id
       LEFT JOIN fetched f ON f.page_id = v.page_id
     WHERE v.run_id IN ${RECENT} AND v.outcome = ${GONE}`,
  );
  for (const { targets, redirect_to } of vanished.all(project) as {
    targets: string | null;
    redirect_to: number | null;
  }[]) {
    for (const id of targets === null ? [] : unpackNumbers(targets)) lost.add(id);
    if (redirect_to !== null) lost.add(redirect_to);
  }
  const redirected = db
    .prepare(`SELECT detail FROM page_change WHERE run_id IN ${RECENT} AND (parts & ${REDIRECT}) <> 0`)
    .pluck();
  for (const detail of redirected.all(project) as string[]) {
    const before = redirectBefore(detail);
    const id = before === null ? 0 : known.find(before);
    if (id !== 0) lost.add(id);
  }
}

/** Entries are lost once: marked, they lead nowhere until a sitemap names them again. */
function addLostEntries({ db, projectId, runId }: Session, lost: Set<number>, since: number): void {
  const hasRead = db.prepare(
    `SELECT 1 FROM discovery d WHERE project_id = ? AND ${WAS_READ_WHOLE} AND checked_at >= ? LIMIT 1`,
  );
  if (hasRead.get(projectId, since) === undefined) return;
  db.prepare(
    `UPDATE sitemap_entry SET lost_run = @run WHERE page_id IN (SELECT e.page_id FROM sitemap_entry e
       CROSS JOIN url u ON u.id = e.page_id CROSS JOIN discovery d ON d.project_id = u.project_id AND d.host_id = u.host_id
       WHERE e.last_seen < @since AND e.lost_run IS NULL AND u.project_id = @project
         AND ${WAS_READ_WHOLE} AND d.checked_at >= @since)`,
  ).run({ run: runId, since, project: projectId });
  // Also those that were marked by this run before it was cut off.
  const marked = db.prepare('SELECT page_id FROM sitemap_entry WHERE lost_run = ?').pluck().all(runId);
  for (const id of marked as number[]) lost.add(id);
}

/** Pages of this run whose entries were lost lately: then they may have failed, or have been new. */
function addUnnamed({ db, projectId, runId }: Session, lost: Set<number>): void {
  const unnamed = db
    .prepare(
      `SELECT e.page_id FROM visit v CROSS JOIN sitemap_entry e ON e.page_id = v.page_id
       WHERE v.run_id = @run AND e.lost_run IN ${RECENT}`,
    )
    .pluck();
  for (const id of unnamed.all({ run: runId, project: projectId }) as number[]) lost.add(id);
}

const STATES = { left: `u.state NOT IN (${DeadLink}, ${Gone})`, there: `u.state = ${Processed}` };

function dropUnfit(
  { db, projectId, runId }: Session,
  pageIds: readonly number[],
  state: keyof typeof STATES,
): number[] {
  const isFit = db
    .prepare(
      `SELECT 1 FROM url u JOIN fetched f ON f.page_id = u.id
       WHERE u.id = @page AND u.project_id = @project AND ${STATES[state]} AND u.depth > 0
         AND u.discovered_run < @run AND NOT EXISTS (SELECT 1 FROM orphan o WHERE o.page_id = u.id)
         AND NOT EXISTS (SELECT 1 FROM visit v WHERE v.run_id = @run AND v.page_id = u.id
           AND (v.outcome = ${NEW} OR v.known_by = ${ORPHAN}))
         AND NOT ${IS_NAMED}`,
    )
    .pluck();
  return pageIds.filter((page) => isFit.get({ page, project: projectId, run: runId }) !== undefined);
}

function seeRedirects(db: Database, projectId: number, see: (id: number) => void): void {
  const redirects = db
    .prepare(
      `SELECT f.redirect_to FROM fetched f CROSS JOIN url u ON u.id = f.page_id
       WHERE f.redirect_to IS NOT NULL AND f.redirect_to <> f.page_id AND u.project_id = ?
         AND ${LEADS}`,
    )
    .pluck();
  for (const target of redirects.iterate(projectId) as Iterable<number>) see(target);
}

function seeLinks(db: Database, projectId: number, see: (id: number) => void, isOver: () => boolean): void {
  const read = db.prepare(
    `SELECT l.page_id, l.targets FROM link_set l CROSS JOIN url u ON u.id = l.page_id
     WHERE l.page_id > ? AND u.project_id = ? AND ${LEADS}
     ORDER BY l.page_id LIMIT ${SETS_A_BATCH}`,
  );
  for (let after = 0; !isOver(); ) {
    const sets = read.all(after, projectId) as { page_id: number; targets: string }[];
    for (const { page_id, targets } of sets)
      for (const target of unpackNumbers(targets)) if (target !== page_id) see(target);
    if (sets.length < SETS_A_BATCH) return;
    after = sets[sets.length - 1].page_id;
  }
}

function tell({ db, runId }: Session, orphans: readonly number[], now: number): void {
  const turn = db.prepare(
    `UPDATE visit SET outcome = ${GONE}, known_by = ${ORPHAN} WHERE run_id = ? AND page_id = ?`,
  );
  const add = db.prepare(
    `INSERT INTO visit (run_id, page_id, visited_at, outcome, known_by) VALUES (?, ?, ?, ${GONE}, ${ORPHAN})`,
  );
  const keep = db.prepare('INSERT INTO orphan VALUES (?, ?)');
  for (const pageId of orphans) {
    if (turn.run(runId, pageId).changes === 0) add.run(runId, pageId, now);
    keep.run(pageId, runId);
  }
}
