/**
 * The rows of a group, a statement a table. What comes with every page is packed by columns, all else goes as JSON in one
 * parameter.
 */
import type { TransactionSql } from 'postgres';
import { dropRepeats } from '../drop-repeats.ts';
import type { HostLease } from '../host-port.ts';
import type { LinkTargets } from '../settlement.ts';
import type {
  GatheredLinks,
  GatheredRows,
  Group,
  PendingLinks,
  PendingSettlement,
  Resolved,
} from './group.ts';
import { type Columns, PackedRows, packedNumbers, unpacked, unpackedBut } from './pack-columns.ts';
import { FETCHED, REQUESTS, TEXTS } from './packed-rows.ts';
import { ask, handedOver, recordset, rowsJson, type Session, together } from './session.ts';

const names = FETCHED.map(([name]) => name).join(', ');
// A visit replaces what was known: also where a redirect led.
const PUT_FACTS = `
INSERT INTO fetched (${names}) SELECT ${names}
FROM ${unpackedBut(1, FETCHED, 'r')}
ON CONFLICT (page_id, host_id) DO UPDATE SET (${names}) = ROW (${FETCHED.map(([name]) => `excluded.${name}`).join(', ')}),
  redirect_to = NULL, redirect_host = NULL, final_url = NULL, redirect_count = 0`;

/** Rows of a list, but for those at the places that are left out. */
export async function writeFacts(
  tx: TransactionSql,
  { facts }: GatheredRows,
  leftOut: number[],
): Promise<void> {
  if (facts.count > leftOut.length) await ask(tx, PUT_FACTS, [...facts.parameters(tx), leftOut]);
}

const PUT_TEXTS = `
INSERT INTO page_text (page_id, host_id, text) SELECT page_id, host_id, text FROM ${unpackedBut(1, TEXTS, 'r')}
ON CONFLICT (page_id, host_id) DO UPDATE SET text = excluded.text`;
const DROP_TEXTS = `
DELETE FROM page_text p USING ${recordset(1, 'i int, h int', 'r')} WHERE p.page_id = r.i AND p.host_id = r.h`;

/** As `writeFacts`. A page that was read again and has none loses its own. */
export async function writeTexts(
  tx: TransactionSql,
  { texts }: GatheredRows,
  leftOut: number[],
  settlements: PendingSettlement[],
): Promise<void> {
  const dropped = settlements
    .filter(({ claim, factsPlace, textPlace }) => textPlace === 0 && factsPlace > 0 && claim.last !== null)
    .map(({ claim, lease }) => ({ i: claim.pageId, h: lease.hostId }));
  const writes = [];
  if (texts.count > leftOut.length) writes.push(ask(tx, PUT_TEXTS, [...texts.parameters(tx), leftOut]));
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

/** `resolved` gives new targets their page ids. */
export async function writeLinks(
  tx: TransactionSql,
  session: Session,
  settlements: PendingSettlement[],
  gathered: GatheredLinks,
  resolved: readonly Resolved[],
): Promise<void> {
  const withLinks = settlements.filter(({ links }) => links !== null);
  if (withLinks.length === 0) return;
  const old = await oldLinks(
    tx,
    withLinks.filter(({ claim }) => claim.last !== null),
  );
  // Copies: a transaction that fails is tried again with what was gathered.
  const targets = gathered.targets.slice(0, gathered.count);
  const flags = gathered.flags.slice(0, gathered.count);
  resolveTargets(targets, resolved);
  const rows = new PackedRows(LINKS);
  const changes: object[] = [];
  // No loop in a function that waits: V8 would compile it with all that stands around it.
  withLinks.forEach(({ claim, lease, links }) => {
    const before = old.get(claim.pageId);
    const key = { i: claim.pageId, h: lease.hostId };
    const own = ownLinks(links!, targets, flags);
    rows.add(linkRow(key, before?.runId ?? session.runId, own, links!.start));
    if (before === undefined || before.runId === session.runId) return;
    const change = linkChange(before.targets, own.targets.subarray(0, own.count));
    if (change !== null) changes.push({ ...key, ...change });
  });
  const writes = [ask(tx, PUT_LINKS, [packedNumbers(tx, targets), ...rows.parameters(tx)])];
  if (changes.length > 0) writes.push(ask(tx, PUT_CHANGES, [rowsJson(changes), session.runId]));
  await together(writes);
}

/** Those of pages that are left out may lead to candidates that were. */
function resolveTargets(targets: Int32Array, resolved: readonly (Resolved | undefined)[]): void {
  for (let i = 0; i < targets.length; i++) {
    const target = targets[i];
    if (target < 0) targets[i] = resolved[~target]?.id ?? 0;
  }
}

/** A page's part of the group's links, each target once. */
function ownLinks(
  { start, count, anchors }: PendingLinks,
  targets: Int32Array,
  flags: Uint8Array,
): LinkTargets {
  const own = {
    count,
    targets: targets.subarray(start, start + count),
    flags: flags.subarray(start, start + count),
    anchors: anchors?.slice() ?? null,
  };
  dropRepeats(own);
  return own;
}

function linkRow(
  { i, h }: { i: number; h: number },
  runId: number,
  { count, flags, anchors }: LinkTargets,
  start: number,
): object {
  return {
    i,
    h,
    n: runId,
    // Counted from 1, the end included.
    b: start + 1,
    e: start + count,
    f: isPlain(flags, count) ? null : braced(flags.subarray(0, count)),
    a: anchors === null ? null : rowsJson(anchors),
  };
}

function isPlain(flags: Uint8Array, count: number): boolean {
  for (let i = 0; i < count; i++) if (flags[i] !== 0) return false;
  return true;
}

function linkChange(before: readonly number[], after: Int32Array): { a: string; r: string } | null {
  const then = new Set(before);
  const now = new Set(after);
  const added = [...now].filter((id) => !then.has(id));
  const removed = [...then].filter((id) => !now.has(id));
  return added.length + removed.length === 0 ? null : { a: braced(added), r: braced(removed) };
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

const requestNames = REQUESTS.map(([name]) => name).join(', ');
const PUT_REQUESTS = `
INSERT INTO request (run_id, ${requestNames}) SELECT $1, ${requestNames} FROM ${unpacked(2, REQUESTS, 'r')}`;

export async function writeRequests(
  tx: TransactionSql,
  session: Session,
  { requests }: GatheredRows,
): Promise<void> {
  if (requests.count > 0) await ask(tx, PUT_REQUESTS, [session.runId, ...requests.parameters(tx)]);
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
  'h int, n bigint, b bigint, c int, a float8, v float8, s int, f int, p int, q int, r boolean, y bigint, d bigint, k int, l int, m int';
const PUT_HOSTS = `
UPDATE host SET not_before = r.n, blocked_until = r.b, consecutive_429 = r.c, adaptive_ms = r.a, average_ms = r.v,
  samples = r.s, failures = r.f, probes = r.p, distrusted_until = r.d, announced = r.k, unannounced = r.l,
  head_checks = r.m,
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
      m: state.headChecks,
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
