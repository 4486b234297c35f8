/**
 * A project under watch. Each tick is a short run of it: the pages that the plan of revisits chose within the budget,
 * and whatever new is found on the way, visited as any crawl does it; then the plan learns from what was seen.
 *
 * It promises that no tick visits more pages than the budget has, also over restarts: what is chosen is charged before the
 * run begins. Everything needed to go on is in the store after each tick, and what a crash keeps out of it is learned
 * again from the history of visits. One watch a project: a second one is refused while the first lives.
 */
import type { Config } from '../config/load-config.ts';
import { type CrawlHandle, startCrawl } from '../crawl/start-crawl.ts';
import type { Extensions } from '../crawl/wire.ts';
import { sumiError } from '../errors.ts';
import { systemClock } from '../primitives/clock.ts';
import type { EventListener, SummaryEvent } from '../report/events.ts';
import { openReadSide, openStore } from '../store/open-store.ts';
import type { Store } from '../store/port.ts';
import type { ReadSide, StoredRun, VisitRowBrief } from '../store/read-side.ts';
import { isUnfinished } from '../store/unfinished-run.ts';
import { loadPlan } from './load-plan.ts';
import { NO_REVISITS, type PlanBook } from './plan-book.ts';
import { findLeftOvers, isLookDue, isTick, tickConfig } from './tick-run.ts';
import { isOpen, VisitBudget } from './visit-budget.ts';
import { changeEvent, type TickEvent, type WatchEvent } from './watch-event.ts';
import type { WatchSettings } from './watch-settings.ts';
import { followClock, readState, type WatchState, writeState } from './watch-state.ts';
import { newOwner, refuseSecondWatch } from './watcher.ts';

export interface WatchRequest {
  config: Config;
  startUrls: readonly string[];
  project: string;
  settings: WatchSettings;
  extensions?: Extensions;
  /** From 0 up to 1; chance unless said. */
  random?: () => number;
  /** Hear what the runs tell. */
  listeners?: readonly EventListener[];
  onEvent: (event: WatchEvent) => void;
}

export interface Watch {
  /** The first crawl of the project, or what was left of its last run; null when there was nothing to do. */
  prepare(): Promise<SummaryEvent | null>;
  /** Visits what is due, if anything is. */
  tick(): Promise<TickEvent>;
  /** The run under way. */
  readonly handle: CrawlHandle | null;
  /** Another watch may begin at once. */
  close(): Promise<void>;
}

/** How long after its next look a watch may still be silent. */
const GRACE_MS = 300_000;

const DAY_MS = 86_400_000;

/** A page read less than half of this ago is left alone, or half of the time between looks where that is less. */
const LEAST_DAYS = 1 / 96;

/** Of a tick's visits, for what is found when sitemaps and feeds are read again. */
const LOOK_SHARE = 0.1;

/** What a tick is about to visit. */
interface Chosen {
  /** Pages of the plan, by its numbers, and pages that earlier ticks had no room for, by the store's. */
  pages: number[];
  leftOvers: number[];
  room: number;
  /** Sitemaps may be read. */
  looks: boolean;
}

interface Opened {
  store: Store;
  side: ReadSide;
  now: number;
}

export function openWatch(request: WatchRequest): Watch {
  return new ProjectWatch(request);
}

class ProjectWatch implements Watch {
  readonly #request: WatchRequest;
  readonly #owner = newOwner();
  handle: CrawlHandle | null = null;
  #isOurs = false;
  /** All of the project was read by this watch. */
  #hasCrawled = false;
  /** A run of this watch had the chance to read sitemaps. */
  #hasLooked = false;
  #state: WatchState | null = null;
  #learnedRun = 0;
  #book: PlanBook | null = null;
  #budget: VisitBudget | null = null;
  #refreshedAt = 0;

  constructor(request: WatchRequest) {
    this.#request = request;
  }

