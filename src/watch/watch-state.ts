/**
 * What a watch keeps in the store beside the numbers of each page: the plan of revisits, the budget in hand, and who is
 * watching. One JSON text with the project; a text of another version is as good as none, for the history of visits
 * is the truth that a plan can be learned from anew.
 */
import type { RevisitKind, SavedPlan } from '../change/revisit/revisit-plan.ts';
import type { LookConfig } from './choose-pages.ts';
import type { SavedOutboxes } from './outbox.ts';
import type { LearnedPart } from './plan-book.ts';
import type { SavedSilence } from './silent-hosts.ts';
import type { OpenCharge, SavedBudget } from './visit-budget.ts';
import type { WatchSettings } from './watch-settings.ts';

/** Who watches a project, and until when he must be heard of. */
export interface Watcher {
  /** See watcher.ts. */
  owner: string;
  until: number;
}

/** How the watch looks that is at work: for who asks what it is about to do. It never starts or sends anything. */
export interface SavedLooks {
  settings: WatchSettings;
  config: LookConfig;
  /** The last look, where its time is not that of the budget. */
  beganAt: number | null;
}

export interface WatchState {
  kind: RevisitKind;
  plan: SavedPlan;
  /** The store's ids of the plan's hosts, in its order. */
  hostIds: number[];
  /** Those that did not answer when they were last asked. */
  silentHosts: SavedSilence;
  /** Of a run that was cut off, what the plan has learned from; null where there is none. */
  learnedPart?: LearnedPart | null;
  /** When the dates of sitemaps were last put before the plan, and when it last learned from all pages at once. */
  signalsReadAt: number;
  relearnedAt: number;
  /** Null before the first tick. */
  budget: SavedBudget | null;
  /** The first run that was a tick; null before. Pages found since are the watch's to visit. */
  firstRun: number | null;
  /** The last tick ended with pages left that its budget had no room for. */
  hasLeftOvers: boolean;
  /** The run under way, or one whose watch was killed: its visits are not in the budget yet. */
  openCharge: OpenCharge | null;
  watcher: Watcher | null;
  /** Null where no watch has kept it yet. */
  looks?: SavedLooks | null;
  /** How far each webhook has heard of what was found. */
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

/** What lies ahead was written by a clock that has been set back since: it is taken as now. The budget does so itself. */
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

/** As many digits as a 32-bit number has; JSON knows no NaN. */
function shortened(value: number): number | null {
  return Number.isFinite(value) ? (Number.isInteger(value) ? value : Number(value.toPrecision(9))) : null;
}

/** What is saved serves a plan by another rule, too, but for the price, which is in its own rule's measure. */
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
  // One that was kept before there were any knows of none.
  return { ...state, silentHosts: state.silentHosts ?? {}, plan: { ...state.plan, hosts } };
}
