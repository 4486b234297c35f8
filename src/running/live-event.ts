/** What clients of the service hear of a project while it is crawled: the same over WebSocket and SSE. */
import type { HostEvent, PageEvent } from '../events/events.ts';
import type { ChangeEvent } from '../watch/watch-event.ts';
import type { Phase } from './phase.ts';

interface LiveStamp {
  project_id: string;
  run: number | null;
  /** Grows by one a project's event; a gap means that events were left out for this client. */
  seq: number;
  /** ISO 8601, in UTC. */
  at: string;
}

/** A run began, or goes on. */
export interface StartedLive extends LiveStamp {
  type: 'started';
  phase: Phase;
}
/** At most four a second; also when the run is queued, paused or resumed. */
export interface ProgressLive extends LiveStamp {
  type: 'progress';
  phase: Phase;
}
/** The newest page that was settled; at most ten a second. `left_out`: how many were settled since the one before. */
export interface PageLive extends LiveStamp {
  type: 'page';
  page: Omit<PageEvent, 'type' | 'run' | 'project' | 'time' | 'page_id'> & { id: string };
  left_out: number;
}
export interface HostLive extends LiveStamp {
  type: 'host';
  host: Omit<HostEvent, 'type' | 'run' | 'project' | 'time'>;
}
/** A page that came, changed or went; at most ten a second. `left_out`: how many did since the one before. */
export interface ChangeLive extends LiveStamp {
  type: 'change';
  change: Pick<ChangeEvent, 'url' | 'outcome' | 'known_by' | 'status_code' | 'title'> & { page_id: string };
  left_out: number;
}
/** completed or stopped. */
export interface CompletedLive extends LiveStamp {
  type: 'completed';
  phase: Phase;
}
/** failed or interrupted. */
export interface FailedLive extends LiveStamp {
  type: 'failed';
  phase: Phase;
}

export type LiveEvent =
  | StartedLive
  | ProgressLive
  | PageLive
  | HostLive
  | ChangeLive
  | CompletedLive
  | FailedLive;
