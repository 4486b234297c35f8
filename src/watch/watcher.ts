/** A project has one watch: whether the one that the store names is still alive. */
import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import { sumiError } from '../errors.ts';
import { isAlive } from '../primitives/process-life.ts';
import type { ReadSide, StoredRun } from '../store/read-side.ts';
import type { Watcher } from './watch-state.ts';

export interface Claim {
  project: string;
  last: StoredRun | null;
  watcher: Watcher | null;
  now: number;
}

/** Throws if another watch runs: it was heard of lately, or its run is under way. */
export async function refuseSecondWatch(
  side: ReadSide,
  { project, last, watcher, now }: Claim,
): Promise<void> {
  if (watcher === null || isDead(watcher.owner)) return;
  if (watcher.until <= now && !(await isRunAlive(side, last))) return;
  throw sumiError('watch-in-use', {
    project,
    watcher: watcher.owner.split(':').slice(0, 2).join(', process '),
    until: new Date(watcher.until).toISOString(),
  });
}

/** The watch was heard of lately, and its process was not found dead. */
export function isAtWork(watcher: Watcher | null, now: number): boolean {
  return watcher !== null && watcher.until > now && !isDead(watcher.owner);
}

/** Machine, process, start of the process, and a random mark. */
export function newOwner(): string {
  return [hostname(), process.pid, STARTED, randomBytes(4).toString('hex')].join(':');
}

const STARTED = Math.round(performance.timeOrigin);

/** The process ran on this machine and has ended. In containers, process numbers repeat, so the start counts, too. */
function isDead(owner: string): boolean {
  const [machine, pid, started] = owner.split(':');
  if (machine !== hostname()) return false;
  return Number(pid) === process.pid ? Number(started) !== STARTED : !isAlive(Number(pid));
}

/** A worker is at work on the run. */
export async function isRunAlive(side: ReadSide, last: StoredRun | null): Promise<boolean> {
  if (last?.status !== 'running') return false;
  for await (const { run, state } of side.workers()) if (run === last.run && state === 'alive') return true;
  return false;
}
