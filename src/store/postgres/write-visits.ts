/** History, a statement a table and group: a line a visit, what changed, and pages that were seen but not read anew. */
import type { TransactionSql } from 'postgres';
import { partsNumber } from '../change-parts.ts';
import { knownByNumber, outcomeNumber } from '../visit-rows.ts';
import type { PendingSettlement } from './group.ts';
import { type Columns, packed, unpacked } from './pack-columns.ts';
import { ask, recordset, rowsJson, type Session } from './session.ts';

const VISIT: Columns = [
  ['outcome', 'int2'],
  ['known_by', 'int2'],
  ['status_code', 'int4'],
  ['etag', 'text'],
  ['last_modified', 'text'],
  ['content_hash', 'bytea'],
  ['text_hash', 'bytea'],
  ['simhash_distance', 'int2'],
  ['wire_bytes', 'int8'],
  ['bytes_saved', 'int8'],
  ['duration_ms', 'float8'],
];
const names = VISIT.map(([name]) => name).join(', ');
const KEY = 'run_id, page_id, visited_at, host_id';
const ROW: Columns = [['page_id', 'int4'], ['visited_at', 'int8'], ['host_id', 'int4'], ...VISIT];
// Twice in a millisecond is one visit, as the later one found it.
const PUT_VISITS = `
INSERT INTO visit (${KEY}, ${names}) SELECT $1, page_id, visited_at, host_id, ${names} FROM ${unpacked(2, ROW, 'r')}
ON CONFLICT (${KEY}) DO UPDATE SET (${names}) = ROW (${VISIT.map(([name]) => `excluded.${name}`).join(', ')})`;

export async function writeVisits(
  tx: TransactionSql,
  session: Session,
  settlements: PendingSettlement[],
): Promise<void> {
  const rows = [];
  for (const { claim, lease, visit } of settlements) {
    if (visit === null) continue;
    rows.push({
      page_id: claim.pageId,
      visited_at: Math.round(visit.visitedAt),
      host_id: lease.hostId,
      outcome: outcomeNumber(visit.outcome),
      known_by: knownByNumber(visit.knownBy),
      status_code: visit.statusCode,
      etag: visit.etag,
      last_modified: visit.lastModified,
      content_hash: visit.contentHash,
      text_hash: visit.textHash,
      simhash_distance: visit.simhashDistance,
      wire_bytes: visit.wireBytes,
      bytes_saved: visit.bytesSaved,
      duration_ms: visit.durationMs,
    });
  }
  if (rows.length > 0) await ask(tx, PUT_VISITS, [session.runId, ...packed(tx, ROW, rows)]);
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
  for (const { claim, lease, visit, change } of settlements) {
    if (visit === null || change === null) continue;
    rows.push({
      i: claim.pageId,
      v: Math.round(visit.visitedAt),
      h: lease.hostId,
      p: partsNumber(change.parts),
      d: JSON.stringify(change),
    });
  }
  if (rows.length > 0) await ask(tx, PUT_PAGE_CHANGES, [rowsJson(rows), session.runId]);
}

// What was read before stays. An answer that is no redirect (any more) leads nowhere.
const TOUCH = `
UPDATE fetched f SET run_id = $2, visited_at = r.v, status_code = r.s, error = r.e, response_ms = r.m,
  etag = COALESCE(r.t, f.etag), last_modified = COALESCE(r.l, f.last_modified),
  cache_control = COALESCE(r.c, f.cache_control), change = COALESCE(r.o, f.change), change_frequency = r.q, changes_detected = r.n
FROM ${recordset(
  1,
  'i int, h int, v bigint, s int, e text, m float8, t text, l text, c text, o text, q float8, n int',
  'r',
)}
WHERE f.page_id = r.i AND f.host_id = r.h`;

export async function writeTouches(
  tx: TransactionSql,
  session: Session,
  settlements: PendingSettlement[],
): Promise<void> {
  const rows = [];
  for (const { claim, lease, touch, visit, changeFrequency, changesDetected } of settlements) {
    if (touch === null) continue;
    rows.push({
      i: claim.pageId,
      h: lease.hostId,
      v: Math.round(touch.visitedAt),
      s: touch.statusCode,
      e: touch.error,
      m: touch.responseMs,
      t: touch.etag,
      l: touch.lastModified,
      c: touch.cacheControl,
      o: visit?.outcome ?? null,
      q: changeFrequency,
      n: changesDetected,
    });
  }
  if (rows.length > 0) await ask(tx, TOUCH, [rowsJson(rows), session.runId]);
}
