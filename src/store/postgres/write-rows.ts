/**
 * The rows of a group, a statement a table. What comes with every page is packed by columns, all else goes as JSON in one
 * parameter.
 */
import type { TransactionSql } from 'postgres';
import { dropRepeats } from '../drop-repeats.ts';
import { type HostLease, REQUEST_KINDS, type RequestEntry } from '../port.ts';
import type { GatheredLinks, Group, PendingSettlement } from './group.ts';
import { type Columns, packed, packedNumbers, unpacked } from './pack-columns.ts';
import { ask, handedOver, recordset, rowsJson, type Session, together } from './session.ts';

const FACTS: Columns = [
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
];
const names = FACTS.map(([name]) => name).join(', ');
// A visit replaces what was known: also where a redirect led.
const PUT_FACTS = `
INSERT INTO fetched (${names}) SELECT ${names}
FROM ${unpacked(1, FACTS, 'r')}
ON CONFLICT (page_id, host_id) DO UPDATE SET (${names}) = ROW (${FACTS.map(([name]) => `excluded.${name}`).join(', ')}),
  redirect_to = NULL, redirect_host = NULL, final_url = NULL, redirect_count = 0`;

export async function writeFacts(
  tx: TransactionSql,
  session: Session,
  settlements: PendingSettlement[],
): Promise<void> {
  const rows = [];
  for (const { claim, lease, facts, visit, changeFrequency, changesDetected } of settlements) {
    if (facts === null) continue;
    rows.push({
      page_id: claim.pageId,
      host_id: lease.hostId,
      run_id: session.runId,
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
    });
  }
  if (rows.length > 0) await ask(tx, PUT_FACTS, packed(tx, FACTS, rows));
}

const TEXTS: Columns = [
  ['page_id', 'int4'],
  ['host_id', 'int4'],
  ['text', 'text'],
];
const PUT_TEXTS = `
INSERT INTO page_text (page_id, host_id, text) SELECT page_id, host_id, text FROM ${unpacked(1, TEXTS, 'r')}
ON CONFLICT (page_id, host_id) DO UPDATE SET text = excluded.text`;
const DROP_TEXTS = `
DELETE FROM page_text p USING ${recordset(1, 'i int, h int', 'r')} WHERE p.page_id = r.i AND p.host_id = r.h`;

export async function writeTexts(tx: TransactionSql, settlements: PendingSettlement[]): Promise<void> {
  const texts = [];
  const dropped = [];
  for (const { claim, lease, text, facts } of settlements) {
    if (text !== null) texts.push({ page_id: claim.pageId, host_id: lease.hostId, text });
    else if (facts !== null && claim.last !== null) dropped.push({ i: claim.pageId, h: lease.hostId });
  }
  const writes = [];
  if (texts.length > 0) writes.push(ask(tx, PUT_TEXTS, packed(tx, TEXTS, texts)));
  if (dropped.length > 0) writes.push(ask(tx, DROP_TEXTS, [rowsJson(dropped)]));
  await together(writes);
}

// The targets of all pages are one list, of which each page has a part: `unnest` would take arrays of arrays apart. Flags,
// which few pages have, are texts; anchors, which few crawls keep, JSON.
const LINKS: Columns = [
  ['i', 'int4'],
  ['h', 'int4'],
  ['n', 'int4'],
  ['b', 'int4'],
  ['e', 'int4'],
  ['f', 'text'],
  ['a', 'text'],
];
const PUT_LINKS = `
INSERT INTO link_set (page_id, host_id, run_id, targets, flags, anchors)
SELECT i, h, n, ($1::int4[])[b:e], f::smallint[],
  CASE WHEN a IS NOT NULL THEN ARRAY(SELECT json_array_elements_text(a::json)) END FROM ${unpacked(2, LINKS, 'r')}
ON CONFLICT (page_id, host_id) DO UPDATE SET run_id = excluded.run_id, targets = excluded.targets,
  flags = excluded.flags, anchors = excluded.anchors`;
const OLD_LINKS = `
SELECT l.page_id AS "pageId", l.run_id AS "runId", l.targets FROM ${recordset(1, 'i int, h int', 'r')}
JOIN link_set l ON l.page_id = r.i AND l.host_id = r.h`;
const PUT_CHANGES = `
INSERT INTO link_change (page_id, host_id, run_id, added, removed)
SELECT i, h, $2, a::int[], r::int[] FROM ${recordset(1, 'i int, h int, a text, r text', 'c')}
ON CONFLICT (page_id, run_id, host_id) DO UPDATE SET added = excluded.added, removed = excluded.removed`;

