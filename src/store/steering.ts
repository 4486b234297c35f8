/**
 * Steering: what an operator may order of a run, and which status follows. The order is stored with the run, so that all
 * workers obey it, also those on other machines and those that start later.
 */
import { sumiError } from '../errors.ts';
import type { RunEnd } from './run-port.ts';

export type Order = 'pause' | 'resume' | 'stop';

/** running: workers may request its pages. paused: nobody does, until it is resumed or begun again. */
export type StoredStatus = RunEnd | 'running';

export interface RunStanding {
  status: StoredStatus;
  /** Who is at work on the run now. */
  workers: number;
}

/** From a status that is missing here the order cannot be given. */
const NEXT: Readonly<Record<Order, Partial<Record<StoredStatus, StoredStatus>>>> = {
  pause: { running: 'paused', paused: 'paused' },
  resume: { paused: 'running', running: 'running' },
  stop: { running: 'stopped', paused: 'stopped', interrupted: 'stopped', stopped: 'stopped' },
};

/** Why what still waits is skipped when a run is stopped. */
export const STOPPED_REASON = 'limit: stopped';

/** Why what still waits is skipped when a run is given up: whoever worked on it is gone, and nobody goes on with it. */
export const GIVEN_UP_REASON = 'limit: interrupted';

export function statusAfter(order: Order, run: { id: number; status: StoredStatus }): StoredStatus {
  const next = NEXT[order][run.status];
  if (next === undefined) {
    const allowed = Object.keys(NEXT[order]).join(' or ');
    throw sumiError('run-not-steerable', { run: run.id, status: run.status, order, allowed });
  }
  return next;
}
