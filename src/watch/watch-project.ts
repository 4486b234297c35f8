/**
 * A project under watch. Each tick is a short run of it: the pages that the plan of revisits chose within the budget, and
 * whatever new is found on the way, visited as any crawl does it; then the plan learns from what was seen.
 *
 * It promises that no tick visits more pages than the budget has, also over restarts: what is chosen is charged before the
 * run begins. Everything needed to go on is in the store after each tick, and what a crash keeps out of it is learned
 * again from the history of visits. One watch a project: a second one is refused while the first lives.
 */
import type { Config } from '../config/load-config.ts';
import type { RunRoom } from '../crawl/run-room.ts';
import { type CrawlHandle, startCrawl } from '../crawl/start-crawl.ts';
import type { Extensions } from '../crawl/wire.ts';
import { type Clock, systemClock } from '../primitives/clock.ts';
import type { EventListener, SummaryEvent } from '../report/events.ts';
import { openReadSide, openStore } from '../store/open-store.ts';
import type { Store } from '../store/port.ts';
import type { ReadSide, StoredRun, VisitRowBrief } from '../store/read-side.ts';
import { isUnfinished } from '../store/unfinished-run.ts';
import { type Choice, choosePages } from './choose-pages.ts';
import { loadPlan } from './load-plan.ts';
import { NO_REVISITS, type PlanBook } from './plan-book.ts';
import { stopAfterHours } from './stop-after-hours.ts';
import {
  countVisits,
  findProject,
  firstConfig,
  isFirstCrawl,
  isReadToEnd,
  isTick,
  lastLook,
  tickConfig,
} from './tick-run.ts';
import { VisitAccount } from './visit-account.ts';
import { isOpen } from './visit-budget.ts';
import { changeEvent, type TickEvent, type WatchEvent } from './watch-event.ts';
import type { WatchSettings } from './watch-settings.ts';
import { followClock, newState, readState, type WatchState, writeState } from './watch-state.ts';
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
  /** The first crawl of the project, or what was left of it; null when there was nothing to do. */
  prepare(): Promise<SummaryEvent | null>;
  /** The first crawl is over; else another call of `prepare` goes on with it, when there is room or the hours have come. */
  readonly isPrepared: boolean;
  /** Visits what is due, if anything is; what a tick that was cut off left comes before that. */
  tick(): Promise<TickEvent>;
  /** The run under way. */
  readonly handle: CrawlHandle | null;
  /** Another watch may begin at once. */
  close(): Promise<void>;
}

/** How long after its next look a watch may still be silent. */
const GRACE_MS = 300_000;

const DAY_MS = 86_400_000;

/** What a tick is about to visit. */
interface Chosen extends Choice {
  hostPages: RunRoom['hostPages'];
}

interface Ended {
  summary: SummaryEvent;
  isAtLimit: boolean;
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
  isPrepared = false;
  /** The project was cleared, where that was wanted. */
  #hasBegun = false;
  /** The first crawl has just ended. */
  #isJustRead = false;
  /** A run of this watch had the chance to read sitemaps. */
  #hasLooked = false;
  /** The account knows that a look has begun: a first crawl and the tick after it are one. */
  #isLooking = false;
  #state: WatchState | null = null;
  #projectId = 0;
  #learnedRun = 0;
  #book: PlanBook | null = null;
  #account: VisitAccount | null = null;
  #refreshedAt = 0;
  /** Pages without an answer when the plan was last known to have all of them. */
  #unanswered = 0;

  constructor(request: WatchRequest) {
    this.#request = request;
  }

  async prepare(): Promise<SummaryEvent | null> {
    this.#isLooking = false;
    const first = await this.#open((opened) => this.#planFirst(opened));
    if (first === null) return null;
    this.#hasBegun = true;
    const { summary } = await this.#run(first.config, undefined, first.room);
    await this.#open((opened) => this.#concludeFirst(opened, summary));
    return summary;
  }

  #look(now: number): void {
    if (this.#isLooking || this.#account === null) return;
    this.#isLooking = true;
    this.#account.budget.look(now);
  }

