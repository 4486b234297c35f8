/**
 * Charges the visits of the watch's runs to its budget. Before a run begins, the state of the watch notes that it is to be
 * charged (`OpenCharge`). Afterwards the history of visits says how many visits it made, whoever made them: this process,
 * a worker that took part, or a watch that was killed. Counting again gives the same charge, so a crash neither charges
 * visits twice nor makes them free.
 */
import type { ReadSide, StoredRun } from '../store/read-side.ts';
import { countAsked, isFirstCrawl, isTick } from './tick-run.ts';
import { type OpenCharge, VisitBudget } from './visit-budget.ts';
import type { WatchSettings } from './watch-settings.ts';
import type { WatchState } from './watch-state.ts';

/** Where visits are counted. */
export interface Counted {
  side: ReadSide;
  project: { id: number; name: string };
}

/** The watch made the run, or went on with it. */
const isOwn = (run: Pick<StoredRun, 'metadata'>): boolean => isTick(run) || isFirstCrawl(run);

/** The budget as it was kept; `ifNew` makes one where nothing was. Where the state was lost, the last run is to be charged. */
export function loadBudget(
  state: WatchState,
  settings: WatchSettings,
  last: StoredRun | null,
  ifNew: () => VisitBudget,
): VisitBudget {
  if (state.budget !== null) return new VisitBudget(settings, state.budget);
  if (last === null || !isOwn(last)) return ifNew();
  const at = Date.parse(last.started_at);
  const before = { visits: 0, hosts: {} };
  state.openCharge = { afterRun: last.run - 1, at, room: Number.MAX_SAFE_INTEGER, before };
  return VisitBudget.emptyAt(settings, at);
}

/** Notes that a run is to be charged. Of a run that goes on, what it visited before the tick is left out. */
export async function openCharge(
  counted: Counted,
  state: WatchState,
  run: { goesOn: boolean; last: number },
  { at, room }: Pick<OpenCharge, 'at' | 'room'>,
): Promise<void> {
  const { visits, hosts } = run.goesOn ? await countRun(counted, run.last) : { visits: 0, hosts: {} };
  const afterRun = run.goesOn ? run.last - 1 : run.last;
  state.openCharge = { afterRun, at, room, before: { visits, hosts } };
}

/** Charges what is to be charged. `ended`: the run, where this watch saw its end; null where it was killed before. */
export async function settleCharge(
  counted: Counted,
  { state, budget }: { state: WatchState; budget: VisitBudget },
  ended: { run: number; at: number } | null,
): Promise<void> {
  const { openCharge: open } = state;
  if (open === null) return;
  const run = ended === null ? await findCharged(counted, open) : await counted.side.run(ended.run);
  if (run !== null) await chargeRun(counted, budget, open, { run: run.run, endedAt: ended?.at ?? null });
  if (run !== null && isFirstCrawl(run)) budget.drain();
  else if (run !== null && ended === null) {
    state.firstRun ??= run.run;
    state.hasLeftOvers = true;
  }
  state.openCharge = null;
}

/** The run that the open charge is for; null where it never began. */
async function findCharged({ side, project }: Counted, { afterRun }: OpenCharge): Promise<StoredRun | null> {
  let newest = afterRun;
  for await (const run of side.runs({ project: project.name }))
    if (run.run > newest && isOwn(run)) newest = run.run;
  return newest === afterRun ? null : side.run(newest);
}

/** Visits of the run under way that are not charged yet. */
export async function uncharged(counted: Counted, { before }: OpenCharge, run: number): Promise<number> {
  return Math.max(0, (await countRun(counted, run)).visits - before.visits);
}

async function chargeRun(
  counted: Counted,
  budget: VisitBudget,
  { at, room, before }: OpenCharge,
  { run, endedAt }: { run: number; endedAt: number | null },
): Promise<void> {
  const made = await countRun(counted, run);
  const visits = Math.max(0, made.visits - before.visits);
  const hosts = Object.entries(made.hosts).map(
    ([id, count]) => [id, Math.max(0, count - (before.hosts[id] ?? 0))] as const,
  );
  // Where nobody saw its end, visits beyond its room were made by somebody who went on with it by hand.
  const own = endedAt === null ? Math.min(visits, room) : visits;
  budget.charge({ visits: own, hosts: Object.fromEntries(hosts) }, at, endedAt ?? Math.max(at, made.lastAt));
}

async function countRun({ side, project }: Counted, run: number) {
  const counted = await countAsked(side, project.id, run);
  // History may have been cleared since. Visits that it told of stay charged.
  const stored = await side.run(run);
  return { ...counted, visits: Math.max(counted.visits, stored?.pages ?? 0) };
}
