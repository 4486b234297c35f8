/**
 * Redirect chains of a group, read at once, worked out in memory in the order of the settlements, and written at once.
 * The page that will end a chain is waited for (`redirect_wait`) by the pages that lead to it, each so many hops away.
 * When it gets its final answer, all of them learn final_url and redirect_count; when the chain cannot end (a loop, too
 * many hops, a refused target) all of them fail with the reason.
 *
 * The rows read are locked in the order of their ids: a page cannot get its answer at another worker while a chain is
 * being hung on it here.
 */
import type { TransactionSql } from 'postgres';
import { REDIRECT_PRIORITY } from '../../frontier/candidate.ts';
import { PAGE_STATES, type PageStateCode } from '../../frontier/page-state.ts';
import { isAllowed } from '../../frontier/page-transitions.ts';
import { refusalOf } from '../redirect-end.ts';
import type { FailedSource } from '../settlement.ts';
import type { Effects } from './effects.ts';
import { ask, recordset, rowsJson, together } from './session.ts';

interface Place {
  id: number;
  hostId: number;
  state: PageStateCode;
  reason: string | null;
  url: string;
  fetchUrl: string | null;
  depth: number;
  hops: number;
  redirectTo: number | null;
  redirectHost: number | null;
  finalUrl: string | null;
  redirectCount: number;
  error: string | null;
  /** What is to be written of it. */
  isFailed: boolean;
  isEnded: boolean;
  isPointed: boolean;
  isHung: boolean;
  isHurried: boolean;
}

/** [page, hops from that page to here] */
type Chain = [Place, number][];

export interface RedirectResult {
  state: PageStateCode;
  reason: string | null;
  failed: FailedSource[];
}

const { Queued, Fetching, Processed, Failed } = PAGE_STATES;

/** Of others what they led to when they answered is kept, and leads nowhere. */
const isWell = ({ state }: Place) => state === Processed;

// UNION, not UNION ALL: a loop ends the walk.
const READ_PLACES = `
WITH RECURSIVE walk (id) AS (
  SELECT unnest($1::int[]) UNION
  SELECT f.redirect_to FROM walk w JOIN fetched f ON f.page_id = w.id WHERE f.redirect_to IS NOT NULL)
SELECT u.id, u.host_id AS "hostId", u.state, u.reason, u.url, u.fetch_url AS "fetchUrl", u.depth, u.hops,
  f.redirect_to AS "redirectTo", f.redirect_host AS "redirectHost", f.final_url AS "finalUrl",
  COALESCE(f.redirect_count, 0) AS "redirectCount"
FROM walk w JOIN url u ON u.id = w.id LEFT JOIN fetched f ON f.page_id = u.id AND f.host_id = u.host_id
ORDER BY u.id FOR UPDATE OF u`;
const READ_SOURCES = `
SELECT w.target_id AS "targetId", w.hops AS "waitedHops", u.id, u.host_id AS "hostId", u.state, u.reason, u.url,
  u.fetch_url AS "fetchUrl", u.depth, u.hops, f.redirect_to AS "redirectTo", f.redirect_host AS "redirectHost",
  f.final_url AS "finalUrl", COALESCE(f.redirect_count, 0) AS "redirectCount"
FROM redirect_wait w JOIN url u ON u.id = w.source_id AND u.host_id = w.source_host
LEFT JOIN fetched f ON f.page_id = u.id AND f.host_id = u.host_id
WHERE w.target_id = ANY($1::int[])`;

export interface RedirectBook {
  has(pageId: number): boolean;
  /** The page redirects to a target whose row is there. Answers the page's own state. */
  redirect(pageId: number, targetId: number, maxHops: number): RedirectResult;
  /** The page got a final state: whoever waited for it learns how the chain ended. Answers who failed with it. */
  settled(pageId: number, state: PageStateCode, reason: string | null): FailedSource[];
  write(tx: TransactionSql, effects: Effects): Promise<void>;
}

