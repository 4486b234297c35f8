/**
 * Finds the tick in which a running watch will visit a page. It simulates the coming ticks with the same functions that
 * the watch uses: hours, budgets, pauses of hosts, plan. Pages that a simulated tick visits count as unchanged. Nothing
 * is written.
 */
import type { DiscoveryRow, PageFilter, PageRow, ReadSide } from '../store/read-side.ts';
import { type Choice, chooseFurther, choosePages } from './choose-pages.ts';
import { loadPlan } from './load-plan.ts';
import { isOpen, nextOpen } from './open-hours.ts';
import type { PlanBook } from './plan-book.ts';
import { isTick } from './tick-run.ts';
import { VisitBudget } from './visit-budget.ts';
import type { WatchState } from './watch-state.ts';

/** Why ticks do not choose the page yet. */
export type WaitsFor = 'hours' | 'pause' | 'silence' | 'host budget' | 'budget' | 'its time';

export interface ForeseenVisit {
  /** When the next tick begins. */
  next_tick: string;
  /** When the page is visited; null: in none of the simulated ticks. */
  visit_at: string | null;
  /** Number of simulated ticks; the last one begins at `last_tick`. */
  ticks: number;
  last_tick: string;
  /** Why the page is not visited in the next tick; null if it is. */
  waits_for: WaitsFor | null;
  /** Milliseconds between two ticks. */
  every_ms: number;
}

export interface ForeseeQuestion {
  page: { id: number; projectId: number };
  now: number;
  state: WatchState;
  learnedRun: number;
}

/** Limits of the simulation. */
const MOST_TICKS = 1000;
const MOST_VISITS = 200_000;

/** Null if no watch has saved its settings. */
export async function foreseeVisit(side: ReadSide, question: ForeseeQuestion): Promise<ForeseenVisit | null> {
  const { page, now, learnedRun } = question;
  const state = structuredClone(question.state);
  const last = await side.lastRun(page.projectId);
  const project = (await side.projects()).find(({ id }) => id === page.projectId)?.project;
  if (state.ticks == null || last === null || project === undefined) return null;
  const { settings, beganAt } = state.ticks;
  const saved = { state, learnedRun };
  const options = { kind: settings.kind, visitsPerDay: settings.all.perDay, random: middle };
  const { book } = await loadPlan(side, page.projectId, saved, options, now);
  const endedAt = last.finished_at === null ? now : Date.parse(last.finished_at);
  const isFirst = state.budget === null;
  const budget =
    state.budget === null
      ? VisitBudget.afterCrawl(settings, endedAt)
      : new VisitBudget(settings, state.budget);
  const future = new FutureTicks(side, { project, state, book, budget });
  const due = isFirst ? now : (beganAt ?? budget.tickedAt) + settings.everyMs;
  let at = nextOpen(Math.max(due, now), settings.hours);
  const nextTick = at;
  let waitsFor: WaitsFor | null = isOpen(Math.max(due, now), settings.hours) ? null : 'hours';
  const isUnderWay = last.status === 'running' && isTick(last) && (await isOnItsWay(side, page.id));
  if (isUnderWay) {
    const told = { next_tick: timeOf(now), visit_at: timeOf(now), last_tick: timeOf(now) };
    return { ...told, ticks: 0, waits_for: null, every_ms: settings.everyMs };
  }
  for (let ticks = 1; ; ticks++) {
    const found = await future.tick(at, isFirst && ticks === 1, page.id);
    const isOver = ticks === MOST_TICKS || future.visits > MOST_VISITS;
    if (found === 'visited' || isOver)
      return {
        next_tick: timeOf(nextTick),
        visit_at: found === 'visited' ? timeOf(at) : null,
        ticks,
        last_tick: timeOf(at),
        waits_for: waitsFor,
        every_ms: settings.everyMs,
      };
    waitsFor = found;
    at = nextOpen(at + settings.everyMs, settings.hours);
  }
}

/** The tick under way has chosen the page. */
async function isOnItsWay(side: ReadSide, pageId: number): Promise<boolean> {
  const page = await side.pageById(pageId);
  return page?.state === 'Queued' || page?.state === 'Fetching';
}

const timeOf = (at: number) => new Date(Math.round(at)).toISOString();

/** Random numbers are their mean. */
const middle = () => 0.5;

