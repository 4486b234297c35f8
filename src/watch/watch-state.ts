/**
 * The state of a watch in the store, besides the numbers of each page: the plan of revisits, the budget with its log of
 * charges, and who is watching. It is one JSON text of the project. A text of another version is ignored: the plan is
 * learned again from the history of visits.
 */
import type { RevisitKind, SavedPlan } from '../change/revisit/revisit-plan.ts';
import type { Config } from '../config/load-config.ts';
import type { SavedOutboxes } from './outbox.ts';
import type { LearnedPart } from './plan-book.ts';
import type { SavedSilence } from './silent-hosts.ts';
import type { OpenCharge, SavedBudget } from './visit-budget.ts';
import type { WatchSettings } from './watch-settings.ts';

/** Options that decide which pages a tick visits, besides the settings of the watch. */
export type ChoiceConfig = Pick<Config, 'maxPages' | 'discover' | 'feed' | 'sitemapCacheHours'>;

/** Who watches the project. After `until`, a watch that was not heard of counts as ended. */
export interface Watcher {
  /** See watcher.ts. */
  owner: string;
  until: number;
}

/** Settings of the running watch, for the simulation of its ticks. They start nothing and send nothing. */
export interface SavedTicks {
  settings: WatchSettings;
  config: ChoiceConfig;
  /** When the last tick began, if not when its budget was filled. */
  beganAt: number | null;
}

export interface WatchState {
  kind: RevisitKind;
  plan: SavedPlan;
  /** The store's ids of the plan's hosts, in its order. */
  hostIds: number[];
  /** Hosts without an answer. */
  silentHosts: SavedSilence;
  /** How much of an unfinished run the plan has learned; null: there is none. */
  learnedPart?: LearnedPart | null;
  /** When the plan last got dates of sitemaps, and when it last learned from all pages at once. */
  signalsReadAt: number;
  relearnedAt: number;
  /** Null before the first tick. */
  budget: SavedBudget | null;
  /** The first tick's run; null before. The watch visits left-overs that were found since then. */
  firstRun: number | null;
  /** The last tick left pages that its budget had no tokens for. */
  hasLeftOvers: boolean;
  /** The run under way, or one whose watch was killed: its visits are not in the budget yet. */
  openCharge: OpenCharge | null;
  watcher: Watcher | null;
  /** Null: no watch has saved it yet. */
  ticks?: SavedTicks | null;
  /** The last event that each webhook got. */
  told: SavedOutboxes;
}

export function newState(kind: RevisitKind): WatchState {
  const none: number[] = [];
  return {
    kind,
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
    silentHosts: {},
    signalsReadAt: 0,
    relearnedAt: 0,
    budget: null,
    firstRun: null,
    hasLeftOvers: false,
    openCharge: null,
    watcher: null,
    told: {},
  };
}

/** Times in the future were written before the clock was set back: they become now. The budget does so itself. */
export function followClock(state: WatchState, now: number): void {
  const { hosts } = state.plan;
  state.signalsReadAt = Math.min(state.signalsReadAt, now);
  state.relearnedAt = Math.min(state.relearnedAt, now);
  state.plan.hosts = { ...hosts, signalsSince: Array.from(hosts.signalsSince, (at) => Math.min(at, now)) };
  const silent = Object.entries(state.silentHosts);
  state.silentHosts = Object.fromEntries(
    silent.map(([id, [since, ...runs]]) => [id, [Math.min(since, now), ...runs]]),
  );
}

const VERSION = 3;

type Columns = Record<keyof SavedPlan['hosts'], (number | null)[]>;

export function writeState(state: WatchState): string {
  const { plan, ...rest } = state;
  const { hosts, ...figures } = plan;
  const columns = Object.fromEntries(
    Object.entries(hosts).map(([name, values]) => [name, Array.from(values, shortened)]),
  );
  return JSON.stringify({ version: VERSION, ...rest, plan: { ...figures, hosts: columns } });
}

/** The digits of a 32-bit float. JSON has no NaN. */
function shortened(value: number): number | null {
  return Number.isFinite(value) ? (Number.isInteger(value) ? value : Number(value.toPrecision(9))) : null;
}

/** The saved plan for a rule. A price has the unit of its own rule, so another rule begins without one. */
export function planFor(state: WatchState | null, kind: RevisitKind): SavedPlan | undefined {
  if (state === null) return undefined;
  return state.kind === kind ? state.plan : { ...state.plan, price: null };
}

export function readState(text: string | null): WatchState | null {
  if (text === null) return null;
  const found = JSON.parse(text) as WatchState & { version: number; plan: { hosts: Columns } };
  if (found.version !== VERSION) return null;
  const { version: _, ...state } = found;
  const hosts = Object.fromEntries(
    Object.entries(found.plan.hosts as Columns).map(([name, values]) => [
      name,
      values.map((value) => value ?? Number.NaN),
    ]),
  ) as unknown as SavedPlan['hosts'];
  return { ...state, plan: { ...state.plan, hosts } };
}
