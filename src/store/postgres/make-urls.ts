/**
 * Rows for URLs that nobody knew, in a transaction of their own before their group's: whoever finds the same ones waits
 * until it ends, and the group's would last ten times as long. Their hosts' queues count them in the same statement, so
 * that nothing waits uncounted. A worker that dies in between leaves pages that wait, found by one that is read again.
 */
import type { Candidate } from '../../frontier/candidate.ts';
import { PAGE_STATES, type PageStateCode } from '../../frontier/page-state.ts';
import { applyEffects, countInto, type Effects, newEffects } from './effects.ts';
import type { PendingCandidate, Resolved } from './group.ts';
import { type Columns, PackedRows, unpacked } from './pack-columns.ts';
import { ask, findByIndex, type Session, together } from './session.ts';
import type { WaitingPage } from './waiting-pages.ts';
import { WORK_CHANNEL } from './write-rows.ts';

const { Queued } = PAGE_STATES;

const URLS: Columns = [
  ['o', 'int4'],
  ['h', 'int4'],
  ['i', 'uuid'],
  ['s', 'int2'],
  ['p', 'int4'],
  ['d', 'int4'],
  ['u', 'text'],
  ['f', 'text'],
  ['r', 'text'],
  ['e', 'int4'],
];
// LIMIT, so that each is found by its key: as a join, the whole project would be read as long as PostgreSQL has not
// counted it.
const KNOWN = `CROSS JOIN LATERAL (SELECT k.id, k.depth, k.state FROM url k
    WHERE k.host_id = c.h AND k.project_id = $1 AND k.identity = c.i LIMIT 1) u`;
// One row in place of hundreds, which the driver would take apart one by one.
const FOUND = 'array_agg(o) AS o, array_agg(id) AS id, array_agg(depth) AS depth, array_agg(state) AS state';
// Others hear of hosts that are not ours.
const MAKE_URLS = `
WITH c AS (SELECT * FROM ${unpacked(5, URLS, 'c')}),
  old AS (SELECT c.o, u.id, u.depth, u.state FROM c ${KNOWN}),
  fresh AS (SELECT nextval('url_id')::int AS id, n.* FROM (
    SELECT c.* FROM c WHERE NOT EXISTS (SELECT 1 FROM old WHERE old.o = c.o) ORDER BY c.o) n),
  made AS (INSERT INTO url (id, host_id, project_id, identity, state, priority, rank, depth, discovered_run,
      discovered_at, referrer_id, url, fetch_url, reason)
    SELECT id, h, $1, i, s, p, p, d, $2, $3, e, u, f, r FROM fresh ORDER BY h, i
    ON CONFLICT (host_id, project_id, identity) DO NOTHING RETURNING id, host_id, state),
  gained AS (SELECT host_id AS h, count(*)::int AS n FROM made WHERE state = ${Queued} GROUP BY host_id),
  counted AS (${countInto('$1', 'gained g')}),
  told AS (SELECT pg_notify('${WORK_CHANNEL}', $2::int::text)
    WHERE EXISTS (SELECT 1 FROM gained WHERE NOT h = ANY ($4::int[])))
SELECT (SELECT array_agg(id) FROM made) AS made, f.o AS "freshO", f.id AS "freshId", k.*, (SELECT count(*) FROM told)
FROM (SELECT ${FOUND} FROM old) k, (SELECT array_agg(o) AS o, array_agg(id) AS id FROM fresh) f`;
const FIND_URLS = `
SELECT ${FOUND} FROM (SELECT c.o, u.id, u.depth, u.state FROM ${unpacked(2, URLS, 'c')} ${KNOWN}) k`;

/** Known pages, a list a column: their places among the candidates, and what is said of them. Null where there is none. */
interface FoundPages {
  o: number[] | null;
  id: number[];
  depth: number[];
  state: PageStateCode[];
}

/** The ids that were given out, for which places, and those of them that nobody was quicker to make. */
interface MadePages extends FoundPages {
  freshO: number[] | null;
  freshId: number[];
  made: number[] | null;
}

/** Finds or makes the rows of the candidates, of which there must be one. New ones get ids in the order of discovery, and can be claimed at once. */
export async function makeUrls(
  session: Session,
  candidates: readonly PendingCandidate[],
): Promise<Resolved[]> {
  let tries = 0;
  const { resolved, effects } = await session.attempt(() => {
    tries++;
    return make(session, candidates);
  });
  applyEffects(session, effects);
  // The first try may have come through, and only its answer got lost: what it made is not new to the second.
  if (tries > 1) for (const { waiting } of session.held.values()) waiting.clear();
  return resolved;
}