/** Reads what is known of the pages, of where they redirect to, and of who waits for any of these. */
export async function openRedirectBook(
  tx: TransactionSql,
  pageIds: readonly number[],
): Promise<RedirectBook> {
  const places = new Map<number, Place>();
  const waits = new Map<number, Chain>();
  const put = (row: Place): Place => {
    const known = places.get(row.id);
    if (known !== undefined) return known;
    const place = {
      ...row,
      error: null,
      isFailed: false,
      isEnded: false,
      isPointed: false,
      isHung: false,
      isHurried: false,
    };
    places.set(row.id, place);
    return place;
  };
  for (const row of await ask<Place>(tx, READ_PLACES, [[...new Set(pageIds)]])) put(row);
  type Source = Place & { targetId: number; waitedHops: number };
  for (const { targetId, waitedHops, ...row } of await ask<Source>(tx, READ_SOURCES, [[...places.keys()]])) {
    const chain = waits.get(targetId) ?? [];
    waits.set(targetId, chain);
    chain.push([put(row), waitedHops]);
  }
  const cleared = new Set<number>();

  /** Takes the pages that wait for this one. */
  function takeChain(place: Place): Chain {
    const chain = waits.get(place.id) ?? [];
    waits.delete(place.id);
    if (place.hops > 0) {
      cleared.add(place.id);
      place.hops = 0;
      place.isHung = true;
    }
    return chain;
  }

  function letWait(chain: Chain, target: Place): void {
    const waiting = waits.get(target.id) ?? [];
    waits.set(target.id, waiting);
    for (const link of chain) {
      if (!waiting.some(([place]) => place === link[0])) waiting.push(link);
      target.hops = Math.max(target.hops, link[1]);
    }
    target.isHung = true;
    cleared.add(target.id);
  }

  function end(chain: Chain, finalUrl: string): void {
    for (const [place, hops] of chain) Object.assign(place, { finalUrl, redirectCount: hops, isEnded: true });
  }

  /** Fails the whole chain; `self` is the page at hand, which the caller tells of. */
  function fail(chain: Chain, reason: string, self: Place | null): RedirectResult {
    const failed: FailedSource[] = [];
    for (const [place] of chain) {
      // What became of it since, by a new run or other lists, stands.
      if (place !== self && !isAllowed('chainFailed', place.state, Failed)) continue;
      Object.assign(place, { state: Failed, reason, error: reason, isFailed: true });
      if (place !== self) failed.push({ pageId: place.id, url: place.url, depth: place.depth, reason });
    }
    return { state: Failed, reason, failed };
  }

  function redirect(pageId: number, targetId: number, maxHops: number): RedirectResult {
    const page = places.get(pageId)!;
    const chain: Chain = takeChain(page).map(([place, hops]) => [place, hops + 1]);
    chain.push([page, 1]);
    let target = places.get(targetId)!;
    const firstTarget = target;
    Object.assign(page, { redirectTo: firstTarget.id, redirectHost: firstTarget.hostId, isPointed: true });
    page.state = Processed;
    page.reason = null;
    // The target may itself be a redirect asked earlier: walk to where that chain stands now.
    for (let walked = 1; ; walked++) {
      if (chain.some(([place]) => place === target))
        return fail(chain, `redirect: loop at ${target.fetchUrl ?? target.url}`, page);
      if (chain.some(([, hops]) => hops > maxHops))
        return fail(chain, `redirect: more than ${maxHops} hops`, page);
      if (!isWell(target) || target.redirectTo === null || walked > maxHops) break;
      target = places.get(target.redirectTo)!;
      for (const link of chain) link[1]++;
    }
    if (target.state === Queued || target.state === Fetching) {
      letWait(chain, target);
      if (target.state === Queued) target.isHurried = true;
      return { state: Processed, reason: null, failed: [] };
    }
    const url = target.fetchUrl ?? target.url;
    const refusal = refusalOf(url, target.state, target.reason);
    if (refusal !== null) return fail(chain, refusal, page);
    end(chain, isWell(target) ? (target.finalUrl ?? url) : url);
    return { state: Processed, reason: null, failed: [] };
  }

  function settled(pageId: number, state: PageStateCode, reason: string | null): FailedSource[] {
    const page = places.get(pageId)!;
    page.state = state;
    page.reason = reason;
    const chain = takeChain(page);
    if (chain.length === 0) return [];
    const url = page.fetchUrl ?? page.url;
    const refusal = refusalOf(url, state, reason);
    if (refusal !== null) return fail(chain, refusal, null).failed;
    end(chain, url);
    return [];
  }

  return {
    has: (pageId) => places.has(pageId),
    redirect,
    settled,
    async write(tx, effects) {
      await writeBook(tx, [...places.values()], waits, cleared);
      for (const { id, hostId, hops, isHurried } of places.values())
        if (isHurried) effects.hurried.push({ hostId, pageId: id, rank: REDIRECT_PRIORITY, hops });
    },
  };
}

