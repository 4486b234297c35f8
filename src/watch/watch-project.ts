/**
 * A project under watch. A tick chooses the pages that are due within the budget, visits them in a run of its own, with
 * whatever new it finds on the way, learns from the visits and tells what changed.
 *
 * It promises that no period has more page visits than the budget allows, also over restarts: a run that is not charged
 * yet is noted before it begins. Everything needed to go on is in the store after each tick. What a crash keeps out of it
 * is learned again from the history of visits. A project has one watch: a second one is refused while the first lives.
 */
import type { Config } from '../config/load-config.ts';
import type { CrawlHandle } from '../crawl/run/crawl-handle.ts';
import type { HostAllowance, IdleRun } from '../crawl/run/host-allowance.ts';
import type { Slots } from '../crawl/run/slots.ts';
import { startCrawl } from '../crawl/start-crawl.ts';
import type { EventListener, RefusedStart, SummaryEvent } from '../events/events.ts';
import { type Clock, systemClock } from '../primitives/clock.ts';
import type { ReadSide, StoredRun, VisitRowBrief } from '../store/read-side.ts';
import { isUnfinished } from '../store/unfinished-run.ts';
import { openCharge, uncharged } from './charge-run.ts';
import { type Choice, chooseFurther, choosePages } from './choose-pages.ts';
import { concludeFirstCrawl, isCrawledByHand, planFirstCrawl } from './first-crawl.ts';
import { KeptWatch, type Opened, type Watched } from './kept-watch.ts';
import { loadPlan } from './load-plan.ts';
import { isOpen, stopAtClosing } from './open-hours.ts';
import type { PlanBook } from './plan-book.ts';
import {
  countVisits,
  findProject,
  findUnanswered,
  isReadToEnd,
  isTick,
  sitemapsReadAt,
  tickConfig,
  type Unanswered,
} from './tick-run.ts';
import { VisitBudget } from './visit-budget.ts';
import { changeEvent, type TickEvent, type WatchEvent } from './watch-event.ts';

export interface WatchRequest extends Watched {
  startUrls: readonly string[];
  /** A random number from 0 up to 1 (default: Math.random). */
  random?: () => number;
  /** Get the events of the runs. */
  listeners?: readonly EventListener[];
  /** Get the events of the runs, except for pages. */
  runListeners?: readonly EventListener[];
  /** Shared with other crawls of this process. */
  slots?: Slots;
  /** A run has begun, or goes on. */
  onRun?: (handle: CrawlHandle, config: Config) => void;
  onEvent: (event: WatchEvent) => void;
}

export interface Watch {
  /** The first crawl of the project, or its next part; null if there is nothing to crawl now. */
  prepare(): Promise<SummaryEvent | null>;
  /** The first crawl is over. Until then another call of `prepare` goes on with it, as budget and hours allow. */
  readonly isPrepared: boolean;
  /** Visits due pages. An interrupted tick goes on first. `beganAt`: the next tick is timed from here, not from now. */
  tick(beganAt?: number): Promise<TickEvent>;
  /** If no host answered in the last tick: the first page that was due. */
  readonly unanswered: Unanswered | null;
  /** Start URLs that the last run could not read, with the reason. */
  readonly refused: readonly RefusedStart[];
  /** The run under way. */
  readonly handle: CrawlHandle | null;
  /** Stops the run under way, and one that is about to begin. */
  stop(): void;
  /** Ends the watch, so that another one may begin at once. */
  close(): Promise<void>;
}

/** What a tick visits. */
interface Chosen extends Choice {
  budget: VisitBudget;
  /** Page ids in the order in which they were chosen. */
  due: number[];
}

interface Ended {
  summary: SummaryEvent;
  isAtLimit: boolean;
}

/** The longest pause of a host that a tick waits for, since all other hosts wait with it. */
const PATIENCE_MS = 60_000;

export function openWatch(request: WatchRequest): Watch {
  return new ProjectWatch(request);
}

class ProjectWatch implements Watch {
  readonly #request: WatchRequest;
  readonly #kept: KeptWatch;
  handle: CrawlHandle | null = null;
  isPrepared = false;
  unanswered: Unanswered | null = null;
  refused: readonly RefusedStart[] = [];
  #isStopped = false;
  /** `--fresh` has cleared the project. */
  #hasBegun = false;
  /** The first crawl has just ended. */
  #isJustRead = false;
  /** A run of this watch was allowed to read sitemaps. */
  #hasReadSitemaps = false;
  #refreshedAt = 0;