  /** How much of the first crawl there is room for; null when there is none, or nothing to do. */
  async #planFirst(opened: Opened): Promise<{ config: Config; room: RunRoom } | null> {
    const { store, side, now } = opened;
    const { config, settings } = this.#request;
    const isFresh = config.fresh && !this.#hasBegun;
    const found = await findProject(side, this.#request.project);
    if (found !== null) await this.#takeOver(opened, found.id, found.last);
    const last = isFresh ? null : (found?.last ?? null);
    // All of the project is about to be cleared, or nothing of it was visited and paid: what the watch keeps begins anew.
    if (last === null) [this.#state, this.#account, this.#isLooking] = [newState(settings.kind), null, false];
    // A tick that was cut off goes on as one: begun anew as a crawl, it would visit every page.
    this.isPrepared = last !== null && (!isUnfinished(last) || isTick(last));
    if (this.isPrepared) return null;
    const account = await this.#openFirst(last, side, now);
    const room = account.budget.visits(now);
    const most = config.maxPages ?? Number.POSITIVE_INFINITY;
    const maxPages = Math.min((last?.pages ?? 0) + room, most);
    const state = this.#state!;
    const cutOff = state.cutOff ?? { afterRun: last?.run ?? 0, paid: 0, hosts: {} };
    state.cutOff = { ...cutOff, room: maxPages, isLeft: room < 1 };
    if (found !== null && !isFresh) await this.#save(store, now);
    // One that was cut off after its last page needs none.
    if (room < 1 && !(last !== null && (await isReadToEnd(side, this.#request.project)))) return null;
    const hostPages = (id: number) => account.budget.hostVisits(id, now);
    const pausesAt = maxPages < most ? (['limit', 'room'] as const) : (['room'] as const);
    return { config: firstConfig(config, maxPages, isFresh), room: { hostPages, pausesAt } };
  }

  /** The account of the first crawl, with the visits paid that were made, as of then: the next day has its own. */
  async #openFirst(last: StoredRun | null, side: ReadSide, now: number): Promise<VisitAccount> {
    const [{ settings }, state] = [this.#request, this.#state!];
    const isOurs = last !== null && isFirstCrawl(last);
    const startedAt = isOurs ? Date.parse(last.started_at) : now;
    this.#account ??= VisitAccount.kept(settings, state) ?? VisitAccount.atStart(settings, state, startedAt);
    if (last !== null) {
      const paidAt = this.#isLooking ? now : Math.min(now, Math.max(startedAt, state.budget?.seenAt ?? 0));
      const [books, room] = [{ side, projectId: this.#projectId, now: paidAt }, Number.MAX_SAFE_INTEGER];
      if (!isOurs) await this.#account.passOver(last.run, books);
      state.cutOff ??= { afterRun: last.run - 1, room, paid: 0, hosts: {} };
      await this.#account.catchUp(last.run, books);
    }
    this.#look(now);
    return this.#account;
  }

  async #concludeFirst(opened: Opened, { run, status }: SummaryEvent): Promise<void> {
    const { store, side, now } = opened;
    const found = await findProject(side, this.#request.project);
    await this.#takeOver(opened, found!.id, found!.last);
    await this.#account!.pay(run, { side, projectId: this.#projectId, now });
    this.isPrepared = status !== 'interrupted';
    if (this.isPrepared) {
      this.#account!.budget.endStart(now);
      this.#state!.cutOff = null;
      this.#isJustRead = true;
    } else this.#account!.leave();
    await this.#save(store, now);
  }

  async tick(): Promise<TickEvent> {
    try {
      return this.#tell(await this.#visitDue());
    } finally {
      this.#isLooking = false;
    }
  }

  async #visitDue(): Promise<TickEvent> {
    const chosen = await this.#open((opened) => this.#choose(opened));
    if ('type' in chosen) return chosen;
    const due = [...chosen.leftOvers, ...chosen.pages.map((page) => this.#book!.pageIdOf(page))];
    const config = tickConfig(this.#request.config, chosen.room, chosen.looks);
    this.#hasLooked ||= chosen.looks;
    try {
      const ended = await this.#run(config, due, { hostPages: chosen.hostPages, pausesAt: [] });
      return await this.#open((opened) => this.#conclude(opened, chosen, ended));
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

  /** Says in the store that this watch is at work, unless another one is. */
  async #takeOver({ store, side, now }: Opened, projectId: number, last: StoredRun | null): Promise<void> {
    this.#projectId = projectId;
    const { plan, learnedRun } = await side.revisitPlan(projectId);
    const found = readState(plan);
    const watcher = found?.watcher ?? null;
    if (!this.#isOurs || (watcher !== null && watcher.owner !== this.#owner))
      await refuseSecondWatch(side, { project: this.#request.project, last, watcher, now });
    this.#state ??= found ?? newState(this.#request.settings.kind);
    followClock(this.#state, now);
    this.#look(now);
    this.#learnedRun = learnedRun;
    this.#isOurs = true;
    await this.#save(store, now);
  }

  async #save(store: Store, now: number): Promise<void> {
    const { project, settings } = this.#request;
    const state = this.#state!;
    state.kind = settings.kind;
    state.watcher = { owner: this.#owner, until: now + 2 * settings.everyMs + GRACE_MS };
    if (this.#account !== null) state.budget = this.#account.budget.save(now);
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
    const found = await findProject(side, this.#request.project);
    const isClosed = !isOpen(this.#clock.now(), settings.hours);
    if (found?.last == null) {
      // Nothing could be visited: the next look begins anew.
      this.isPrepared = false;
      return this.#idle(now, isClosed ? 'hours' : this.#isJustRead ? 'nothing due' : 'budget');
    }
    await this.#takeOver(opened, found.id, found.last);
    if (isClosed) return this.#idle(now, 'hours');
    if (isUnfinished(found.last)) return this.#goOn(opened, found.last);
    const isFirst = this.#state!.budget === null;
    const account = await this.#openAccount(opened, found.last);
    const book = this.#book!;
    const choice = await choosePages({
      ...{ side, project, config, settings, book, now, isFirst },
      budget: account.budget,
      state: this.#state!,
      hasLooked: this.#hasLooked,
    });
    const { pages, leftOvers, room, isIdle } = choice;
    const isJustRead = this.#isJustRead;
    this.#isJustRead = false;
    const hostIds = pages.map((page) => book.hostIdOf(book.plan.hostOf(page)));
    const run = { afterRun: found.last.run, room, hostIds, others: leftOvers.length };
    const hostPages = isIdle ? null : account.payAhead(run, now);
    await this.#save(store, now);
    if (hostPages !== null) return { ...choice, hostPages };
    return this.#idle(now, room < 1 && !isJustRead ? 'budget' : 'nothing due');
  }

  /** The rest of a tick that was cut off, within its room. Of a crawl that was, `prepare` goes on with it. */
  async #goOn({ store, side, now }: Opened, last: StoredRun): Promise<Chosen | TickEvent> {
    const { settings } = this.#request;
    if (!isTick(last)) {
      this.isPrepared = false;
      return this.#idle(now, 'budget');
    }
    const state = this.#state!;
    this.#account ??= VisitAccount.kept(settings, state) ?? VisitAccount.atStart(settings, state, now);
    const account = this.#account;
    this.#look(now);
    const books = { side, projectId: this.#projectId, now };
    if (state.cutOff === null) {
      await account.passOver(last.run, books);
      state.cutOff!.room = last.pages + account.budget.visits(now);
    }
    await account.catchUp(last.run, books);
    await this.#save(store, now);
    const hostPages = (id: number) => account.budget.hostVisits(id, now);
    const { room } = state.cutOff!;
    const hasMoreLeftOvers = state.hasLeftOvers;
    return { pages: [], leftOvers: [], hasMoreLeftOvers, room, looks: true, isIdle: false, hostPages };
  }

  /** The account with all paid that was visited; the plan is up to date then, too. */
  async #openAccount(opened: Opened, last: StoredRun): Promise<VisitAccount> {
    const { side, now } = opened;
    const { settings } = this.#request;
    const state = this.#state!;
    this.#account ??= VisitAccount.kept(settings, state);
    if (this.#account === null && isFirstCrawl(last)) {
      // It ended, and nobody came to conclude it.
      this.#account = VisitAccount.atStart(settings, state, Date.parse(last.started_at));
      state.cutOff = { afterRun: last.run - 1, room: settings.all.atOnce, paid: 0, hosts: {} };
    }
    const crawledAt = last.finished_at === null ? now : Date.parse(last.finished_at);
    // Paid when it was made, before this look began: else what the look has in hand would be taken for its rest.
    const paidAt = this.#isLooking ? now : Math.min(now, Math.max(crawledAt, state.budget?.seenAt ?? 0));
    await this.#account?.settle(last, { side, projectId: this.#projectId, now: paidAt });
    const { hostIds } = await this.#refresh(opened);
    this.#account ??= VisitAccount.afterCrawl(settings, state, { crawledAt, hostIds, now });
    this.#look(now);
    return this.#account;
  }

  /** The plan with everything seen since: by our own ticks, and by whoever else crawled the project. */
  async #refresh(
    { side, now }: Pick<Opened, 'side' | 'now'>,
    onVisit?: (visit: VisitRowBrief) => void,
  ): Promise<PlanBook> {
    const { settings, random } = this.#request;
    const state = this.#state!;
    const toldRun = this.#book?.learnedRun ?? this.#learnedRun;
    const isFirst = this.#book === null && toldRun === 0;
    // The clock was set back: what the plan has of times to come is read anew as of now, but not in the middle of a tick.
    if (now < this.#refreshedAt && onVisit === undefined) this.#book = null;
    this.#refreshedAt = now;
    if (this.#book === null) {
      const { book, relearnedAt } = await loadPlan(
        side,
        this.#projectId,
        { state: isFirst ? null : state, learnedRun: this.#learnedRun },
        { kind: settings.kind, visitsPerDay: settings.all.perDay, random: random ?? Math.random },
        now,
      );
      state.relearnedAt = relearnedAt;
      state.signalsReadAt = Math.max(state.signalsReadAt, await lastLook(side, this.#request.project, now));
      this.#book = book;
    } else await this.#book.learn(side, now, false, onVisit);
    // Of the first crawl everything is new, which is no news.
    if (!isFirst) await this.#tellChanges(side, toldRun);
    const { all, host } = settings;
    const hostsTogether = (host?.perDay ?? Number.POSITIVE_INFINITY) * this.#book.hostIds.length;
    this.#book.plan.expectVisits(Math.min(all.perDay, hostsTogether));
    return this.#book;
  }

  async #run(config: Config, due: readonly number[] | undefined, room: RunRoom): Promise<Ended> {
    const { startUrls, extensions, listeners, project } = this.#request;
    const handle = await startCrawl({
      config: { ...config, project, isolated: false, keepHistory: null },
      startUrls,
      ...(due !== undefined && { due }),
      room,
      extensions,
      listeners,
    });
    this.handle = handle;
    const cancel = stopAfterHours(handle, this.#clock, this.#request.settings.hours);
    try {
      const summary = await handle.finished;
      return { summary, isAtLimit: handle.isAtLimit };
    } finally {
      cancel();
      this.handle = null;
    }
  }

  get #clock(): Clock {
    return this.#request.extensions?.clock ?? systemClock;
  }

  /** What came of the tick: learned, told, paid for and kept. */
  async #conclude(
    { store, side, now }: Opened,
    chosen: Chosen,
    { summary, isAtLimit }: Ended,
  ): Promise<TickEvent> {
    const state = this.#state!;
    const waiting = new Set(chosen.pages);
    const book = await this.#refresh({ side, now }, (visit) => {
      if (visit.run === summary.run) waiting.delete(this.#book!.pageOf(visit.pageId));
    });
    await this.#account!.pay(summary.run, { side, projectId: this.#projectId, now });
    // Workers that joined may have ended it at its limit.
    const isFull = isAtLimit || summary.pages >= chosen.room;
    const isCutOff = summary.status === 'interrupted' || isFull;
    for (const page of waiting) {
      if (isCutOff) book.plan.release(page);
      else book.giveUp(page, now);
    }
    const look = await lastLook(side, this.#request.project, now);
    if (look > state.signalsReadAt) {
      await book.readSignals(side, this.#request.project, state.signalsReadAt, now);
      state.signalsReadAt = look;
    }
    if (summary.status === 'interrupted') this.#account!.leave();
    else state.cutOff = null;
    state.firstRun ??= summary.run;
    state.hasLeftOvers = isFull || chosen.hasMoreLeftOvers;
    const counts = await countVisits(side, summary.run);
    await this.#save(store, now);
    // Pages that were given up before their first visit come into the plan when it is loaded.
    const { Unreachable: unanswered = 0 } = summary.by_state;
    if (unanswered > this.#unanswered) this.#book = null;
    this.#unanswered = unanswered;
    return {
      ...this.#idle(now, null),
      run: summary.run,
      status: summary.status,
      due: chosen.pages.length + chosen.leftOvers.length,
      ...counts,
    };
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
      budget_left: this.#account?.budget.visits(now) ?? 0,
    };
  }
}