const SET_STATES = `
UPDATE url u SET state = r.s, reason = r.r FROM ${recordset(1, 'i int, h int, s smallint, r text', 'r')}
WHERE u.id = r.i AND u.host_id = r.h`;
const SET_HOPS = `
UPDATE url u SET hops = r.n, rank = CASE WHEN r.q THEN ${REDIRECT_PRIORITY} ELSE u.rank END
FROM ${recordset(1, 'i int, h int, n int, q boolean', 'r')} WHERE u.id = r.i AND u.host_id = r.h`;
const SET_FOUND = `
UPDATE fetched f SET redirect_to = r.t, redirect_host = r.g, final_url = r.u, redirect_count = r.n,
  error = COALESCE(r.e, f.error)
FROM ${recordset(1, 'i int, h int, t int, g int, u text, n int, e text', 'r')} WHERE f.page_id = r.i AND f.host_id = r.h`;
const FORGET = 'DELETE FROM redirect_wait WHERE target_id = ANY($1::int[])';
const HANG = `
INSERT INTO redirect_wait (target_id, target_host, source_id, source_host, hops)
SELECT t, g, s, h, n FROM ${recordset(1, 't int, g int, s int, h int, n int', 'r')} ON CONFLICT DO NOTHING`;

async function writeBook(
  tx: TransactionSql,
  places: Place[],
  waits: ReadonlyMap<number, Chain>,
  cleared: ReadonlySet<number>,
): Promise<void> {
  const writes: Promise<unknown>[] = [];
  const write = (text: string, rows: unknown[]) => {
    if (rows.length > 0) writes.push(ask(tx, text, [rowsJson(rows)]));
  };
  write(
    SET_STATES,
    places
      .filter(({ isFailed }) => isFailed)
      .map(({ id, hostId, state, reason }) => ({ i: id, h: hostId, s: state, r: reason })),
  );
  write(
    SET_HOPS,
    places
      .filter(({ isHung }) => isHung)
      .map(({ id, hostId, hops, isHurried }) => ({ i: id, h: hostId, n: hops, q: isHurried })),
  );
  write(
    SET_FOUND,
    places
      .filter(({ isFailed, isEnded, isPointed }) => isFailed || isEnded || isPointed)
      .map((place) => ({
        i: place.id,
        h: place.hostId,
        t: place.redirectTo,
        g: place.redirectHost,
        u: place.finalUrl,
        n: place.redirectCount,
        e: place.error,
      })),
  );
  if (cleared.size > 0) writes.push(ask(tx, FORGET, [[...cleared]]));
  const hung = [];
  const byId = new Map(places.map((place) => [place.id, place]));
  for (const targetId of cleared) {
    const target = byId.get(targetId)!;
    for (const [{ id, hostId }, hops] of waits.get(targetId) ?? [])
      hung.push({ t: target.id, g: target.hostId, s: id, h: hostId, n: hops });
  }
  write(HANG, hung);
  await together(writes);
}
