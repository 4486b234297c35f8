/**
 * What one client is sent, at its own pace. At most `MOST_WAITING_BYTES` wait for a client that does not read; what happens
 * meanwhile is left out, and when it has read what waited it gets one event a project that says how the project stands now,
 * with the number of the last event that was left out. It never slows the crawl, nor other clients.
 */
import type { LiveEvent } from '../../running/live-event.ts';
import type { HeardEvent } from './live-hub.ts';

export const MOST_WAITING_BYTES = 64 * 1024;

export interface Outlet {
  /** Bytes that were given to `send` and are not yet on their way. */
  readonly waitingBytes: number;
  send(event: LiveEvent, json: string, bytes: Buffer): void;
}

export interface SlowReader {
  push(heard: HeardEvent): void;
  /** To be called when what waited has gone out. */
  drained(): void;
  /** Of a project that is not subscribed to any more. */
  drop(projectId: string): void;
}

export function createSlowReader(outlet: Outlet, mostWaitingBytes = MOST_WAITING_BYTES): SlowReader {
  /** The event that each project's client is owed. */
  const owed = new Map<string, LiveEvent>();
  const hasRoomFor = (bytes: Buffer) => outlet.waitingBytes + bytes.length <= mostWaitingBytes;

  return {
    push({ event, json, bytes, phase }) {
      const before = owed.get(event.project_id);
      if (before === undefined && hasRoomFor(bytes)) return outlet.send(event, json, bytes);
      const snapshot = snapshotOf(event, phase, before);
      if (snapshot !== null) owed.set(event.project_id, snapshot);
    },
    drained() {
      for (const [projectId, event] of owed) {
        const json = JSON.stringify(event);
        const bytes = Buffer.from(json);
        // A client that read everything gets it, however long it is.
        if (outlet.waitingBytes > 0 && !hasRoomFor(bytes)) return;
        owed.delete(projectId);
        outlet.send(event, json, bytes);
      }
    },
    drop: (projectId) => void owed.delete(projectId),
  };
}

/** The end of a run stays the end, whatever else was left out after it. */
function snapshotOf(event: LiveEvent, phase: HeardEvent['phase'], before?: LiveEvent): LiveEvent | null {
  if ('phase' in event) return event;
  if (phase === null) return null;
  const { project_id, run, seq, at } = event;
  const isOver = before?.type === 'completed' || before?.type === 'failed';
  return { type: isOver ? before.type : 'progress', project_id, run, seq, at, phase };
}
