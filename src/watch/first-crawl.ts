/**
 * The first crawl of a watch: one run, paid from the budget, that is left as an interrupted one where there is no room, and
 * goes on at later looks until it is done. Nothing of it is news.
 */
import type { Config } from '../config/load-config.ts';
import type { HostAllowance } from '../crawl/run/host-allowance.ts';
import type { SummaryEvent } from '../events/events.ts';
import type { ReadSide, StoredRun } from '../store/read-side.ts';
import { isUnfinished } from '../store/unfinished-run.ts';
import { openCharge } from './charge-run.ts';
import type { KeptWatch, Opened, Watched } from './kept-watch.ts';
import { findProject, firstConfig, isFirstCrawl, isReadToEnd, isTick } from './tick-run.ts';
import { VisitBudget } from './visit-budget.ts';
import { isRunAlive } from './watcher.ts';

export interface FirstCrawl {
  config: Config;
  allowance: HostAllowance;
}

/** Somebody else crawls the project at this moment: what he visits is none of the watch's, and he ends it without help. */
export const isCrawledByHand = async (side: ReadSide, last: StoredRun): Promise<boolean> =>
  !isFirstCrawl(last) && !isTick(last) && (await isRunAlive(side, last));

/** How much of it there is room for: null when there is none now; `done` when the project has been crawled. */
export async function planFirstCrawl(
  kept: KeptWatch,
  { config, settings, project }: Watched,
  opened: Opened,
  isFresh: boolean,
): Promise<FirstCrawl | 'done' | null> {
  const { store, side, now } = opened;
  const found = await findProject(side, project);
  if (found !== null) await kept.takeOver(opened, found);
  const last = isFresh ? null : (found?.last ?? null);
  if (isFresh) kept.forget();
  else if (last === null) kept.reset();
  // A tick that was cut off goes on as one: begun anew as a crawl, it would visit every page.
  if (last !== null && (!isUnfinished(last) || isTick(last))) return 'done';
  if (last !== null && (await isCrawledByHand(side, last))) return null;
  const budget = await kept.openBudget(side, last, () => VisitBudget.emptyAt(settings, now));
  budget.refill(now, true);
  const room = budget.visits;
  const most = config.maxPages ?? Number.POSITIVE_INFINITY;
  const maxPages = Math.min((last?.pages ?? 0) + room, most);
  // One that was cut off after its last page needs no tokens.
  const isWanted = room >= 1 || (last !== null && (await isReadToEnd(side, project)));
  if (isWanted) {
    const lastRun = found === null ? null : await side.lastRun(found.id);
    const run = { goesOn: last !== null, last: lastRun?.run ?? 0 };
    await openCharge(kept.counted(side), kept.state, run, { at: now, room });
  }
  if (found !== null && !isFresh) await kept.save(store, now);
  if (!isWanted) return null;
  const hostPages = (id: number) => budget.hostVisits(id);
  const pausesAt = maxPages < most ? (['limit', 'host-limit'] as const) : (['host-limit'] as const);
  return { config: firstConfig(config, maxPages, isFresh), allowance: { hostPages, pausesAt } };
}

/** Whether it is over, and not only left. */
export async function concludeFirstCrawl(
  kept: KeptWatch,
  opened: Opened,
  { run, status, project }: SummaryEvent,
): Promise<boolean> {
  const { store, side, now } = opened;
  await kept.takeOver(opened, (await findProject(side, project))!);
  await kept.chargeRun(opened, run);
  await kept.save(store, now);
  return status !== 'interrupted';
}
