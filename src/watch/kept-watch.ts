/**
 * The state of a watch in memory, and how it is saved. The store is opened for one step at a time, so that other commands
 * can use it between ticks, unless the watch was given an open one. After each step everything needed to go on is in the
 * store.
 *
 * It promises that only one watch of a project saves anything: a watch takes over in one write, which checks that nobody
 * else has written since it read.
 */
import type { Config } from '../config/load-config.ts';
import type { Extensions } from '../crawl/wire.ts';
import { sumiError } from '../errors.ts';
import { systemClock } from '../primitives/clock.ts';
import { openReadSide, openStore } from '../store/open-store.ts';
import type { ReadSide, StoredRun } from '../store/read-side.ts';
import type { Store } from '../store/store-port.ts';
import { type Counted, loadBudget, settleCharge } from './charge-run.ts';
import type { Outboxes } from './outbox.ts';
import { NO_REVISITS, type PlanBook } from './plan-book.ts';
import type { FoundProject } from './tick-run.ts';
import type { VisitBudget } from './visit-budget.ts';
import type { WatchSettings } from './watch-settings.ts';
import { followClock, newState, readState, type WatchState, writeState } from './watch-state.ts';
import { newOwner, refuseSecondWatch } from './watcher.ts';

/** What is watched, and where it is kept. */
export interface Watched {
  config: Config;
  project: string;
  settings: WatchSettings;
  extensions?: Extensions;
  /** Webhooks that hear of what is found. */
  outboxes?: Outboxes;
}

/** The store for the time of one step. */
export interface Opened {
  store: Store;
  side: ReadSide;
  now: number;
}

/** After this time beyond its next tick, a watch that was not heard of counts as ended. */
const GRACE_MS = 300_000;

const DAY_MS = 86_400_000;

/** Tries to write before somebody else does. */
const MOST_TRIES = 10;

export class KeptWatch {
  state: WatchState;
  projectId = 0;
  /** The last run that the saved plan has learned from. */
  learnedRun = 0;
  book: PlanBook | null = null;
  budget: VisitBudget | null = null;
  /** The time to the next tick is counted from here; null: from the moment in which the tick began to choose. */
  beganAt: number | null = null;
  readonly #watched: Watched;
  readonly #owner = newOwner();
  #isOurs = false;

  constructor(watched: Watched) {
    this.#watched = watched;
    this.state = newState(watched.settings.kind);
  }

  async open<T>(use: (opened: Opened) => Promise<T>): Promise<T> {
    const { config, extensions } = this.#watched;
    if (extensions?.store !== undefined) return this.#useOpen(extensions.store, use);
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

  /** A store that is open already stays open. What no call can answer for is told to whoever opened it. */
  async #useOpen<T>(store: Store, use: (opened: Opened) => Promise<T>): Promise<T> {
    await store.flush();
    const side = await store.openSide();
    try {
      return await use({ store, side, now: store.clock.now() });
    } finally {
      await side.close();
    }
  }

  /** For questions while a run of the watch is under way. */
  openSide(): Promise<ReadSide> {
    const { config, extensions } = this.#watched;
    return extensions?.store?.openSide() ?? openReadSide(config.storeAddress);
  }

