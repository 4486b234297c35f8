/** The rows that come with every page and request, as they are packed while a group is gathered. */
import type { VisitRecord } from '../../change/visit-record.ts';
import { REQUEST_KINDS, type RequestEntry } from '../host-port.ts';
import { FACTS, type FactKind } from '../page-facts.ts';
import type { Settlement } from '../settlement.ts';
import { knownByNumber, outcomeNumber } from '../visit-rows.ts';
import type { Columns, ColumnWord } from './pack-columns.ts';

const TYPES: Record<FactKind, ColumnWord> = {
  whole: 'int4',
  long: 'int8',
  duration: 'float8',
  time: 'time',
  text: 'text',
  flag: 'flag',
  hash: 'bytea',
  bits: 'int8',
};

/** Read from the facts themselves. */
const OF_FACTS: Columns = FACTS.map(({ name, column, kind }) => [column, TYPES[kind], name]);
/** Read from `factsRow`. */
const OF_SETTLEMENT: Columns = [
  ['page_id', 'int4'],
  ['host_id', 'int4'],
  ['run_id', 'int4'],
  ['project_id', 'int4'],
  ['change', 'text'],
  ['change_frequency', 'float8'],
  ['changes_detected', 'int4'],
];
/** What was read of a page: `rows.add(facts, factsRow(…))`. */
export const FETCHED: Columns = [...OF_FACTS, ...OF_SETTLEMENT];
export const FETCHED_FACTS = OF_FACTS.length;

/** What stands beside the facts of a page. */
export function factsRow(
  hostId: number,
  { runId, projectId }: { runId: number; projectId: number },
  settlement: Settlement,
): object {
  const { claim, visit, changeFrequency, changesDetected } = settlement;
  return {
    page_id: claim.pageId,
    host_id: hostId,
    run_id: runId,
    project_id: projectId,
    change: visit?.outcome ?? null,
    change_frequency: changeFrequency,
    changes_detected: changesDetected,
  };
}

export const VISIT: Columns = [
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
export const VISITS: Columns = [['page_id', 'int4'], ['visited_at', 'int8'], ['host_id', 'int4'], ...VISIT];

/** A line of history. */
export function visitRow(pageId: number, hostId: number, visit: VisitRecord): object {
  return {
    page_id: pageId,
    host_id: hostId,
    visited_at: Math.round(visit.visitedAt),
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
  };
}

export const TEXTS: Columns = [
  ['page_id', 'int4'],
  ['host_id', 'int4'],
  ['text', 'text'],
];

export const REQUESTS: Columns = [
  ['host_id', 'int4'],
  ['page_id', 'int4'],
  ['kind', 'int2'],
  ['slot_at', 'int8'],
  ['sent_at', 'float8'],
  ['ended_at', 'float8'],
  ['delay_ms', 'float8'],
  ['per_host', 'int4'],
  ['status_code', 'int4'],
  ['wire_bytes', 'int8'],
  ['content_hash', 'bytea'],
  ['blocked_until', 'int8'],
  ['failure', 'text'],
];

/** A line of the request log. */
export function requestRow(entry: RequestEntry): object {
  return {
    host_id: entry.hostId,
    page_id: entry.pageId,
    kind: REQUEST_KINDS.indexOf(entry.kind),
    slot_at: Math.round(entry.slotAt),
    sent_at: entry.sentAt,
    ended_at: entry.endedAt,
    delay_ms: entry.delayMs,
    per_host: entry.perHost,
    status_code: entry.statusCode,
    wire_bytes: entry.wireBytes,
    content_hash: entry.contentHash,
    blocked_until: entry.blockedUntil === null ? null : Math.round(entry.blockedUntil),
    failure: entry.failure,
  };
}
