/**
 * What is kept of the events of a run, for who asks later: its beginning and end, pauses and changed settings, what hosts
 * did, what failed. The last thousand entries of each run, in records of a few entries each; written once a second, so that
 * a run over many hosts does not wait for its log. Never pages: those are in the store.
 */
import type { Clock } from '../primitives/clock.ts';
import type { RecordPort } from '../store/record-port.ts';
import { runKey } from './run-notes.ts';

export const RUN_LOG_TYPES = [
  'started',
  'resumed',
  'paused',
  'adjusted',
  'mode',
  'host',
  'sitemap',
  'fault',
  'refused',
  'completed',
  'stopped',
  'failed',
  'interrupted',
] as const;
export type RunLogType = (typeof RUN_LOG_TYPES)[number];

export interface RunLogEntry {
  /** 1 for the first one of the run. */
  nth: number;
  /** ISO 8601, in UTC. */
  at: string;
  type: RunLogType;
  /** One sentence. */
  message: string;
  /** What the sentence is made of. */
  detail: Readonly<Record<string, unknown>>;
}

export const MOST_ENTRIES = 1000;
const ENTRIES_A_RECORD = 50;
const WRITE_EVERY_MS = 1000;
const KEEP_MS = 90 * 86_400_000;

const keyOf = (run: number, firstNth: number) => `${runKey(run)}/${String(firstNth).padStart(10, '0')}`;

export interface RunLog {
  add(entry: Omit<RunLogEntry, 'nth' | 'at'>): void;
  /** Resolves when all that was added is written. */
  flush(): Promise<void>;
}

export interface RunLogSurroundings {
  records: RecordPort;
  clock: Clock;
  onFailure: (error: unknown) => void;
}

/** Goes on where an earlier part of the run ended. */
export async function openRunLog(
  { records, clock, onFailure }: RunLogSurroundings,
  projectUid: string,
  run: number,
): Promise<RunLog> {
  const last = await lastEntry(records, projectUid, run);
  let nth = last ?? 0;
  /** Of the record that is written again until it is full. */
  let open: RunLogEntry[] = [];
  let waiting: RunLogEntry[] = [];
  let cancel: (() => void) | null = null;
  let writing: Promise<void> = Promise.resolve();

  async function write(): Promise<void> {
    while (waiting.length > 0) {
      if (open.length >= ENTRIES_A_RECORD) open = [];
      const room = ENTRIES_A_RECORD - open.length;
      open = [...open, ...waiting.slice(0, room)];
      waiting = waiting.slice(room);
      const expiresAt = clock.now() + KEEP_MS;
      await records.put('run-log', projectUid, keyOf(run, open[0].nth), open, { expiresAt });
      await dropOld(open[open.length - 1].nth - MOST_ENTRIES);
    }
  }

  async function dropOld(upTo: number): Promise<void> {
    if (upTo <= 0) return;
    for (;;) {
      const [oldest] = await records.list<RunLogEntry[]>({
        ...{ kind: 'run-log', scope: projectUid, limit: 1 },
        after: runKey(run),
      });
      if (oldest === undefined || !oldest.key.startsWith(`${runKey(run)}/`)) return;
      if (oldest.value[oldest.value.length - 1].nth > upTo) return;
      await records.remove('run-log', projectUid, oldest.key);
    }
  }

  function flush(): Promise<void> {
    cancel?.();
    cancel = null;
    writing = writing.then(write).catch(onFailure);
    return writing;
  }

  return {
    add(entry) {
      waiting.push({ nth: ++nth, at: new Date(clock.now()).toISOString(), ...entry });
      // A flood of them is not kept in memory either: only the last ones will be read.
      if (waiting.length > MOST_ENTRIES) waiting = waiting.slice(-MOST_ENTRIES);
      cancel ??= clock.after(WRITE_EVERY_MS, () => void flush());
    },
    flush,
  };
}

async function lastEntry(records: RecordPort, projectUid: string, run: number): Promise<number | null> {
  const [found] = await records.list<RunLogEntry[]>({
    ...{ kind: 'run-log', scope: projectUid, order: 'desc', limit: 1 },
    after: runKey(run + 1),
  });
  if (found === undefined || !found.key.startsWith(`${runKey(run)}/`)) return null;
  return found.value[found.value.length - 1].nth;
}

/** `after`: the `nth` of the last entry that the caller has; oldest first. */
export async function readRunLog(
  records: Pick<RecordPort, 'list'>,
  projectUid: string,
  run: number,
  { after = 0, limit = 100 }: { after?: number; limit?: number } = {},
): Promise<RunLogEntry[]> {
  const found: RunLogEntry[] = [];
  for (let key = runKey(run); found.length < limit; ) {
    const some = await records.list<RunLogEntry[]>({
      ...{ kind: 'run-log', scope: projectUid, limit: 50 },
      after: key,
    });
    const ofRun = some.filter((record) => record.key.startsWith(`${runKey(run)}/`));
    for (const { value } of ofRun) found.push(...value.filter(({ nth }) => nth > after));
    if (ofRun.length < 50) break;
    key = ofRun[ofRun.length - 1].key;
  }
  return found.slice(0, limit);
}
