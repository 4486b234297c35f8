/**
 * What the service notes of each run beside the store's row: who ordered it, how far it was told to be, and its figures at
 * the end. One record a run, under the project's UUID; the number of the run is its key.
 */
import type { RecordPort } from '../store/record-port.ts';
import type { SettingChange } from './engine.ts';
import type { Phase, PhaseStatistics, RunType } from './phase.ts';

export interface RunNote {
  run: number;
  type: RunType;
  /** As it was asked for; null: the project's own. */
  mode: Phase['mode'];
  by: string | null;
  /** ISO 8601. */
  at: string;
  max_pages: number | null;
  /** URLs of a run that visits these and no others; null for every other run. */
  fetch_only: number | null;
  /** Progress may have been told up to here, and never falls below it. */
  progress: number;
  pages_crawled: number;
  waiting: number;
  failed: number;
  skipped: number;
  /** Settings that were changed while it was under way. */
  adjusted: SettingChange;
  error: Phase['error'];
  /** At its end. */
  statistics: PhaseStatistics | null;
}

/** Runs in the order of their numbers, as text. */
export const runKey = (run: number): string => String(run).padStart(12, '0');

export interface RunNotes {
  get(projectUid: string, run: number): Promise<RunNote | null>;
  put(projectUid: string, note: RunNote): Promise<void>;
}

export function createRunNotes(records: Pick<RecordPort, 'get' | 'put'>): RunNotes {
  return {
    get: (projectUid, run) => readRunNote(records, projectUid, run),
    async put(projectUid, note) {
      await records.put('run-note', projectUid, runKey(note.run), note);
    },
  };
}

export async function readRunNote(
  records: Pick<RecordPort, 'get'>,
  projectUid: string,
  run: number,
): Promise<RunNote | null> {
  return (await records.get<RunNote>('run-note', projectUid, runKey(run)))?.value ?? null;
}

/** Of runs that only commands knew there is none. */
export async function readRunNotes(
  records: Pick<RecordPort, 'get'>,
  projectUid: string,
  runs: readonly number[],
): Promise<Map<number, RunNote>> {
  const notes = await Promise.all(runs.map((run) => readRunNote(records, projectUid, run)));
  return new Map(notes.flatMap((note) => (note === null ? [] : [[note.run, note]])));
}
