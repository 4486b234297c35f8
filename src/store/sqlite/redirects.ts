/**
 * Redirect chains. The page that will end a chain is waited for (`redirect_wait`) by the pages that lead to it, each so
 * many hops away. When it gets its final answer, all of them learn final_url and redirect_count; when the chain cannot end (a loop,
 * too many hops, a refused target) all of them fail with the reason.
 */
import type { Database } from 'better-sqlite3';
import { PAGE_STATES, type PageStateCode } from '../../frontier/page-state.ts';
import { isAllowed } from '../../frontier/page-transitions.ts';
import { refusalOf } from '../redirect-end.ts';
import type { FailedSource } from '../settlement.ts';

/** [page id, hops from that page to here] */
type Chain = [number, number][];

interface TargetRow {
  id: number;
  host_id: number;
  state: PageStateCode;
  reason: string | null;
  url: string;
  fetch_url: string | null;
  hops: number;
  redirect_to: number | null;
  final_url: string | null;
  redirect_count: number | null;
}

export interface RedirectResult {
  state: PageStateCode;
  reason: string | null;
  failed: readonly FailedSource[];
}

const NONE: readonly FailedSource[] = [];
const { Queued, Fetching, Processed, Failed } = PAGE_STATES;
export type Redirects = ReturnType<typeof createRedirects>;

/** Of others what they led to when they answered is kept, and leads nowhere. */
function isWell({ state }: TargetRow): boolean {
  return state === Processed;
}

/** `hurry` puts a waiting page at the head of its host's queue. */
export function createRedirects(db: Database, hurry: (hostId: number, pageId: number) => void) {
  const read = db.prepare(
    `SELECT u.id, u.host_id, u.state, u.reason, u.url, u.fetch_url, u.hops, f.redirect_to, f.final_url, f.redirect_count
     FROM url u LEFT JOIN fetched f ON f.page_id = u.id WHERE u.id = ?`,
  );
  const waiting = db.prepare('SELECT source_id, hops FROM redirect_wait WHERE target_id = ?').raw();
  const addWaiting = db.prepare('INSERT OR IGNORE INTO redirect_wait VALUES (?, ?, ?)');
  const dropWaiting = db.prepare('DELETE FROM redirect_wait WHERE target_id = ?');
  const setHops = db.prepare('UPDATE url SET hops = ? WHERE id = ?');
  const setTarget = db.prepare('UPDATE fetched SET redirect_to = ? WHERE page_id = ?');
  const setEnd = db.prepare('UPDATE fetched SET final_url = ?, redirect_count = ? WHERE page_id = ?');
  const setFailed = db.prepare('UPDATE url SET state = ?, reason = ? WHERE id = ?');
  const setError = db.prepare('UPDATE fetched SET error = ? WHERE page_id = ?');
  const readSource = db.prepare('SELECT url, depth, state FROM url WHERE id = ?');
  /** Pages in flight that got a chain after they were claimed: their claims do not know of it. */
  const waitedFor = new Set<number>();

  function rowOf(id: number): TargetRow {
    return read.get(id) as TargetRow;
  }

  /** Takes the pages that wait for this one. */
  function takeChain(row: TargetRow): Chain {
    if (row.hops === 0) return [];
    const chain = waiting.all(row.id) as Chain;
    dropWaiting.run(row.id);
    setHops.run(0, row.id);
    return chain;
  }

  function letWait(chain: Chain, target: TargetRow): void {
    let longest = target.hops;
    for (const [id, hops] of chain) {
      addWaiting.run(target.id, id, hops);
      longest = Math.max(longest, hops);
    }
    setHops.run(longest, target.id);
  }

  function end(chain: Chain, finalUrl: string, beyond: number): void {
    for (const [id, hops] of chain) setEnd.run(finalUrl, hops + beyond, id);
  }

  /** Fails the whole chain; `self` is the page at hand, which the caller tells of. */
  function fail(chain: Chain, reason: string, self: number | null): RedirectResult {
    const failed: FailedSource[] = [];
    for (const [id] of chain) {
      const { url, depth, state } = readSource.get(id) as {
        url: string;
        depth: number;
        state: PageStateCode;
      };
      // What became of it since, by a new run or other lists, stands.
      if (!isAllowed('chainFailed', state, Failed)) continue;
      setFailed.run(Failed, reason, id);
      setError.run(reason, id);
      if (id !== self) failed.push({ pageId: id, url, depth, reason });
    }
    return { state: Failed, reason, failed };
  }

  return {
    /** The page redirects to a target that has just been offered. Answers the page's own state. */
    redirect(pageId: number, targetId: number, maxHops: number): RedirectResult {
      const page = rowOf(pageId);
      const chain: Chain = [
        ...takeChain(page).map(([id, hops]): [number, number] => [id, hops + 1]),
        [pageId, 1],
      ];
      setTarget.run(targetId, pageId);
      waitedFor.delete(pageId);
      let target = rowOf(targetId);
      // The target may itself be a redirect asked earlier: walk to where that chain stands now.
      for (let walked = 1; ; walked++) {
        if (chain.some(([id]) => id === target.id))
          return fail(chain, `redirect: loop at ${target.fetch_url ?? target.url}`, pageId);
        if (chain.some(([, hops]) => hops > maxHops))
          return fail(chain, `redirect: more than ${maxHops} hops`, pageId);
        if (!isWell(target) || target.redirect_to === null || walked > maxHops) break;
        target = rowOf(target.redirect_to);
        for (const link of chain) link[1]++;
      }
      if (target.state === Queued || target.state === Fetching) {
        letWait(chain, target);
        if (target.state === Queued) hurry(target.host_id, target.id);
        else waitedFor.add(target.id);
        return { state: Processed, reason: null, failed: NONE };
      }
      const url = target.fetch_url ?? target.url;
      const refusal = refusalOf(url, target.state, target.reason);
      if (refusal !== null) return fail(chain, refusal, pageId);
      end(chain, isWell(target) ? (target.final_url ?? url) : url, 0);
      return { state: Processed, reason: null, failed: NONE };
    },

    isWaitedFor: (pageId: number): boolean => waitedFor.has(pageId),

    /** The page got a final state: whoever waited for it learns how the chain ended. Answers who failed with it. */
    settled(pageId: number, state: PageStateCode, reason: string | null): readonly FailedSource[] {
      waitedFor.delete(pageId);
      const page = rowOf(pageId);
      const chain = takeChain(page);
      if (chain.length === 0) return NONE;
      const url = page.fetch_url ?? page.url;
      const refusal = refusalOf(url, state, reason);
      if (refusal !== null) return fail(chain, refusal, null).failed;
      end(chain, url, 0);
      return NONE;
    },
  };
}
