/**
 * What a watch has in memory, and how it is kept in the store, which is opened for one step at a time: between looks it is
 * free for others. Everything needed to go on is there after each step.
 * It promises that only one watch of a project keeps anything: who takes over says so in one write with the check that
 * nobody else did in the meantime.
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

/** How long after its next look a watch may still be silent. */
const GRACE_MS = 300_000;

const DAY_MS = 86_400_000;

/** To be the first to write what one read; others come by now and then, not all the time. */
const MOST_TRIES = 10;

export class KeptWatch {
  state: WatchState;
  projectId = 0;
  /** The last run that what is kept has learned from. */
  learnedRun = 0;
  book: PlanBook | null = null;
  budget: VisitBudget | null = null;
  /** Where the time to the next look is counted from; null: from when this one began to choose. */
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

  /** Where the visits of its runs are counted. */
  counted(side: ReadSide): Counted {
    return { side, project: { id: this.projectId, name: this.#watched.project } };
  }

  /**
   * The budget, with all charged that the watch visited; `ifNew` makes one where nothing was kept. Whoever begins a tick
   * calls this first.
   */
  async openBudget(side: ReadSide, last: StoredRun | null, ifNew: () => VisitBudget): Promise<VisitBudget> {
    const { state } = this;
    const budget = this.budget ?? loadBudget(state, this.#watched.settings, last, ifNew);
    await settleCharge(this.counted(side), { state, budget }, null);
    this.budget = budget;
    return budget;
  }

  /** A run of this watch has ended. */
  async chargeRun({ side, now }: Opened, run: number): Promise<void> {
    const { state, budget } = this;
    await settleCharge(this.counted(side), { state, budget: budget! }, { run, at: now });
  }

  /** Says in the store that this watch is at work, unless another one is. */
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
      // Another one that read the same may have been faster: what it wrote is judged then.
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
   * While this watch slept (a machine does), another one was here and left, or somebody cleared the project: of what was
   * known of its pages nothing is left then, but visits stay paid.
   */
  #beginAnew(found: WatchState | null): void {
    const { budget, openCharge } = this.state;
    this.state = found ?? { ...newState(this.#watched.settings.kind), budget, openCharge };
    this.book = null;
    this.budget = null;
  }

  /** Nothing of the project was visited: there is nothing to go on with. What was visited before it was cleared stays paid. */
  reset(): void {
    this.#beginAnew(null);
  }

  /** All of the project is about to be cleared, what is kept of the watch included. */
  forget(): void {
    this.#beginAnew(newState(this.#watched.settings.kind));
    this.#isOurs = false;
  }

  #sign(state: WatchState, now: number): void {
    const { kind, everyMs } = this.#watched.settings;
    const { maxPages, discover, feed, sitemapCacheHours } = this.#watched.config;
    state.kind = kind;
    state.looks = {
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
    // Pages before the run they learned from: after a crash between the two their visits are passed over, not counted twice.
    for (const batch of book.takeUnsaved()) await store.projects.saveRevisits(project, batch, learned);
    const { learnedRun, hasLearnedAll } = book;
    const mayClear = hasLearnedAll && learnedRun > this.learnedRun;
    this.learnedRun = learnedRun;
    await this.#keep(store);
    if (mayClear) await this.#clearHistory(store, now);
  }

  /** The runs of a watch leave this to it: first, what they found is told and learned from. */
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

  /** Another watch may begin at once. */
  async leave(): Promise<void> {
    if (!this.#isOurs) return;
    await this.open(async ({ store }) => {
      this.state.watcher = null;
      await this.#keep(store);
    });
    this.#isOurs = false;
  }
}
