/** History, a statement a table and group: a line a visit, what changed, and pages that were seen but not read anew. */
import type { TransactionSql } from 'postgres';
import type { GatheredRows, PendingSettlement } from './group.ts';
import { unpackedBut } from './pack-columns.ts';
import { VISIT, VISITS } from './packed-rows.ts';
import { ask, recordset, rowsJson, type Session } from './session.ts';

const names = VISIT.map(([name]) => name).join(', ');
const KEY = 'run_id, page_id, visited_at, host_id';
// Twice in a millisecond is one visit, as the later one found it.
const PUT_VISITS = `
INSERT INTO visit (${KEY}, ${names}) SELECT $1, page_id, visited_at, host_id, ${names} FROM ${unpackedBut(2, VISITS, 'r')}
ON CONFLICT (${KEY}) DO UPDATE SET (${names}) = ROW (${VISIT.map(([name]) => `excluded.${name}`).join(', ')})`;

/** But for those at the places that are left out. */
export async function writeVisits(
  tx: TransactionSql,
  session: Session,
  { visits }: GatheredRows,
  leftOut: number[],
): Promise<void> {
  if (visits.count > leftOut.length)
    await ask(tx, PUT_VISITS, [session.runId, ...visits.parameters(tx), leftOut]);
}

const PUT_PAGE_CHANGES = `
INSERT INTO page_change (${KEY}, parts, detail) SELECT $2, i, v, h, p, d
FROM ${recordset(1, 'i int, v bigint, h int, p int, d text', 'r')}
ON CONFLICT (${KEY}) DO UPDATE SET parts = excluded.parts, detail = excluded.detail`;

export async function writePageChanges(
  tx: TransactionSql,
  session: Session,
  settlements: PendingSettlement[],
): Promise<void> {
  const rows = [];
  for (const { claim, lease, visitedAt, change } of settlements) {
    if (change === null) continue;
    rows.push({
      i: claim.pageId,
      v: Math.round(visitedAt),
      h: lease.hostId,
      p: change.parts,
      d: change.detail,
    });
  }
  if (rows.length > 0) await ask(tx, PUT_PAGE_CHANGES, [rowsJson(rows), session.runId]);
}

// What was read before stays. An answer that is no redirect (any more) leads nowhere.
const TOUCH = `
UPDATE fetched f SET run_id = $2, visited_at = r.v, status_code = r.s, error = r.e, response_ms = r.m,
  etag = NULLIF(COALESCE(r.t, f.etag), ''), last_modified = NULLIF(COALESCE(r.l, f.last_modified), ''),
  cache_control = NULLIF(COALESCE(r.c, f.cache_control), ''), change = COALESCE(r.o, f.change), change_frequency = r.q, changes_detected = r.n
FROM ${recordset(
  1,
  'i int, h int, v bigint, s int, e text, m float8, t text, l text, c text, o text, q float8, n int',
  'r',
)}
WHERE f.page_id = r.i AND f.host_id = r.h`;

// Nobody was asked: all but the outcome is of the visit before.
const SET_CHANGE = `
UPDATE fetched f SET change = r.o FROM ${recordset(1, 'i int, h int, o text', 'r')}
WHERE f.page_id = r.i AND f.host_id = r.h AND f.change IS DISTINCT FROM r.o`;

export async function writeTouches(
  tx: TransactionSql,
  session: Session,
  settlements: PendingSettlement[],
): Promise<void> {
  const rows = [];
  const spared = [];
  for (const settlement of settlements) {
    const { claim, lease, touch, outcome, changeFrequency, changesDetected } = settlement;
    const page = { i: claim.pageId, h: lease.hostId };
    if (touch === null) {
      if (settlement.factsPlace === 0 && outcome !== null) spared.push({ ...page, o: outcome });
      continue;
    }
    rows.push({
      ...page,
      v: Math.round(touch.visitedAt),
      s: touch.statusCode,
      e: touch.error,
      m: touch.responseMs,
      t: touch.etag,
      l: touch.lastModified,
      c: touch.cacheControl,
      o: outcome,
      q: changeFrequency,
      n: changesDetected,
    });
  }
  if (rows.length > 0) await ask(tx, TOUCH, [rowsJson(rows), session.runId]);
  if (spared.length > 0) await ask(tx, SET_CHANGE, [rowsJson(spared)]);
}
