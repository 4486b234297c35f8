/** The rows that come with every page and request, as they are packed while a group is gathered. */
import type { VisitRecord } from '../../change/visit-record.ts';
import { REQUEST_KINDS, type RequestEntry } from '../host-port.ts';
import type { PageFacts, Settlement } from '../settlement.ts';
import { knownByNumber, outcomeNumber } from '../visit-rows.ts';
import type { Columns } from './pack-columns.ts';

export const FACTS: Columns = [
  ['page_id', 'int4'],
  ['host_id', 'int4'],
  ['run_id', 'int4'],
  ['visited_at', 'int8'],
  ['status_code', 'int4'],
  ['content_type', 'text'],
  ['content_length', 'int8'],
  ['title', 'text'],
  ['h1', 'text'],
  ['description', 'text'],
  ['lang', 'text'],
  ['charset', 'text'],
  ['canonical', 'text'],
  ['noindex', 'int2'],
  ['nofollow', 'int2'],
  ['word_count', 'int4'],
  ['content_hash', 'bytea'],
  ['simhash', 'int8'],
  ['etag', 'text'],
  ['last_modified', 'text'],
  ['cache_control', 'text'],
  ['body_key', 'text'],
  ['error', 'text'],
  ['response_ms', 'float8'],
  ['change', 'text'],
  ['text_hash', 'bytea'],
  ['facet_hash', 'bytea'],
  ['structured_data', 'text'],
  ['wire_bytes', 'int8'],
  ['change_frequency', 'float8'],
  ['changes_detected', 'int4'],
  ['robots_other', 'text'],
  ['x_robots_tag', 'text'],
];

/** What was read of a page. */
export function factsRow(hostId: number, runId: number, facts: PageFacts, settlement: Settlement): object {
  const { claim, visit, changeFrequency, changesDetected } = settlement;
  return {
    page_id: claim.pageId,
    host_id: hostId,
    run_id: runId,
    visited_at: Math.round(facts.visitedAt),
    status_code: facts.statusCode,
    content_type: facts.contentType,
    content_length: facts.contentLength,
    title: facts.title,
    h1: facts.h1,
    description: facts.description,
    lang: facts.lang,
    charset: facts.charset,
    canonical: facts.canonical,
    noindex: facts.noindex ? 1 : 0,
    nofollow: facts.nofollow ? 1 : 0,
    word_count: facts.wordCount,
    content_hash: facts.contentHash,
    simhash: facts.simhash,
    etag: facts.etag,
    last_modified: facts.lastModified,
    cache_control: facts.cacheControl,
    body_key: facts.bodyKey,
    error: facts.error,
    response_ms: facts.responseMs,
    change: visit?.outcome ?? null,
    text_hash: facts.textHash,
    facet_hash: facts.facetHash,
    structured_data: facts.structuredData,
    wire_bytes: facts.wireBytes,
    change_frequency: changeFrequency,
    changes_detected: changesDetected,
    robots_other: facts.robotsOther,
    x_robots_tag: facts.xRobotsTag,
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