// Small functions from here on, and no loop in one that waits: in one piece they took V8's compiler longer than they ran.
async function make(
  session: Session,
  candidates: readonly PendingCandidate[],
): Promise<{ resolved: Resolved[]; effects: Effects }> {
  const { maker, projectId, runId } = session;
  const effects = newEffects();
  const known = await session.hosts.ensure(maker, new Set(candidates.map(hostOf)));
  for (const [name, id] of known) effects.hostIds.set(name, id);
  const hostIds = candidates.map((pending) => known.get(hostOf(pending))!);
  // Their group may still be open, and a shorter path come in while the database answers.
  const depths = candidates.map(depthOf);
  const rows = packUrls(session, candidates, { hostIds, depths }, []);
  const now = Math.round(session.clock.now());
  const values = [projectId, runId, now, [...session.held.keys()], ...rows.parameters(maker)];
  const [found] = await askAlone<MadePages>(session, MAKE_URLS, values);
  const resolved: Resolved[] = new Array(hostIds.length);
  placeFound(resolved, found, hostIds);
  placeMade(resolved, found, { hostIds, depths }, candidates);
  // Another worker made these between our look and our insert.
  const missing = packUrls(session, candidates, { hostIds, depths }, resolved);
  if (missing.count > 0) {
    const late = [projectId, ...missing.parameters(maker)];
    placeFound(resolved, (await askAlone<FoundPages>(session, FIND_URLS, late))[0], hostIds);
  }
  noteAll(effects, candidates, resolved);
  return { resolved, effects };
}

/** Where the candidates belong, a list each. */
interface Places {
  hostIds: readonly number[];
  depths: readonly number[];
}

/** Of those that are not resolved. */
function packUrls(
  session: Session,
  candidates: readonly PendingCandidate[],
  { hostIds, depths }: Places,
  resolved: readonly Resolved[],
): PackedRows {
  const rows = new PackedRows(URLS);
  for (let o = 0; o < hostIds.length; o++) {
    if (resolved[o] !== undefined) continue;
    const key = { o, h: hostIds[o], i: session.identityBytes(candidates[o].candidate.url) };
    rows.add(urlRow(key, candidates[o], depths[o]));
  }
  return rows;
}

function noteAll(
  effects: Effects,
  candidates: readonly PendingCandidate[],
  resolved: readonly Resolved[],
): void {
  for (let o = 0; o < resolved.length; o++) note(effects, candidates[o].candidate, resolved[o]);
}

const hostOf = ({ candidate }: PendingCandidate): string => candidate.host;

function urlRow(
  key: { o: number; h: number; i: Uint8Array },
  { candidate, referrerId }: PendingCandidate,
  depth: number,
): object {
  return {
    o: key.o,
    h: key.h,
    i: key.i,
    s: candidate.state,
    p: candidate.priority,
    d: depth,
    u: candidate.url,
    f: ownAddress(candidate),
    r: candidate.reason,
    e: referrerId,
  };
}

/** One that was shut out is judged anew at its real depth; for one that waits the depth is all there is to say. */
function depthOf({ candidate, depth, shorterDepth }: PendingCandidate): number {
  return candidate.state === Queued ? shorterDepth : depth;
}

const ownAddress = ({ url, fetchUrl }: Candidate): string | null => (fetchUrl === url ? null : fetchUrl);

function placeFound(resolved: Resolved[], found: FoundPages, hostIds: readonly number[]): void {
  const { o: places, id, depth, state } = found;
  if (places === null) return;
  for (let i = 0; i < places.length; i++) {
    const o = places[i];
    resolved[o] = { id: id[i], hostId: hostIds[o], depth: depth[i], state: state[i], isNew: false };
  }
}

function placeMade(
  resolved: Resolved[],
  { freshO: places, freshId, made }: MadePages,
  { hostIds, depths }: Places,
  candidates: readonly PendingCandidate[],
): void {
  if (places === null) return;
  const ids = new Set(made);
  for (let i = 0; i < places.length; i++) {
    const o = places[i];
    const id = freshId[i];
    if (!ids.has(id)) continue;
    const { state } = candidates[o].candidate;
    resolved[o] = { id, hostId: hostIds[o], depth: depths[o], state, isNew: true };
  }
}

function note(effects: Effects, candidate: Candidate, page: Resolved): void {
  const { id, hostId, depth } = page;
  const { url, priority } = candidate;
  effects.learned.push({ url, id, hostId, depth });
  if (!page.isNew || page.state !== Queued) return;
  const fetchUrl = ownAddress(candidate);
  effects.queued.push({ hostId, page: newPage(id, priority, url, fetchUrl, depth) });
}

function newPage(
  pageId: number,
  priority: number,
  url: string,
  fetchUrl: string | null,
  depth: number,
): WaitingPage {
  return { pageId, rank: priority, priority, url, fetchUrl, depth, attempts: 0, hops: 0, last: null };
}

/** A transaction of one statement. A pooler's connection has to be told in it to find by index; our own always does. */
async function askAlone<Row>({ maker, isPooled }: Session, text: string, values: unknown[]): Promise<Row[]> {
  if (!isPooled) return ask<Row>(maker, text, values);
  const [, rows] = await maker.begin((tx) => together([findByIndex(tx), ask<Row>(tx, text, values)]));
  return rows;
}
