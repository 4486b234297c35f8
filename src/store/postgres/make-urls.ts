/**
 * Rows for URLs that nobody knew, in a transaction of their own before their group's: whoever finds the same ones waits
 * until it ends, and the group's would last ten times as long. Their hosts' queues count them in the same statement, so
 * that nothing waits uncounted. A worker that dies in between leaves pages that wait, found by one that is read again.
 */
import { PAGE_STATES, type PageStateCode } from '../../frontier/page-state.ts';
import { applyEffects, type Effects, newEffects } from './effects.ts';
import type { PendingCandidate } from './group.ts';
import { type Columns, packed, unpacked } from './pack-columns.ts';
import { ask, findByIndex, type Session, together } from './session.ts';
import { WORK_CHANNEL } from './write-rows.ts';

const { Queued } = PAGE_STATES;

/** A candidate after its row was found or made. */
export interface Resolved {
  id: number;
  hostId: number;
  depth: number;
  state: PageStateCode;
  isNew: boolean;
}

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
// A queue's new row repeats what the host's own row says of its lease and clock. Others hear of hosts that are not ours.
const MAKE_URLS = `
WITH c AS (SELECT * FROM ${unpacked(5, URLS, 'c')}),
  old AS (SELECT c.o, u.id, u.depth, u.state FROM c ${KNOWN}),
  fresh AS (SELECT nextval('url_id')::int AS id, n.* FROM (
    SELECT c.* FROM c WHERE NOT EXISTS (SELECT 1 FROM old WHERE old.o = c.o) ORDER BY c.o) n),
  made AS (INSERT INTO url (id, host_id, project_id, identity, state, priority, rank, depth, discovered_run,
      discovered_at, referrer_id, url, fetch_url, reason)
    SELECT id, h, $1, i, s, p, p, d, $2, $3, e, u, f, r FROM fresh ORDER BY h, i
    ON CONFLICT (host_id, project_id, identity) DO NOTHING RETURNING id, host_id, state),
  gained AS (SELECT host_id, count(*)::int AS n FROM made WHERE state = ${Queued} GROUP BY host_id),
  counted AS (INSERT INTO host_queue AS q (project_id, host_id, waiting, ready_at, leased_until)
    SELECT $1, g.host_id, g.n, greatest(h.not_before, h.blocked_until), COALESCE(h.lease_until, 0)
    FROM gained g JOIN host h ON h.id = g.host_id ORDER BY g.host_id
    ON CONFLICT (host_id, project_id) DO UPDATE SET waiting = q.waiting + excluded.waiting),
  told AS (SELECT pg_notify('${WORK_CHANNEL}', $2::int::text)
    WHERE EXISTS (SELECT 1 FROM gained WHERE NOT host_id = ANY ($4::int[])))
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

/** Finds or makes the rows of the candidates. New ones get ids in the order of discovery, and can be claimed at once. */
export async function makeUrls(
  session: Session,
  candidates: readonly PendingCandidate[],
): Promise<Resolved[]> {
  if (candidates.length === 0) return [];
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

async function make(
  session: Session,
  candidates: readonly PendingCandidate[],
): Promise<{ resolved: Resolved[]; effects: Effects }> {
  const { writer, projectId, runId } = session;
  const effects = newEffects();
  const hostIds = await session.hosts.ensure(
    writer,
    candidates.map(({ candidate }) => candidate.host),
  );
  for (const [name, id] of hostIds) effects.hostIds.set(name, id);
  const rows = candidates.map(({ candidate, depth, shorterDepth, referrerId }, o) => ({
    o,
    h: hostIds.get(candidate.host)!,
    i: session.identityBytes(candidate.url),
    s: candidate.state,
    p: candidate.priority,
    // One that was shut out is judged anew at its real depth; for one that waits the depth is all there is to say.
    d: candidate.state === Queued ? shorterDepth : depth,
    u: candidate.url,
    f: candidate.fetchUrl === candidate.url ? null : candidate.fetchUrl,
    r: candidate.reason,
    e: referrerId,
  }));
  const now = Math.round(session.clock.now());
  const resolved: Resolved[] = new Array(rows.length);
  const place = ({ o: places, id, depth, state }: FoundPages) => {
    for (const [i, o] of (places ?? []).entries())
      resolved[o] = { id: id[i], hostId: rows[o].h, depth: depth[i], state: state[i], isNew: false };
  };
  const values = [projectId, runId, now, [...session.held.keys()], ...packed(writer, URLS, rows)];
  const [found] = await askAlone<MadePages>(session, MAKE_URLS, values);
  place(found);
  const made = new Set(found.made);
  for (const [i, o] of (found.freshO ?? []).entries()) {
    const id = found.freshId[i];
    const { h, d, s } = rows[o];
    if (made.has(id)) resolved[o] = { id, hostId: h, depth: d, state: s, isNew: true };
  }
  // Another worker made these between our look and our insert.
  const missing = rows.filter(({ o }) => resolved[o] === undefined);
  if (missing.length > 0) {
    const late = [projectId, ...packed(writer, URLS, missing)];
    place((await askAlone<FoundPages>(session, FIND_URLS, late))[0]);
  }
  for (const [o, page] of resolved.entries()) {
    const { candidate } = candidates[o];
    effects.learned.push({ url: candidate.url, ...page });
    if (!page.isNew || page.state !== Queued) continue;
    const { url, priority } = candidate;
    effects.queued.push({
      hostId: page.hostId,
      page: {
        ...WAITING,
        pageId: page.id,
        rank: priority,
        priority,
        url,
        fetchUrl: rows[o].f,
        depth: page.depth,
      },
    });
  }
  return { resolved, effects };
}

const WAITING = { attempts: 0, hops: 0, last: null };

/** A transaction of one statement. */
async function askAlone<Row>({ writer }: Session, text: string, values: unknown[]): Promise<Row[]> {
  const [, rows] = await writer.begin((tx) => together([findByIndex(tx), ask<Row>(tx, text, values)]));
  return rows;
}