  constructor(request: WatchRequest) {
    this.#request = request;
    this.#kept = new KeptWatch(request);
  }

  async prepare(): Promise<SummaryEvent | null> {
    const kept = this.#kept;
    const isFresh = this.#request.config.fresh && !this.#hasBegun;
    const first = await kept.open((opened) => planFirstCrawl(kept, this.#request, opened, isFresh));
    this.isPrepared = first === 'done';
    if (first === null || first === 'done') return null;
    this.#hasBegun = true;
    const { summary } = await this.#run(first.config, undefined, first.allowance);
    this.isPrepared = await kept.open((opened) => concludeFirstCrawl(kept, opened, summary));
    this.#isJustRead = this.isPrepared;
    return summary;
  }

  async tick(beganAt?: number): Promise<TickEvent> {
    this.#kept.beganAt = beganAt ?? null;
    const event = await this.#visitDue();
    this.#request.onEvent(event);
    return event;
  }

  async #visitDue(): Promise<TickEvent> {
    const chosen = await this.#kept.open((opened) => this.#choose(opened));
    if ('type' in chosen) return chosen;
    const { budget, room, readsSitemaps, mayHaveMore } = chosen;
    this.#hasReadSitemaps ||= readsSitemaps;
    const { silentHosts } = this.#kept.state;
    const allowance: HostAllowance = {
      hostPages: (id) => budget.hostVisits(id),
      isSilent: (id) => silentHosts[id] !== undefined,
      patienceMs: PATIENCE_MS,
      pausesAt: [],
      ...(mayHaveMore && { furtherPages: (run: IdleRun) => this.#chooseFurther(chosen, run) }),
    };
    try {
      const config = tickConfig(this.#request.config, room, readsSitemaps);
      const ended = await this.#run(config, [...chosen.due], allowance);
      return await this.#kept.open((opened) => this.#conclude(opened, chosen, ended));
    } catch (error) {
      // The plan has given pages away and will not learn what became of them.
      this.#kept.book = null;
      throw error;
    }
  }

  stop(): void {
    this.#isStopped = true;
    this.handle?.stop();
  }

  close(): Promise<void> {
    return this.#kept.leave();
  }

  /** Chooses what to visit now, or says why nothing. */
  async #choose(opened: Opened): Promise<Chosen | TickEvent> {
    const { store, side, now } = opened;
    const { config, settings, project } = this.#request;
    const kept = this.#kept;
    const found = await findProject(side, project);
    const isClosed = !isOpen(this.#clock.now(), settings.hours);
    if (found?.last == null) {
      // Nothing could be visited: the next tick begins anew.
      this.isPrepared = false;
      return this.#idle(now, isClosed ? 'hours' : this.#isJustRead ? 'nothing due' : 'budget');
    }
    await kept.takeOver(opened, found);
    if (isClosed) return this.#idle(now, 'hours');
    const { last } = found;
    const isFirst = kept.state.budget === null;
    if (isUnfinished(last) && !isTick(last)) {
      // `prepare` goes on with it.
      this.isPrepared = false;
      return this.#idle(now, (await isCrawledByHand(side, last)) ? 'crawl' : 'budget');
    }
    const crawledAt = last.finished_at === null ? now : Date.parse(last.finished_at);
    const budget = await kept.openBudget(side, last, () => VisitBudget.afterCrawl(settings, crawledAt));
    if (isUnfinished(last)) return this.#goOn(opened, last, budget);
    await this.#refresh(opened);
    budget.refill(now);
    const book = kept.book!;
    const choice = await choosePages({
      ...{ side, project, config, settings, book, budget, now, isFirst },
      state: kept.state,
      hasReadSitemaps: this.#hasReadSitemaps,
      random: this.#request.random ?? Math.random,
    });
    const { room, isIdle, leftOvers, pages } = choice;
    const isJustRead = this.#isJustRead;
    this.#isJustRead = false;
    if (!isIdle)
      await openCharge(kept.counted(side), kept.state, { goesOn: false, last: last.run }, { at: now, room });
    await kept.save(store, now);
    if (isIdle) return this.#idle(now, room < 1 && !isJustRead ? 'budget' : 'nothing due');
    return { ...choice, budget, due: [...leftOvers, ...pages.map((page) => book.pageIdOf(page))] };
  }

  /** Goes on with an interrupted tick. */
  async #goOn(opened: Opened, last: StoredRun, budget: VisitBudget): Promise<Chosen | TickEvent> {
    const { store, side, now } = opened;
    const { config, project } = this.#request;
    const kept = this.#kept;
    budget.refill(now);
    const most = config.maxPages ?? Number.POSITIVE_INFINITY;
    const room = Math.min(last.pages + budget.visits, most);
    const hasRoom = budget.visits >= 1 || (await isReadToEnd(side, project));
    if (hasRoom) {
      const run = { goesOn: true, last: last.run };
      await openCharge(kept.counted(side), kept.state, run, { at: now, room: budget.visits });
    }
    await kept.save(store, now);
    if (!hasRoom) return this.#idle(now, 'budget');
    const nothing = { pages: [], leftOvers: [], due: [], isIdle: false };
    // Pages that this run has visited may be due again by now. They belong to the next tick.
    const sitemaps = { readsSitemaps: true, mayHaveMore: false };
    return { ...nothing, ...sitemaps, hasMoreLeftOvers: kept.state.hasLeftOvers, room, budget };
  }

  /** The run has nothing left to visit. Its unused tokens go to further pages. */
  async #chooseFurther(chosen: Chosen, { now, left }: IdleRun): Promise<readonly number[]> {
    const { settings } = this.#request;
    const kept = this.#kept;
    const side = await kept.openSide();
    try {
      const { run, pages: answered } = (await side.lastRun(kept.projectId))!;
      // The run counts pages with an answer, the budget counts every visit.
      const visited = await uncharged(kept.counted(side), kept.state.openCharge!, run);
      const most = Math.min(chosen.budget.visits - visited, chosen.room - answered);
      if (most < 1) return [];
      const { book, unvisited } = await this.#learn({ side, now }, chosen, run, false);
      // A host with an unvisited page is paused or does not answer.
      const leftOf = (hostId: number) => (unvisited.has(hostId) ? 0 : left(hostId));
      chosen.pages = await chooseFurther({ side, settings, book, now, most, left: leftOf });
      const found = chosen.pages.map((page) => book.pageIdOf(page));
      chosen.due.push(...found);
      return found;
    } finally {
      await side.close();
    }
  }

  /**
   * The plan learns from the run so far: from its visits, from chosen pages that it did not visit, and from dates of
   * sitemaps. Returns the hosts of unvisited pages. `isCutOff`: the run ended before it tried them.
   */
  async #learn(
    { side, now }: Pick<Opened, 'side' | 'now'>,
    chosen: Chosen,
    run: number,
    isCutOff: boolean,
  ): Promise<{ book: PlanBook; unvisited: ReadonlySet<number> }> {
    const { project } = this.#request;
    const { state } = this.#kept;
    const waiting = new Set(chosen.pages);
    const book = await this.#refresh({ side, now }, (visit) => {
      if (visit.run === run) waiting.delete(this.#kept.book!.pageOf(visit.pageId));
    });
    await book.findSilent(side, waiting, run, now);
    const paused = new Set(waiting.size === 0 ? [] : await side.blockedHosts(now));
    const unvisited = new Set<number>();
    for (const page of waiting) {
      const hostId = book.hostIdOf(book.plan.hostOf(page));
      unvisited.add(hostId);
      // The pages of a paused host are due when its pause is over.
      if (isCutOff || paused.has(hostId)) book.plan.release(page);
      else book.giveUp(page, now);
    }
    const readAt = await sitemapsReadAt(side, project, now);
    if (readAt > state.signalsReadAt) {
      await book.readSignals(side, project, state.signalsReadAt, now);
      state.signalsReadAt = readAt;
    }
    return { book, unvisited };
  }

