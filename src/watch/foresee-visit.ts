/**
 * In which look a watch that is at work will visit a page: its looks are gone through one after the other as it would make
 * them, with its hours, its budgets, the pauses of hosts and the plan, until one of them chooses the page. Pages that
 * such a look visits are taken as unchanged, for nobody knows what they will be. It changes nothing.
 */
import type { DiscoveryRow, PageFilter, PageRow, ReadSide } from '../store/read-side.ts';
import { type Choice, chooseFurther, choosePages } from './choose-pages.ts';
import { loadPlan } from './load-plan.ts';
import { isOpen, nextOpen } from './open-hours.ts';
import type { PlanBook } from './plan-book.ts';
import { isTick } from './tick-run.ts';
import { VisitBudget } from './visit-budget.ts';
import type { WatchState } from './watch-state.ts';

/** What a page waits for, while looks pass it over. */
export type WaitsFor = 'hours' | 'pause' | 'silence' | 'host budget' | 'budget' | 'its time';

export interface ForeseenVisit {
  /** The look that comes next. */
  next_look: string;
  /** The look that visits the page; null: none of those that were gone through. */
  visit_at: string | null;
  /** How many looks were gone through; the last one is `last_look`. */
  looks: number;
  last_look: string;
  /** Why not in the next look; null where it is that one. */
  waits_for: WaitsFor | null;
  /** Milliseconds between two looks. */
  every_ms: number;
}

export interface ForeseeQuestion {
  page: { id: number; projectId: number };
  now: number;
  state: WatchState;
  learnedRun: number;
}

/** A page that comes after all of these comes late enough to be told so. */
const MOST_LOOKS = 1000;
const MOST_VISITS = 200_000;

/** Null where the watch has not said how it looks. */
export async function foreseeVisit(side: ReadSide, question: ForeseeQuestion): Promise<ForeseenVisit | null> {
  const { page, now, learnedRun } = question;
  const state = structuredClone(question.state);
  const last = await side.lastRun(page.projectId);
  const project = (await side.projects()).find(({ id }) => id === page.projectId)?.project;
  if (state.looks == null || last === null || project === undefined) return null;
  const { settings, beganAt } = state.looks;
  const saved = { state, learnedRun };
  const options = { kind: settings.kind, visitsPerDay: settings.all.perDay, random: middle };
  const { book } = await loadPlan(side, page.projectId, saved, options, now);
  const endedAt = last.finished_at === null ? now : Date.parse(last.finished_at);
  const isFirst = state.budget === null;
  const budget =
    state.budget === null
      ? VisitBudget.afterCrawl(settings, endedAt)
      : new VisitBudget(settings, state.budget);
  const future = new FutureLooks(side, { project, state, book, budget });
  const due = isFirst ? now : (beganAt ?? budget.tickedAt) + settings.everyMs;
  let at = nextOpen(Math.max(due, now), settings.hours);
  const nextLook = at;
  // The hours are not open: that is why the page is not visited now.
  let waitsFor: WaitsFor | null = isOpen(Math.max(due, now), settings.hours) ? null : 'hours';
  const isUnderWay = last.status === 'running' && isTick(last) && (await isOnItsWay(side, page.id));
  if (isUnderWay) {
    const told = { next_look: timeOf(now), visit_at: timeOf(now), last_look: timeOf(now) };
    return { ...told, looks: 0, waits_for: null, every_ms: settings.everyMs };
  }
  for (let looks = 1; ; looks++) {
    const found = await future.look(at, isFirst && looks === 1, page.id);
    const isOver = looks === MOST_LOOKS || future.visits > MOST_VISITS;
    if (found === 'visited' || isOver)
      return {
        next_look: timeOf(nextLook),
        visit_at: found === 'visited' ? timeOf(at) : null,
        looks,
        last_look: timeOf(at),
        waits_for: waitsFor,
        every_ms: settings.everyMs,
      };
    waitsFor = found;
    at = nextOpen(at + settings.everyMs, settings.hours);
  }
}

/** The look that is under way has chosen it. */
async function isOnItsWay(side: ReadSide, pageId: number): Promise<boolean> {
  const page = await side.pageById(pageId);
  return page?.state === 'Queued' || page?.state === 'Fetching';
}

const timeOf = (at: number) => new Date(Math.round(at)).toISOString();

/** Chance is foreseen by its middle. */
const middle = () => 0.5;

interface Watching {
  project: string;
  state: WatchState;
  book: PlanBook;
  budget: VisitBudget;
}

class FutureLooks {
  visits = 0;
  readonly #original: ReadSide;
  /** The same, with what looks gone through would have changed. */
  readonly #side: ReadSide;
  readonly #watching: Watching;
  /** By the store's ids: pages that are in no plan yet and were visited in a look gone through. */
  readonly #visited = new Set<number>();
  /** When sitemaps were last read in one of them. */
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

  /** Whether this look visits the page, or what it waits for. */
  async look(at: number, isFirst: boolean, pageId: number): Promise<'visited' | WaitsFor> {
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
    const { settings, config } = state.looks!;
    const shared = { side: this.#side, project, config, settings, book, budget, state, now };
    return choosePages({ ...shared, isFirst, hasReadSitemaps: !isFirst, random: middle });
  }

  #chooseFurther(now: number, most: number): Promise<number[]> {
    const { state, book, budget } = this.#watching;
    const { settings } = state.looks!;
    const left = (hostId: number) => budget.hostVisits(hostId);
    return chooseFurther({ side: this.#side, settings, book, now, most, left });
  }

  /** As if the run had been made; true where the page was among its pages. */
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
