/**
 * The events of one project: numbered, kept for a while, given to who listens. Numbers begin at the time of the channel's
 * making in milliseconds, so that they go on growing when the service starts again.
 */
import type { LiveEvent } from './live-event.ts';

/** What a channel adds by itself. */
type Stamp = 'project_id' | 'seq' | 'at';
export type LiveBody = {
  [Type in LiveEvent['type']]: Omit<Extract<LiveEvent, { type: Type }>, Stamp>;
}[LiveEvent['type']];

export type LiveListener = (event: LiveEvent) => void;

export const KEPT_EVENTS = 256;

export interface LiveChannel {
  readonly projectUid: string;
  /** Of the last event. */
  readonly seq: number;
  readonly listeners: Map<symbol, { pages: boolean; listener: LiveListener }>;
  tell(body: LiveBody, now: number, more: Iterable<{ pages: boolean; listener: LiveListener }>): void;
  /** Null where some of them are not kept any more. */
  after(seq: number): LiveEvent[] | null;
}

const OF_PAGES: ReadonlySet<LiveEvent['type']> = new Set(['page', 'change']);

export function createLiveChannel(projectUid: string, begin: number): LiveChannel {
  const listeners: LiveChannel['listeners'] = new Map();
  const kept: LiveEvent[] = [];
  let seq = Math.floor(begin);
  return {
    projectUid,
    listeners,
    get seq() {
      return seq;
    },
    tell(body, now, more) {
      const stamp = { project_id: projectUid, seq: ++seq, at: new Date(now).toISOString() };
      const event = { ...body, ...stamp } as LiveEvent;
      kept.push(event);
      if (kept.length > KEPT_EVENTS) kept.shift();
      const isOfPages = OF_PAGES.has(event.type);
      for (const list of [listeners.values(), more])
        for (const { pages, listener } of list) if (pages || !isOfPages) listener(event);
    },
    after(from) {
      if (from === seq) return [];
      const oldest = kept[0]?.seq ?? Number.POSITIVE_INFINITY;
      if (from > seq || from + 1 < oldest) return null;
      return kept.filter((event) => event.seq > from);
    },
  };
}