/** `pageOf` gives targets their page ids. */
export async function writeLinks(
  tx: TransactionSql,
  session: Session,
  settlements: PendingSettlement[],
  gathered: GatheredLinks,
  pageOf: (target: number) => number,
): Promise<void> {
  const withLinks = settlements.filter(({ links }) => links !== null);
  if (withLinks.length === 0) return;
  const revisited = withLinks.filter(({ claim }) => claim.last !== null);
  const old = await oldLinks(tx, revisited);
  // Copies: a transaction that fails is tried again with what was gathered.
  const targets = gathered.targets.slice(0, gathered.count);
  const flags = gathered.flags.slice(0, gathered.count);
  const rows = [];
  const changes = [];
  for (const { claim, lease, links } of withLinks) {
    const { start, count } = links!;
    for (let i = start; i < start + count; i++) targets[i] = pageOf(targets[i]);
    const own = targets.subarray(start, start + count);
    const ownFlags = flags.subarray(start, start + count);
    const anchors = links!.anchors?.slice() ?? null;
    const kept = dropRepeats({ count, targets: own, flags: ownFlags, anchors });
    const before = old.get(claim.pageId);
    const key = { i: claim.pageId, h: lease.hostId };
    const isPlain = !ownFlags.subarray(0, kept).some((flag) => flag !== 0);
    rows.push({
      ...key,
      n: before?.runId ?? session.runId,
      // Counted from 1, the end included.
      b: start + 1,
      e: start + kept,
      f: isPlain ? null : braced(ownFlags.subarray(0, kept)),
      a: anchors === null ? null : rowsJson(anchors),
    });
    if (before === undefined || before.runId === session.runId) continue;
    const then = new Set(before.targets);
    const now = new Set(own.subarray(0, kept));
    const added = [...now].filter((id) => !then.has(id));
    const removed = [...then].filter((id) => !now.has(id));
    if (added.length + removed.length > 0) changes.push({ ...key, a: braced(added), r: braced(removed) });
  }
  const writes = [ask(tx, PUT_LINKS, [packedNumbers(tx, targets), ...packed(tx, LINKS, rows)])];
  if (changes.length > 0) writes.push(ask(tx, PUT_CHANGES, [rowsJson(changes), session.runId]));
  await together(writes);
}

interface OldLinks {
  pageId: number;
  runId: number;
  targets: number[];
}

async function oldLinks(tx: TransactionSql, revisited: PendingSettlement[]): Promise<Map<number, OldLinks>> {
  if (revisited.length === 0) return new Map();
  const keys = revisited.map(({ claim, lease }) => ({ i: claim.pageId, h: lease.hostId }));
  const rows = await ask<OldLinks>(tx, OLD_LINKS, [rowsJson(keys)]);
  return new Map(rows.map((row) => [row.pageId, row]));
}

/** By hand, because `join` takes three times as long for arrays of numbers. */
function braced(numbers: Int32Array | Uint8Array | number[]): string {
  let text = '{';
  for (let i = 0; i < numbers.length; i++) text += i === 0 ? numbers[i] : `,${numbers[i]}`;
  return `${text}}`;
}

function bytea(bytes: Uint8Array | null): string | null {
  if (bytes === null) return null;
  return `\\x${Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('hex')}`;
}