  /** The plan, with all visits since learned: of ticks and of crawls by hand. */
  async #refresh(
    { side, now }: Pick<Opened, 'side' | 'now'>,
    onVisit?: (visit: VisitRowBrief) => void,
  ): Promise<PlanBook> {
    const { settings, random } = this.#request;
    const kept = this.#kept;
    const { state } = kept;
    const toldRun = kept.book?.learnedRun ?? kept.learnedRun;
    const isFirst = kept.book === null && toldRun === 0;
    // The clock was set back: the plan is loaded again, with future times as now. Not within a tick, which holds its pages.
    if (now < this.#refreshedAt && onVisit === undefined) kept.book = null;
    this.#refreshedAt = now;
    if (kept.book === null) {
      const { book, relearnedAt } = await loadPlan(
        side,
        kept.projectId,
        { state: isFirst ? null : state, learnedRun: kept.learnedRun },
        { kind: settings.kind, visitsPerDay: settings.all.perDay, random: random ?? Math.random },
        now,
      );
      state.relearnedAt = relearnedAt;
      state.signalsReadAt = Math.max(
        state.signalsReadAt,
        await sitemapsReadAt(side, this.#request.project, now),
      );
      kept.book = book;
    } else await kept.book.learn(side, now, false, onVisit);
    // After a first crawl everything is new, so nothing is emitted.
    if (isFirst) this.#request.outboxes?.begin(null, kept.book.learnedRun);
    else await this.#tellChanges(side, toldRun);
    const { all, host } = settings;
    const hostsTogether = (host?.perDay ?? Number.POSITIVE_INFINITY) * kept.book.hostIds.length;
    kept.book.plan.expectVisits(Math.min(all.perDay, hostsTogether));
    return kept.book;
  }

  async #run(config: Config, due: readonly number[] | undefined, allowance: HostAllowance): Promise<Ended> {
    const { startUrls, extensions, listeners, runListeners, slots, project } = this.#request;
    const handle = await startCrawl({
      config: { ...config, project, isolated: false, keepHistory: null },
      startUrls,
      ...(due !== undefined && { due }),
      allowance,
      slots,
      extensions,
      listeners,
      runListeners,
    });
    this.handle = handle;
    this.#request.onRun?.(handle, config);
    if (this.#isStopped) handle.stop();
    const cancel = stopAtClosing(handle, this.#clock, this.#request.settings.hours);
    try {
      const summary = await handle.finished;
      this.refused = summary.refused_starts;
      return { summary, isAtLimit: handle.isAtLimit };
    } finally {
      cancel();
      this.handle = null;
    }
  }

  get #clock(): Clock {
    return this.#request.extensions?.clock ?? systemClock;
  }

  /** Ends the tick: the plan learns, changes are emitted, visits are charged, the state is saved. */
  async #conclude(opened: Opened, chosen: Chosen, { summary, isAtLimit }: Ended): Promise<TickEvent> {
    const { store, side, now } = opened;
    const kept = this.#kept;
    const { state } = kept;
    // A worker that took part may have ended the run at its limit.
    const isCutOff = summary.status === 'interrupted' || isAtLimit || summary.pages >= chosen.room;
    const { book } = await this.#learn(opened, chosen, summary.run, isCutOff);
    await kept.chargeRun(opened, summary.run);
    state.firstRun ??= summary.run;
    // An interrupted run may be finished by hand, with another limit.
    state.hasLeftOvers = isCutOff || chosen.hasMoreLeftOvers;
    const counts = await countVisits(side, summary.run);
    const { Unreachable = 0, RateLimited = 0 } = summary.by_state;
    if (Unreachable + RateLimited > 0) await book.addGivenUp(side, this.#request.project, summary.run, now);
    await kept.save(store, now);
    this.unanswered = summary.status === 'failed' ? await findUnanswered(side, chosen.due) : null;
    return {
      ...this.#idle(now, null),
      run: summary.run,
      status: summary.status,
      due: chosen.due.length,
      ...counts,
    };
  }

  /** Emits changes of later runs, and queues for webhooks what they have not got yet. */
  async #tellChanges(side: ReadSide, afterRun: number): Promise<void> {
    const { project, onEvent, outboxes } = this.#request;
    const { projectId, learnedRun: toRun } = this.#kept.book!;
    if (toRun > afterRun)
      for await (const row of side.changes({ projectId, fromRun: afterRun + 1, toRun }))
        onEvent(changeEvent(project, row));
    outboxes?.begin(this.#kept.state.told, afterRun);
    await outboxes?.fill(async function* ([run, page]) {
      for await (const row of side.changes({ projectId, fromRun: run, toRun }))
        if (row.run > run || row.page_id > page) yield changeEvent(project, row);
    }, toRun);
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
      budget_left: this.#kept.budget?.visits ?? 0,
    };
  }
}
