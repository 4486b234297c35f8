/**
 * What a watch may spend and what it owes. Each run is charged ahead with what it is about to visit, and after it, however
 * it ended, with what the history says that it visited: a crash cannot spend anything twice. The state of the watch
 * holds both the budget and the run that is not settled yet (`cutOff`); who keeps that state keeps the account.
 */
import type { HostAllowance } from '../crawl/run/host-allowance.ts';
import type { ReadSide, StoredRun } from '../store/read-side.ts';
import { countAsked, isFirstCrawl, isTick } from './tick-run.ts';
import { VisitBudget } from './visit-budget.ts';
import type { WatchSettings } from './watch-settings.ts';
import type { WatchState } from './watch-state.ts';

/** Where visits are counted. */
export interface Books {
  side: ReadSide;
  projectId: number;
}

interface Visits {
  visits: number;
  /** By the ids of hosts. */
  hosts: Record<string, number>;
}

export class VisitAccount {
  readonly budget: VisitBudget;
  readonly #settings: WatchSettings;
  readonly #state: WatchState;

  constructor(settings: WatchSettings, state: WatchState, budget: VisitBudget) {
    this.#settings = settings;
    this.#state = state;
    this.budget = budget;
  }

  /** As it was kept; null where nothing was. */
  static kept(settings: WatchSettings, state: WatchState): VisitAccount | null {
    return state.budget === null
      ? null
      : new VisitAccount(settings, state, new VisitBudget(settings, state.budget));
  }

  /** Of a run that began at this moment. */
  static atStart(settings: WatchSettings, state: WatchState, at: number): VisitAccount {
    const saved = { lookedAt: at, all: [0] as const, hosts: {} };
    return new VisitAccount(settings, state, new VisitBudget(settings, saved));
  }

  /** Of a project that was crawled by hand: visits came since then, and those between two looks at least: whoever looks for the first time wants to see something. */
  static afterCrawl(settings: WatchSettings, state: WatchState, crawledAt: number): VisitAccount {
    const { visits, periodMs } = settings.all;
    const leastMs = Math.max(settings.everyMs, periodMs / visits);
    const inHand = (visits * leastMs) / periodMs;
    const saved = { lookedAt: crawledAt + leastMs, all: [inHand] as const, hosts: {} };
    return new VisitAccount(settings, state, new VisitBudget(settings, saved));
  }

  /** Before the run begins, which may ask each host for what it answers; `hostIds`: of the pages that are known to be visited, `others` of those whose host is not. */
  payAhead(run: {
    afterRun: number;
    room: number;
    hostIds: number[];
    others: number;
  }): HostAllowance['hostPages'] {
    const { afterRun, room, hostIds, others } = run;
    const at = this.budget.lookedAt;
    const hosts: Record<string, number> = {};
    for (const id of hostIds) {
      this.budget.chargeHost(id, 1, at);
      hosts[id] = (hosts[id] ?? 0) + 1;
    }
    const paid = hostIds.length + others;
    this.budget.charge(paid, at);
    this.#state.cutOff = { afterRun, room, paid, hosts: this.#settings.host === null ? null : hosts, at };
    return (id) => this.budget.hostVisits(id) + (hosts[id] ?? 0);
  }

  /** What somebody else visited in a run that the watch goes on with is none of its visits. */
  async passOver(run: number, books: Books): Promise<void> {
    const { visits, hosts } = await this.#count(run, books);
    const [room, at] = [Number.MAX_SAFE_INTEGER, this.budget.lookedAt];
    this.#state.cutOff = { afterRun: run - 1, room, paid: visits, hosts, at };
  }

  /** Visits that a run made until now are paid, those that it could not make are given back. */
  async pay(run: number, books: Books, now: number): Promise<void> {
    this.#charge(await this.#count(run, books), now);
  }

  /**
   * Before the watch goes on with a run, or when it finds it ended: visits that it made and did not pay are paid. Those
   * that somebody made by hand meanwhile are none of its: all since it left the run, and what is beyond its room.
   */
  async catchUp(run: number, books: Books): Promise<void> {
    const { room, paid, isLeft } = this.#state.cutOff!;
    const made = await this.#count(run, books);
    const ours = isLeft ? paid : Math.min(made.visits, Math.max(room, paid));
    if (!isLeft) this.#charge({ ...made, visits: ours });
    // Its own room is what it was, whatever they took.
    const others = Math.max(0, made.visits - ours);
    const { visits, hosts } = made;
    this.#state.cutOff = {
      ...this.#state.cutOff!,
      ...{ room: room + others, paid: visits, hosts, isLeft: false },
    };
  }

  /** The run waits for a later look; all that it visited is paid. */
  leave(): void {
    this.#state.cutOff!.isLeft = true;
  }

  /** The pages it may have in all when it goes on in this look: what it had, as far as that is in hand now. */
  goOn(): number {
    const cutOff = this.#state.cutOff!;
    const room = Math.min(cutOff.room, cutOff.paid + this.budget.visits());
    const isLeft = room <= cutOff.paid;
    this.#state.cutOff = { ...cutOff, at: this.budget.lookedAt, isLeft, ...(!isLeft && { room }) };
    return room;
  }

  /** `until`: where that is known. */
  #charge({ visits, hosts }: Visits, until?: number): void {
    const cutOff = this.#state.cutOff!;
    const { at, paid } = cutOff;
    this.budget.charge(visits - paid, at, until);
    // What was visited while they had no budget is neither paid nor given back when they get one.
    const paidHosts = cutOff.hosts ?? hosts;
    for (const id of new Set([...Object.keys(hosts), ...Object.keys(paidHosts)]))
      this.budget.chargeHost(Number(id), (hosts[id] ?? 0) - (paidHosts[id] ?? 0), at, until);
    this.#state.cutOff = { ...cutOff, paid: visits, hosts };
  }

  /** What a run owes that ended and was never concluded. */
  async settle(last: StoredRun, books: Books): Promise<void> {
    const { cutOff } = this.#state;
    if (cutOff === null) return;
    const isBegun = last.run !== cutOff.afterRun;
    // After a crawl by hand nobody can tell: what was paid stays paid.
    if (!isBegun) this.#charge({ visits: 0, hosts: {} });
    else if (isTick(last) || isFirstCrawl(last)) await this.catchUp(last.run, books);
    if (isBegun && isFirstCrawl(last)) this.budget.endFirstCrawl();
    if (isBegun && isTick(last)) {
      this.#state.firstRun ??= last.run;
      this.#state.hasLeftOvers ||= last.pages >= cutOff.room || this.#settings.host !== null;
    }
    this.#state.cutOff = null;
  }

  async #count(run: number, { side, projectId }: Books): Promise<Visits> {
    const { visits, hosts } = await countAsked(side, projectId, run);
    // History may have been cleared since: what it told must not come back as budget.
    const stored = await side.run(run);
    return { visits: Math.max(visits, stored?.pages ?? 0), hosts };
  }
}