interface Watching {
  project: string;
  state: WatchState;
  book: PlanBook;
  budget: VisitBudget;
}

class FutureTicks {
  visits = 0;
  readonly #original: ReadSide;
  /** The same, with the changes of the simulated ticks. */
  readonly #side: ReadSide;
  readonly #watching: Watching;
  /** Page ids: pages outside of the plan that a simulated tick visited. */
  readonly #visited = new Set<number>();
  /** When a simulated tick last read sitemaps. */
  #readAt: number | null = null;

  constructor(side: ReadSide, watching: Watching) {
    this.#original = side;
    this.#side = {
      ...side,
      pages: (filter) => this.#pages(filter),
      discoveries: (filter) => this.#discoveries(filter),
    };
    this.#watching = watching;
  }

  /** Simulates a tick. Returns whether it visits the page, or why not. */
  async tick(at: number, isFirst: boolean, pageId: number): Promise<'visited' | WaitsFor> {
    const { budget, book } = this.#watching;
    budget.refill(at);
    const hostId = this.#hostOf(pageId);
    const before = { all: budget.visits, host: hostId === null ? 1 : budget.hostVisits(hostId) };
    const choice = await this.#choose(at, isFirst);
    if (this.#make(choice, at, pageId)) return 'visited';
    let visits = choice.pages.length + choice.leftOvers.length;
    if (!choice.isIdle && choice.mayHaveMore && choice.room > visits) {
      const further = {
        ...choice,
        leftOvers: [],
        pages: await this.#chooseFurther(at, choice.room - visits),
      };
      if (this.#make(further, at, pageId)) return 'visited';
      visits += further.pages.length;
    }
    if (hostId === null) return 'its time';
    if ((await this.#original.blockedHosts(at)).includes(hostId)) return 'pause';
    if (book.silent.has(hostId)) return 'silence';
    if (before.host < 1 || budget.hostVisits(hostId) < 1) return 'host budget';
    return before.all < 1 || visits >= choice.room ? 'budget' : 'its time';
  }

  #hostOf(pageId: number): number | null {
    const { book } = this.#watching;
    const page = book.pageOf(pageId);
    return page === -1 ? null : book.hostIdOf(book.plan.hostOf(page));
  }

  #choose(now: number, isFirst: boolean): Promise<Choice> {
    const { project, state, book, budget } = this.#watching;
    const { settings, config } = state.ticks!;
    const shared = { side: this.#side, project, config, settings, book, budget, state, now };
    return choosePages({ ...shared, isFirst, hasReadSitemaps: !isFirst, random: middle });
  }

  #chooseFurther(now: number, most: number): Promise<number[]> {
    const { state, book, budget } = this.#watching;
    const { settings } = state.ticks!;
    const left = (hostId: number) => budget.hostVisits(hostId);
    return chooseFurther({ side: this.#side, settings, book, now, most, left });
  }

  /** Applies the visits of a choice. True if the page is among them. */
  #make(
    { pages, leftOvers, hasMoreLeftOvers, readsSitemaps, isIdle }: Choice,
    at: number,
    pageId: number,
  ): boolean {
    const { book, budget, state } = this.#watching;
    const { plan } = book;
    const hosts: Record<string, number> = {};
    for (const page of pages) {
      const hostId = book.hostIdOf(plan.hostOf(page));
      hosts[hostId] = (hosts[hostId] ?? 0) + 1;
      plan.observe(page, plan.isGone(page) ? 'gone' : 'unchanged', at);
    }
    for (const id of leftOvers) this.#visited.add(id);
    budget.charge({ visits: pages.length + leftOvers.length, hosts }, at);
    this.visits += pages.length + leftOvers.length;
    state.hasLeftOvers = hasMoreLeftOvers;
    if (readsSitemaps && !isIdle) this.#readAt = at;
    return leftOvers.includes(pageId) || pages.some((page) => book.pageIdOf(page) === pageId);
  }

  async *#pages(filter: PageFilter): AsyncGenerator<PageRow> {
    for await (const row of this.#original.pages(filter)) if (!this.#visited.has(row.id)) yield row;
  }

  async #discoveries(filter: { project?: string }): Promise<DiscoveryRow[]> {
    const rows = await this.#original.discoveries(filter);
    const readAt = this.#readAt;
    return readAt === null ? rows : rows.map((row) => ({ ...row, checked_at: timeOf(readAt) }));
  }
}
