/**
 * The first crawl of a watch: one run, charged to the budget. When the budget is spent, it is left as an interrupted run,
 * and later ticks go on with it. Its pages are not emitted as changes.
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

/** Somebody else crawls the project now. The watch neither pays for that run nor ends it. */
export const isCrawledByHand = async (side: ReadSide, last: StoredRun): Promise<boolean> =>
  !isFirstCrawl(last) && !isTick(last) && (await isRunAlive(side, last));

/** The next part of the first crawl. Null: the budget allows none now. `done`: the project has been crawled. */
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
  // An interrupted tick goes on as a tick: as a crawl, it would visit every page.
  if (last !== null && (!isUnfinished(last) || isTick(last))) return 'done';
  if (last !== null && (await isCrawledByHand(side, last))) return null;
  const budget = await kept.openBudget(side, last, () => VisitBudget.emptyAt(settings, now));
  budget.refill(now, true);
  const room = budget.visits;
  const most = config.maxPages ?? Number.POSITIVE_INFINITY;
  const maxPages = Math.min((last?.pages ?? 0) + room, most);
  // A run that was interrupted after its last page needs no tokens to end.
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

/** True: the first crawl is over. False: it goes on later. */
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
