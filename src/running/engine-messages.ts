/** What a door and the thread of the engine say to each other. Every call has a number, and one answer. */
import type { TravellingError } from '../primitives/travelling-error.ts';
import type { Engine, EngineOptions, Listening } from './engine.ts';
import type { LiveEvent } from './live-event.ts';
import type { Phase } from './phase.ts';

/** Verbs by the name of their group; '' has those of the engine itself. */
export const ENGINE_VERBS = {
  projects: ['create', 'change', 'remove', 'restore', 'purge'],
  runs: ['start', 'pause', 'resume', 'stop', 'adjust', 'phase', 'phases', 'underWay'],
  schedules: ['get', 'next', 'set', 'runNow'],
  webhooks: ['list', 'get', 'create', 'change', 'remove', 'test', 'deliveries', 'redeliver'],
  '': ['missed', 'preview', 'state', 'metrics'],
} as const satisfies {
  [Group in 'projects' | 'runs' | 'schedules' | 'webhooks']: readonly (keyof Engine[Group])[];
} & { '': readonly (keyof Engine)[] };

export type VerbGroup = keyof typeof ENGINE_VERBS;

export type ToEngine =
  | { call: number; group: VerbGroup; verb: string; args: unknown[] }
  /** A subscription: its events come under its own number until `unlisten`. */
  | { call: number; listen: number; id: string | null; listening: Listening }
  | { unlisten: number }
  | { call: number; close: true };

export type FromEngine =
  | 'ready'
  | { call: number; answer: unknown }
  | { call: number; error: TravellingError }
  | { to: number; event: LiveEvent }
  /** Nothing more can be done: the thread ends. */
  | { fatal: TravellingError }
  /** For the operator: something went wrong that no caller can be told. */
  | { report: TravellingError };

export interface Heard {
  phase: Phase | null;
  seq: number;
}

export interface EngineData {
  options: EngineOptions;
}