  async prepare(): Promise<SummaryEvent | null> {
    const { config } = this.#request;
    const isFresh = config.fresh && !this.#hasCrawled;
    const last = await this.#open(async (opened) => {
      const found = await this.#findProject(opened.side);
      if (found !== null) await this.#takeOver(opened, found.id, found.last);
      if (!isFresh) return found?.last ?? null;
      // All of the project is about to be cleared, what the watch keeps included.
      this.#state = null;
      return null;
    });
    // A tick that was cut off goes on as one: begun anew as a crawl, it would visit every page.
    if (last !== null && isUnfinished(last) && isTick(last)) return this.#goOn();
    if (last !== null && !isUnfinished(last)) return null;
    const summary = await this.#run({ ...config, fresh: isFresh }, undefined);
    this.#hasCrawled = true;
    return summary;
  }

  /** The rest of a tick that was cut off, within its room. */
  async #goOn(): Promise<SummaryEvent> {
    const summary = await this.#run(tickConfig(this.#request.config, this.#state!.cutOff?.room ?? null), []);
    if (summary.status === 'interrupted') return summary;
    await this.#open(async ({ store, side, now }) => {
      const found = await this.#findProject(side);
      this.#settleCutOff(found!.last!, now);
      await this.#save(store, now);
    });
    return summary;
  }

  /** What a tick that was never concluded owes: visits it made are paid, those it could not make are given back. */
  #settleCutOff(last: StoredRun, now: number): void {
    const state = this.#state!;
    const { cutOff } = state;
    if (cutOff === null || state.budget === null) return;
    state.cutOff = null;
    this.#budget ??= new VisitBudget(this.#request.settings, state.budget);
    if (last.run === cutOff.afterRun) this.#budget.charge(null, -cutOff.paid, now);
    // After a crawl by hand nobody can tell: what was paid stays paid.
    if (last.run === cutOff.afterRun || !isTick(last)) return;
    this.#budget.charge(null, last.pages - cutOff.paid, now);
    state.firstRun ??= last.run;
    state.hasLeftOvers ||= last.pages >= cutOff.room;
  }

  async tick(): Promise<TickEvent> {
    const chosen = await this.#open((opened) => this.#choose(opened));
    if ('type' in chosen) return this.#tell(chosen);
    const book = this.#book!;
    const due = [...chosen.leftOvers, ...chosen.pages.map((page) => book.pageIdOf(page))];
    const config = tickConfig(this.#request.config, chosen.room, chosen.looks);
    this.#hasLooked ||= chosen.looks;
    try {
      const summary = await this.#run(config, due);
      return this.#tell(await this.#open((opened) => this.#conclude(opened, chosen, summary)));
    } catch (error) {
      // The plan has given pages away that nobody will tell it of.
      this.#book = null;
      throw error;
    }
  }

  async close(): Promise<void> {
    if (!this.#isOurs || this.#state === null) return;
    await this.#open(async ({ store }) => {
      this.#state!.watcher = null;
      await this.#keep(store);
    });
    this.#isOurs = false;
  }

  /** The store for the time of one step: between ticks it is free for others. */
  async #open<T>(use: (opened: Opened) => Promise<T>): Promise<T> {
    const { config, extensions } = this.#request;
    const failures: unknown[] = [];
    const store = await openStore({
      address: config.storeAddress,
      clock: extensions?.clock ?? systemClock,
      onFailure: (error) => void failures.push(error),
      patienceMs: config.storePatience * 1000,
    });
    let side: ReadSide | null = null;
    try {
      side = await openReadSide(config.storeAddress);
      const found = await use({ store, side, now: store.clock.now() });
      if (failures.length > 0) throw failures[0];
      return found;
    } finally {
      await side?.close();
      await store.close();
    }
  }

  async #findProject(side: ReadSide): Promise<{ id: number; last: StoredRun | null } | null> {
    const row = (await side.projects()).find(({ project }) => project === this.#request.project);
    return row === undefined ? null : { id: row.id, last: await side.lastRun(row.id) };
  }

  /** Says in the store that this watch is at work, unless another one is. */
  async #takeOver({ store, side, now }: Opened, projectId: number, last: StoredRun | null): Promise<void> {
    const { plan, learnedRun } = await side.revisitPlan(projectId);
    const found = readState(plan);
    const watcher = found?.watcher ?? null;
    if (!this.#isOurs || (watcher !== null && watcher.owner !== this.#owner))
      await refuseSecondWatch(side, { project: this.#request.project, last, watcher, now });
    this.#state ??= found ?? newState(this.#request.settings);
    followClock(this.#state, now);
    this.#learnedRun = learnedRun;
    this.#isOurs = true;
    await this.#save(store, now);
  }

  async #save(store: Store, now: number): Promise<void> {
    const { project, settings } = this.#request;
    const state = this.#state!;
    state.kind = settings.kind;
    state.watcher = { owner: this.#owner, until: now + 2 * settings.everyMs + GRACE_MS };
    if (this.#budget !== null) state.budget = this.#budget.save(now);
    if (this.#book !== null) {
      state.plan = this.#book.plan.savePlan();
      state.hostIds = this.#book.hostIds;
      const text = writeState(state);
      // Pages before the run they learned from: after a crash between the two their visits are passed over, not counted twice.
      for (const batch of this.#book.takeUnsaved())
        await store.saveRevisits(project, batch, text, this.#learnedRun);
      const { learnedRun, hasLearnedAll } = this.#book;
      const mayClear = hasLearnedAll && learnedRun > this.#learnedRun;
      this.#learnedRun = learnedRun;
      await this.#keep(store);
      if (mayClear) await this.#clearHistory(store, now);
    } else await this.#keep(store);
  }

  /** The runs of a watch leave this to it: first, what they found is told and learned from. */
  async #clearHistory(store: Store, now: number): Promise<void> {
    const { config, project } = this.#request;
    if (config.keepHistory !== null) await store.forget(project, now - config.keepHistory * DAY_MS);
  }

  async #keep(store: Store): Promise<void> {
    const text = writeState(this.#state!);
    await store.saveRevisits(this.#request.project, NO_REVISITS, text, this.#learnedRun);
  }

  /** What to visit now, charged to the budget, or why nothing. */
  async #choose(opened: Opened): Promise<Chosen | TickEvent> {
    const { store, side, now } = opened;
    const { config, settings, project } = this.#request;
    const found = await this.#findProject(side);
    const isClosed = !isOpen(now, settings.hours);
    if (found?.last == null && isClosed) return this.#idle(now, 'hours');
    if (found?.last == null)
      throw sumiError('unknown-project', { project, file: config.storeLabel, known: 'others' });
    await this.#takeOver(opened, found.id, found.last);
    if (isClosed) return this.#idle(now, 'hours');
    const isFirst = this.#state!.budget === null;
    this.#settleCutOff(found.last, now);
    const book = await this.#refresh(opened, found.id);
    const budget = this.#openBudget(found.last, now);
    const hostVisits = (host: number) => budget.hostVisits(book.hostIdOf(host), now);
    const hostRoom =
      settings.hostVisitsPerDay === null
        ? Number.POSITIVE_INFINITY
        : book.hostIds.reduce((sum, _, host) => sum + hostVisits(host), 0);
    const room = Math.min(budget.visits(now), hostRoom, config.maxPages ?? Number.POSITIVE_INFINITY);
    const isDue = await isLookDue(side, project, config, now, !this.#hasLooked);
    const chosen: Chosen = { pages: [], leftOvers: [], room, looks: true };
    if (room >= 1) {
      const { hasLeftOvers, firstRun } = this.#state!;
      if (hasLeftOvers) {
        const isPlanned = (pageId: number) => book.pageOf(pageId) !== -1;
        chosen.leftOvers = await findLeftOvers(side, project, firstRun ?? 0, room, isPlanned);
      }
      const free = room - chosen.leftOvers.length;
      // What sitemaps name needs room; while earlier finds wait for theirs, no more are looked for.
      chosen.looks = !isDue || free > 0;
      const reserve = isDue ? Math.min(free, Math.max(1, Math.ceil(room * LOOK_SHARE))) : 0;
      const leastDays =
        isFirst && !this.#hasCrawled ? 0 : Math.min(settings.everyMs / DAY_MS, LEAST_DAYS) / 2;
      chosen.pages = book.plan.next(now, free - reserve, hostVisits, leastDays);
      for (const page of chosen.pages) budget.charge(this.#hostIdOf(page), 1, now);
      budget.charge(null, chosen.leftOvers.length, now);
    }
    const isIdle = chosen.pages.length + chosen.leftOvers.length === 0;
    const mayRest = isIdle && (room < 1 || !isDue);
    const paid = chosen.pages.length + chosen.leftOvers.length;
    if (!mayRest) this.#state!.cutOff = { afterRun: found.last.run, room, paid };
    await this.#save(store, now);
    const isJustRead = isFirst && this.#hasCrawled;
    return mayRest ? this.#idle(now, room < 1 && !isJustRead ? 'budget' : 'nothing due') : chosen;
  }

  /** The plan with everything seen since: by our own ticks, and by whoever else crawled the project. */
  async #refresh({ side, now }: Opened, projectId: number): Promise<PlanBook> {
    const { settings, random } = this.#request;
    const state = this.#state!;
    const toldRun = this.#book?.learnedRun ?? this.#learnedRun;
    const isFirst = this.#book === null && toldRun === 0;
    // The clock was set back: what the plan has of times to come is read anew as of now.
    if (now < this.#refreshedAt) this.#book = null;
    this.#refreshedAt = now;
    if (this.#book === null) {
      const { book, relearnedAt } = await loadPlan(
        side,
        projectId,
        { state: isFirst ? null : state, learnedRun: this.#learnedRun },
        { kind: settings.kind, visitsPerDay: settings.visitsPerDay, random: random ?? Math.random },
        now,
      );
      state.relearnedAt = relearnedAt;
      state.signalsReadAt = Math.max(state.signalsReadAt, await lastLook(side, this.#request.project, now));
      this.#book = book;
    } else await this.#book.learn(side, now, false);
    // Of the first crawl everything is new, which is no news.
    if (!isFirst) await this.#tellChanges(side, toldRun);
    const { hostVisitsPerDay, visitsPerDay } = settings;
    const hostsTogether = (hostVisitsPerDay ?? Number.POSITIVE_INFINITY) * this.#book.hostIds.length;
    this.#book.plan.expectVisits(Math.min(visitsPerDay, hostsTogether));
    return this.#book;
  }

  /**
   * What is in hand at the very first tick grew since the project was last crawled. Where that was done by hand, it is
   * what comes between two looks at least, and one visit: whoever looks for the first time wants to see something.
   */
  #openBudget(last: StoredRun, now: number): VisitBudget {
    const { settings } = this.#request;
    const crawledAt = last.finished_at === null ? now : Date.parse(last.finished_at);
    const leastMs = this.#hasCrawled ? 0 : Math.max(settings.everyMs, DAY_MS / settings.visitsPerDay);
    const at = Math.min(crawledAt, now - leastMs);
    this.#budget ??= new VisitBudget(settings, this.#state!.budget ?? { visits: 0, at, hosts: {} });
    return this.#budget;
  }

  async #run(config: Config, due: readonly number[] | undefined): Promise<SummaryEvent> {
    const { startUrls, extensions, listeners, project } = this.#request;
    this.handle = await startCrawl({
      config: { ...config, project, isolated: false, keepHistory: null },
      startUrls,
      ...(due !== undefined && { due }),
      extensions,
      listeners,
    });
    try {
      return await this.handle.finished;
    } finally {
      this.handle = null;
    }
  }

  /** What came of the tick: learned, told, paid for and kept. */
  async #conclude({ store, side, now }: Opened, chosen: Chosen, summary: SummaryEvent): Promise<TickEvent> {
    const book = this.#book!;
    const budget = this.#budget!;
    const state = this.#state!;
    const toldRun = book.learnedRun;
    const waiting = new Set(chosen.pages);
    await book.learn(side, now, false, (visit) => this.#pay(visit, summary.run, waiting, now));
    // Leftovers were paid for as visits of nobody; those that were made have been paid by their hosts.
    budget.charge(null, -chosen.leftOvers.length, now);
    const isCutOff = summary.status === 'interrupted' || summary.pages >= chosen.room;
    for (const page of waiting) {
      budget.charge(this.#hostIdOf(page), -1, now);
      if (isCutOff) book.plan.release(page);
      else book.giveUp(page, now);
    }
    const look = await lastLook(side, this.#request.project, now);
    if (look > state.signalsReadAt) {
      await book.readSignals(side, this.#request.project, state.signalsReadAt, now);
      state.signalsReadAt = look;
    }
    const { cutOff } = state;
    state.cutOff = summary.status === 'interrupted' ? { ...cutOff!, paid: summary.pages } : null;
    state.firstRun ??= summary.run;
    state.hasLeftOvers = summary.pages >= chosen.room || chosen.leftOvers.length >= chosen.room;
    await this.#tellChanges(side, toldRun);
    const counts = await countVisits(side, summary.run);
    await this.#save(store, now);
    return {
      ...this.#idle(now, null),
      run: summary.run,
      status: summary.status,
      due: chosen.pages.length + chosen.leftOvers.length,
      ...counts,
    };
  }

  #pay(visit: VisitRowBrief, run: number, waiting: Set<number>, now: number): void {
    if (visit.run !== run) return;
    const page = this.#book!.pageOf(visit.pageId);
    // What the links say of a page stands in the line of its visit, where it had one: that one was paid for.
    if (visit.knownBy === 'orphan') {
      waiting.delete(page);
      return;
    }
    const wasAsked = visit.knownBy !== 'freshness' && visit.knownBy !== 'lastmod';
    const hostId = page === -1 ? null : this.#hostIdOf(page);
    // Chosen pages were paid for; what was found on the way was not.
    const isPaid = waiting.delete(page);
    if (isPaid !== wasAsked) this.#budget!.charge(hostId, isPaid ? -1 : 1, now);
  }

  #hostIdOf(page: number): number {
    return this.#book!.hostIdOf(this.#book!.plan.hostOf(page));
  }

  async #tellChanges(side: ReadSide, afterRun: number): Promise<void> {
    const { projectId, learnedRun: toRun } = this.#book!;
    if (toRun <= afterRun) return;
    for await (const row of side.changes({ projectId, fromRun: afterRun + 1, toRun }))
      this.#request.onEvent(changeEvent(this.#request.project, row));
  }

  #tell(event: TickEvent): TickEvent {
    this.#request.onEvent(event);
    return event;
  }

  #idle(now: number, skipped: TickEvent['skipped']): TickEvent {
    return {
      type: 'tick',
      at: new Date(now).toISOString(),
      project: this.#request.project,
      run: null,
      skipped,
      status: null,
      due: 0,
      ...{ new: 0, changed: 0, unchanged: 0, gone: 0, failed: 0, bytes_saved: 0 },
      budget_left: this.#budget?.visits(now) ?? 0,
    };
  }
}

function newState(settings: WatchSettings): WatchState {
  const none: number[] = [];
  return {
    kind: settings.kind,
    plan: {
      price: null,
      priorShape: 0,
      priorDays: 0,
      hosts: {
        priorShape: none,
        priorDays: none,
        falseSignals: none,
        testedSignals: none,
        signalsSince: none,
      },
    },
    hostIds: [],
    signalsReadAt: 0,
    relearnedAt: 0,
    budget: null,
    firstRun: null,
    hasLeftOvers: false,
    cutOff: null,
    watcher: null,
  };
}

/** When sitemaps of the project were last read; 0: never. */
async function lastLook(side: ReadSide, project: string, now: number): Promise<number> {
  const looks = await side.discoveries({ project });
  return Math.max(0, ...looks.map(({ checked_at }) => Math.min(Date.parse(checked_at), now)));
}

type Counts = Pick<TickEvent, 'new' | 'changed' | 'unchanged' | 'gone' | 'failed' | 'bytes_saved'>;

async function countVisits(side: ReadSide, run: number): Promise<Counts> {
  const counts: Counts = { new: 0, changed: 0, unchanged: 0, gone: 0, failed: 0, bytes_saved: 0 };
  for (const { outcome, visits, bytesSaved } of await side.ledger(run)) {
    counts[outcome] += visits;
    counts.bytes_saved += bytesSaved;
  }
  return counts;
}
