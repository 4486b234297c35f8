/**
 * Decides at the end of a run which pages nothing leads to any more, and which orphans of earlier runs are back.
 *
 * First it asks who may have become an orphan: whoever lost a link, a redirect or an entry of a sitemap lately, which is
 * mostly nobody and cheap to say. Only then a walk from the start URLs and the entries of sitemaps tells who is still
 * reached. Where the project is too large for what the run did, one pass over all links and redirects strikes out
 * whoever is still led to, by whomever. The store answers sets and writes the verdict; history-port.ts has the rules of
 * what leads where.
 */
import type { HistoryPort, LinkQuestions, Orphan } from '../../store/history-port.ts';
import { PageSet } from '../../store/page-set.ts';
import { mostWalked } from './most-walked.ts';

/** Few, so that a store looks them up one by one whatever the size of its tables. */
const EXPANDED_AT_ONCE = 1000;

/**
 * `since`: when the run began; entries of sitemaps that were not seen from then on are lost. Answers how many pages
 * became orphans. Called before the run is finished.
 */
export function findOrphans(
  history: Pick<HistoryPort, 'judgeOrphans'>,
  since: number,
  now: number,
): Promise<number> {
  return history.judgeOrphans(async (links) => {
    const lost = new Set(await links.mayBeOrphans(await links.lostTargets(since), 'left'));
    const returned = await findReturned(links);
    if (lost.size + returned.size > 0 && (await mayWalk(links))) await walk(links, lost, returned);
    else if (lost.size > 0) await dropLed(links, lost);
    await links.write({ orphans: [...lost], returned: [...returned], now });
    return lost.size;
  });
}

/** Orphans that are named again, or that a page leads to which was read anew lately; one that is back leads on. */
async function findReturned(links: LinkQuestions): Promise<Set<number>> {
  const orphans = await links.orphans();
  if (orphans.length === 0) return new Set();
  const all = new Set(orphans.map(({ pageId }) => pageId));
  const returned = new Set(orphans.filter(isNamed).map(({ pageId }) => pageId));
  for (const pageId of await links.ledToAnew([...all])) returned.add(pageId);
  for (let from = [...returned]; from.length > 0; ) {
    const next = (await links.targetsOf(from)).filter((id) => all.has(id) && !returned.has(id));
    for (const id of next) returned.add(id);
    from = [...new Set(next)];
  }
  return returned;
}

const isNamed = (orphan: Orphan): boolean => orphan.isNamed;

async function mayWalk(links: LinkQuestions): Promise<boolean> {
  const most = mostWalked(await links.visits());
  return (await links.linkingPages(most + 1)) <= most;
}

/**
 * Leaves among the lost who is not reached any more, and adds whoever only such pages lead to; leaves among the
 * returned who is reached: what leads there may be lost itself.
 */
async function walk(links: LinkQuestions, lost: Set<number>, returned: Set<number>): Promise<void> {
  const sought = new Set([...lost, ...returned]);
  const reached = new PageSet();

  async function reachFrom(from: Iterable<number>, onPage: (id: number) => void): Promise<void> {
    let next: number[] = [];
    const reach = (id: number) => {
      if (!reached.add(id)) return;
      onPage(id);
      next.push(id);
    };
    for (const id of from) reach(id);
    // Level by level: what is lost here is mostly linked from somewhere near.
    while (next.length > 0 && sought.size > 0) {
      const level = next;
      next = [];
      for (let at = 0; at < level.length && sought.size > 0; at += EXPANDED_AT_ONCE)
        for (const id of await links.targetsOf(level.slice(at, at + EXPANDED_AT_ONCE))) reach(id);
    }
  }

  await reachFrom(await links.roots(), (id) => sought.delete(id));
  for (const id of sought) returned.delete(id);
  for (const id of lost) if (!sought.has(id)) lost.delete(id);
  if (lost.size === 0) return;
  const cutOff: number[] = [];
  await reachFrom([...lost], (id) => cutOff.push(id));
  await keepThere(links, lost, cutOff);
}

/** Only what answers is told; what failed may have led on to others before it was lost. */
async function keepThere(links: LinkQuestions, lost: Set<number>, among: number[]): Promise<void> {
  const there = await links.mayBeOrphans(among, 'there');
  lost.clear();
  for (const id of there) lost.add(id);
}

/** Strikes out whoever a page leads to, whether that one is reached or not. */
async function dropLed(links: LinkQuestions, lost: Set<number>): Promise<void> {
  await keepThere(links, lost, [...lost]);
  if (lost.size === 0) return;
  for (const id of await links.ledTo([...lost])) lost.delete(id);
}
