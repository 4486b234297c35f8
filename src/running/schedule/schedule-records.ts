/**
 * Schedules as records: what was set, and up to when its begins are settled. They are two records of a project, so that a
 * begin does not look like a change of the settings to somebody who edits them.
 *
 * A begin is claimed by one write, which names the version that was read: of several services one wins. The claim names
 * who begins, so that a begin is made up for when that one dies before the run is there.
 */
import type { RecordPort, StoredRecord } from '../../store/record-port.ts';
import type { ScheduleSettings } from '../schedule-verbs.ts';

const KIND = 'schedule';
const SETTINGS = 'settings';
const BEGUN = 'begun';
const PAGE = 1000;

export interface SetSchedule {
  settings: ScheduleSettings;
  /** Wall milliseconds: begins up to then do not count. */
  setAt: number;
}

export interface Begun {
  /** Begins up to this moment are settled. */
  until: number;
  lastRunAt: number | null;
  /** A begin that was due while a run was under way, which counted for it. */
  lastSkippedAt: number | null;
  /** Claimed, and perhaps not begun yet. */
  claim: Claim | null;
}

export interface Claim {
  /** Of the process: see src/watch/watcher.ts. */
  owner: string;
  at: number;
}

export interface Known {
  projectUid: string;
  schedule: StoredRecord<SetSchedule>;
  begun: StoredRecord<Begun> | null;
}

export interface ScheduleRecords {
  /** Null where none was ever set. */
  get(projectUid: string): Promise<Known | null>;
  all(): Promise<Known[]>;
  /** The new version; null where it had another one. */
  set(projectUid: string, value: SetSchedule, ifVersion?: number): Promise<number | null>;
  /** False where somebody else has written since it was read. */
  noteBegun(known: Known, value: Begun): Promise<boolean>;
}

export const NOTHING_BEGUN: Begun = Object.freeze({
  until: 0,
  lastRunAt: null,
  lastSkippedAt: null,
  claim: null,
});

export function createScheduleRecords(records: RecordPort): ScheduleRecords {
  return {
    async get(projectUid) {
      const schedule = await records.get<SetSchedule>(KIND, projectUid, SETTINGS);
      const begun = await records.get<Begun>(KIND, projectUid, BEGUN);
      return schedule === null ? null : { projectUid, schedule, begun };
    },
    async all() {
      const found = new Map<string, Partial<Known> & { projectUid: string }>();
      for (let last: StoredRecord | undefined; ; ) {
        const afterRecord = last && { scope: last.scope, key: last.key };
        const page = await records.list<never>({ kind: KIND, limit: PAGE, ...(last && { afterRecord }) });
        for (const record of page) {
          const known = found.get(record.scope) ?? { projectUid: record.scope };
          if (record.key === SETTINGS) known.schedule = record;
          else known.begun = record;
          found.set(record.scope, known);
        }
        last = page.at(-1);
        if (page.length < PAGE) break;
      }
      return [...found.values()].flatMap(({ projectUid, schedule, begun }) =>
        schedule === undefined ? [] : [{ projectUid, schedule, begun: begun ?? null }],
      );
    },
    set: (projectUid, value, ifVersion) =>
      records.put(KIND, projectUid, SETTINGS, value, ifVersion === undefined ? {} : { ifVersion }),
    async noteBegun({ projectUid, begun }, value) {
      const ifVersion = begun?.version ?? 0;
      return (await records.put(KIND, projectUid, BEGUN, value, { ifVersion })) !== null;
    },
  };
}