  /** Where the visits of this watch are counted. */
  counted(side: ReadSide): Counted {
    return { side, project: { id: this.projectId, name: this.#watched.project } };
  }

  /** The budget with all visits of the watch charged; a tick begins with this. `ifNew`: none was saved. */
  async openBudget(side: ReadSide, last: StoredRun | null, ifNew: () => VisitBudget): Promise<VisitBudget> {
    const { state } = this;
    const budget = this.budget ?? loadBudget(state, this.#watched.settings, last, ifNew);
    await settleCharge(this.counted(side), { state, budget }, null);
    this.budget = budget;
    return budget;
  }

  /** Charges a run of this watch that has ended. */
  async chargeRun({ side, now }: Opened, run: number): Promise<void> {
    const { state, budget } = this;
    await settleCharge(this.counted(side), { state, budget: budget! }, { run, at: now });
  }

  /** Notes in the store that this watch runs. Throws if another one does. */
  async takeOver({ store, side, now }: Opened, { id, last }: FoundProject): Promise<void> {
    const { project } = this.#watched;
    this.projectId = id;
    for (let tries = 1; ; tries++) {
      const { plan, learnedRun } = await side.revisitPlan(id);
      const found = readState(plan);
      const watcher = found?.watcher ?? null;
      const isStillOurs = this.#isOurs && watcher?.owner === this.#owner;
      if (!isStillOurs) await refuseSecondWatch(side, { project, last, watcher, now });
      if (this.#isOurs && !isStillOurs) this.#beginAnew(found);
      const state = this.#isOurs ? this.state : (found ?? this.state);
      followClock(state, now);
      this.#sign(state, now);
      // Somebody else may have written since. Then the new state is read and judged.
      const kept = { plan: writeState(state), learnedRun, before: plan };
      const isWritten = await store.projects.saveRevisits(project, NO_REVISITS, kept);
      if (!isWritten && tries === MOST_TRIES)
        throw sumiError('watch-in-use', { project, watcher: 'others', until: new Date(now).toISOString() });
      if (!isWritten) continue;
      this.state = state;
      this.learnedRun = learnedRun;
      this.#isOurs = true;
      return;
    }
  }

  /**
   * Another watch was at work while this one slept (with its machine), or somebody cleared the project. What is known of
   * pages is dropped. Visits stay charged.
   */
  #beginAnew(found: WatchState | null): void {
    const { budget, openCharge } = this.state;
    this.state = found ?? { ...newState(this.#watched.settings.kind), budget, openCharge };
    this.book = null;
    this.budget = null;
  }

  /** No page of the project was visited: there is nothing to go on with. Visits from before a clearing stay charged. */
  reset(): void {
    this.#beginAnew(null);
  }

  /** The project is about to be cleared, the state of the watch included. */
  forget(): void {
    this.#beginAnew(newState(this.#watched.settings.kind));
    this.#isOurs = false;
  }

  #sign(state: WatchState, now: number): void {
    const { kind, everyMs } = this.#watched.settings;
    const { maxPages, discover, feed, sitemapCacheHours } = this.#watched.config;
    state.kind = kind;
    state.ticks = {
      settings: this.#watched.settings,
      config: { maxPages, discover, feed, sitemapCacheHours },
      beganAt: this.beganAt,
    };
    state.watcher = { owner: this.#owner, until: now + 2 * everyMs + GRACE_MS };
  }

  async save(store: Store, now: number): Promise<void> {
    const { project } = this.#watched;
    const { state, book } = this;
    this.#sign(state, now);
    if (this.budget !== null) state.budget = this.budget.save();
    if (book === null) return this.#keep(store);
    state.plan = book.plan.savePlan();
    state.hostIds = book.hostIds;
    state.silentHosts = book.silent.save();
    state.learnedPart = book.learnedPart;
    const learned = { plan: writeState(state), learnedRun: this.learnedRun };
    // Pages are saved before the number of the run: after a crash in between, their visits are skipped and not counted twice.
    for (const batch of book.takeUnsaved()) await store.projects.saveRevisits(project, batch, learned);
    const { learnedRun, hasLearnedAll } = book;
    const mayClear = hasLearnedAll && learnedRun > this.learnedRun;
    this.learnedRun = learnedRun;
    await this.#keep(store);
    if (mayClear) await this.#clearHistory(store, now);
  }

  /** Runs of a watch do not clear history themselves: changes are emitted and learned from first. */
  async #clearHistory(store: Store, now: number): Promise<void> {
    const { config, project } = this.#watched;
    if (config.keepHistory !== null) await store.projects.forget(project, now - config.keepHistory * DAY_MS);
  }

  async #keep(store: Store): Promise<void> {
    const { outboxes } = this.#watched;
    this.state.told = outboxes === undefined ? {} : (outboxes.save() ?? this.state.told);
    const kept = { plan: writeState(this.state), learnedRun: this.learnedRun };
    await store.projects.saveRevisits(this.#watched.project, NO_REVISITS, kept);
  }

  /** Ends this watch, so that another one may begin at once. */
  async leave(): Promise<void> {
    if (!this.#isOurs) return;
    await this.open(async ({ store }) => {
      this.state.watcher = null;
      await this.#keep(store);
    });
    this.#isOurs = false;
  }
}
