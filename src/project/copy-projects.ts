/** Moves projects between stores and compares both sides at the end. The same call goes on with what was interrupted. */
import { realpathSync } from 'node:fs';
import { sumiError } from '../errors.ts';
import { type Clock, systemClock } from '../primitives/clock.ts';
import { isSharedStore, storeLabel } from '../primitives/store-address.ts';
import type { CopySide } from '../store/copy-port.ts';
import { type CopyEvent, type CopyResult, copyProject } from '../store/copy-project.ts';
import { openCopySide } from '../store/open-store.ts';

export interface CopyProjectsOrder {
  /** Addresses: the path of an SQLite file, or postgres://…. */
  from: string;
  to: string;
  /** Null: all projects. */
  project: string | null;
  /** The name of the copy, of one project only. */
  as: string | undefined;
  /** Delete what an interrupted copy left, and start again. */
  restart: boolean;
}

export type CopyProgress =
  | { type: 'begun'; project: string; to: string; pages: number; resumedAt: string | null }
  | { type: 'table'; table: string; rows: number; seconds: number }
  | { type: 'comparing' }
  /** An earlier copy has brought the project as it is now. */
  | { type: 'there-already'; project: string; to: string };

export interface CopiedProject extends CopyResult {
  /** How long the rows took to be written, and all of it with the comparison. */
  writingSeconds: number;
  seconds: number;
}

export async function copyProjects(
  order: CopyProjectsOrder,
  onProgress: (progress: CopyProgress) => void,
  clock: Clock = systemClock,
): Promise<CopiedProject[]> {
  refuseSameFile(order);
  return await withSides(order, (from, to) => copyAll(from, to, { ...order, onProgress, clock }));
}

type Addresses = Pick<CopyProjectsOrder, 'from' | 'to'>;

async function withSides<T>(
  { from, to }: Addresses,
  use: (from: CopySide, to: CopySide) => Promise<T>,
): Promise<T> {
  const source = await openCopySide(from, 'from');
  try {
    const target = await openCopySide(to, 'to');
    try {
      const isOneDatabase =
        isSharedStore(from) && isSharedStore(to) && (await source.identity()) === (await target.identity());
      if (isOneDatabase) throw sameStore({ from, to });
      return await use(source, target);
    } finally {
      await target.close();
    }
  } finally {
    await source.close();
  }
}

function sameStore({ from, to }: Addresses): Error {
  return sumiError('copy-same', { from: storeLabel(from), to: storeLabel(to) });
}

function refuseSameFile({ from, to }: Addresses): void {
  if (isSharedStore(from) || isSharedStore(to)) return;
  const realPath = (path: string) => realpathSync.native(path);
  try {
    if (realPath(from) !== realPath(to)) return;
  } catch (error) {
    // A file that is not there is no other file; opening says which one is missing.
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return;
    throw error;
  }
  throw sameStore({ from, to });
}

interface Copying extends Omit<CopyProjectsOrder, 'from' | 'to'> {
  onProgress: (progress: CopyProgress) => void;
  clock: Clock;
}

async function copyAll(from: CopySide, to: CopySide, copying: Copying): Promise<CopiedProject[]> {
  const { project, as, restart, onProgress, clock } = copying;
  const all = await from.projects();
  const chosen = project === null ? all : all.filter(({ name }) => name === project);
  const known = all.map(({ name }) => `"${name}"`).join(', ') || 'none';
  if (chosen.length === 0)
    throw sumiError('unknown-project', { project: project ?? '', file: from.label, known });
  if (as !== undefined && chosen.length > 1)
    throw sumiError('copy-names-one', { name: as, file: from.label, known });
  const results: CopiedProject[] = [];
  for (const one of chosen) {
    const name = as ?? one.name;
    const watch = createStopwatch(to.label, onProgress, clock);
    const result = await copyProject({ from, to, project: one, name, restart, onEvent: watch.hear });
    if (result === null) onProgress({ type: 'there-already', project: one.name, to: to.label });
    else results.push({ ...result, ...watch.times() });
  }
  return results;
}

/** Tells of each table when it is done, and keeps the time. */
function createStopwatch(to: string, onProgress: Copying['onProgress'], clock: Clock) {
  const seconds = (since: number) => (clock.monotonic() - since) / 1000;
  const started = clock.monotonic();
  let tableStarted = started;
  let writingSeconds = 0;
  return {
    hear(event: CopyEvent): void {
      if (event.type === 'begun') {
        const { project, pages, resumedAt } = event;
        onProgress({ type: 'begun', project, to, pages, resumedAt });
      }
      if (event.type === 'wrote' && event.isDone) {
        const { table, rows } = event;
        onProgress({ type: 'table', table, rows, seconds: seconds(tableStarted) });
        tableStarted = clock.monotonic();
        writingSeconds = seconds(started);
      }
      if (event.type === 'written') onProgress({ type: 'comparing' });
    },
    times: () => ({ writingSeconds, seconds: seconds(started) }),
  };
}