const REQUESTS: Columns = [
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
const requestNames = REQUESTS.map(([name]) => name).join(', ');
const PUT_REQUESTS = `
INSERT INTO request (run_id, ${requestNames}) SELECT $1, ${requestNames} FROM ${unpacked(2, REQUESTS, 'r')}`;

export async function writeRequests(
  tx: TransactionSql,
  session: Session,
  entries: RequestEntry[],
): Promise<void> {
  if (entries.length === 0) return;
  const rows = entries.map((entry) => ({
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
  }));
  await ask(tx, PUT_REQUESTS, [session.runId, ...packed(tx, REQUESTS, rows)]);
}

const PUT_ROBOTS = `
INSERT INTO robots_txt (origin, host_id, status, body, fetched_at, expires_at, delay_seconds)
SELECT o, h, s, b, f, e, d FROM ${recordset(1, 'o text, h int, s int, b bytea, f bigint, e bigint, d float8', 'r')}
ORDER BY o
ON CONFLICT (origin) DO UPDATE SET host_id = excluded.host_id, status = excluded.status, body = excluded.body,
  fetched_at = excluded.fetched_at, expires_at = excluded.expires_at, delay_seconds = excluded.delay_seconds`;

export async function writeRobots(tx: TransactionSql, gathered: Group['robots']): Promise<void> {
  // The last of an origin counts.
  const byOrigin = new Map(gathered.map((each) => [each.robots.origin, each]));
  const rows = [...byOrigin.values()].map(({ hostId, robots }) => ({
    o: robots.origin,
    h: hostId,
    s: robots.status,
    b: bytea(robots.body),
    f: Math.round(robots.fetchedAt),
    e: Math.round(robots.expiresAt),
    d: robots.delaySeconds,
  }));
  if (rows.length > 0) await ask(tx, PUT_ROBOTS, [rowsJson(rows)]);
}

const HOST_COLUMNS =
  'h int, n bigint, b bigint, c int, a float8, v float8, s int, f int, p int, q int, r boolean, y bigint, d bigint, k int, l int';
const PUT_HOSTS = `
UPDATE host SET not_before = r.n, blocked_until = r.b, consecutive_429 = r.c, adaptive_ms = r.a, average_ms = r.v,
  samples = r.s, failures = r.f, probes = r.p, distrusted_until = r.d, announced = r.k, unannounced = r.l,
  lease_owner = CASE WHEN r.r THEN NULL ELSE lease_owner END, lease_until = CASE WHEN r.r THEN NULL ELSE lease_until END
FROM ${recordset(1, HOST_COLUMNS, 'r')} WHERE host.id = r.h`;
// The project comes as a column, behind a fence: as a number, PostgreSQL would take the project's queues for few as long as
// it has not counted them, and read all of them, each beside the whole list.
export const PUT_REQUEST_COUNTS = `
UPDATE host_queue k SET requests = r.q
FROM (SELECT h, q, $2::int AS j FROM ${recordset(1, HOST_COLUMNS, 'r')} OFFSET 0) r
WHERE k.host_id = r.h AND k.project_id = r.j AND k.requests <> r.q`;
/** So long a host that another project waits for is not taken again for the one that gave it back. */
const YIELD_MS = 2500;
// All projects' rows: the host is free for each of them, and where another waits for it, for that one first.
const FREE_QUEUES = `
UPDATE host_queue k SET leased_until = CASE WHEN k.project_id = $2 THEN r.y ELSE 0 END, ready_at = greatest(r.n, r.b) FROM ${recordset(1, HOST_COLUMNS, 'r')}
WHERE k.host_id = r.h AND r.r`;

/** What was learned of hosts, and leases given back. The rows are locked already. */
export async function writeHosts(
  tx: TransactionSql,
  session: Session,
  group: Group,
  isOurs: (lease: HostLease) => boolean,
): Promise<void> {
  const now = Math.round(session.clock.now());
  const released = new Set(group.released);
  const leases = new Set([...group.dirtyHosts, ...released]);
  const rows = [...leases].filter(isOurs).map((lease) => {
    const { hostId, state } = lease;
    return {
      h: hostId,
      n: Math.floor(handedOver(session, lease, state.notBefore)),
      b: Math.floor(handedOver(session, lease, state.blockedUntil)),
      c: state.consecutive429,
      a: state.adaptiveMs,
      v: state.averageMs,
      s: state.samples,
      f: state.failures,
      p: state.probes,
      q: state.requests,
      r: released.has(lease),
      y: lease.isWanted ? now + YIELD_MS : 0,
      d: Math.round(state.distrustedUntil),
      k: state.announced,
      l: state.unannounced,
    };
  });
  if (rows.length === 0) return;
  rows.sort((a, b) => a.h - b.h);
  const json = rowsJson(rows);
  const writes = [ask(tx, PUT_HOSTS, [json]), ask(tx, PUT_REQUEST_COUNTS, [json, session.projectId])];
  if (released.size > 0) writes.push(ask(tx, FREE_QUEUES, [json, session.projectId]));
  await together(writes);
}

/** The channel on which workers of a run hear of work. */
export const WORK_CHANNEL = 'sumi_work';

export async function notifyWork(tx: TransactionSql, session: Session): Promise<void> {
  await ask(tx, 'SELECT pg_notify($1, $2)', [WORK_CHANNEL, String(session.runId)]);
}
