/**
 * Passes the events of projects to the clients that subscribed to them. However many clients there are, the engine is
 * listened to once a project, and an event is written as JSON once. A project that nobody subscribes to any more is no
 * longer listened to, so that the engine makes no events of its pages.
 */
import type { Engine } from '../../running/engine.ts';
import type { LiveEvent } from '../../running/live-event.ts';
import type { Phase } from '../../running/phase.ts';

export interface HeardEvent {
  event: LiveEvent;
  json: string;
  /** The same, encoded once for all clients. */
  bytes: Buffer;
  /** How the project stands after it. */
  phase: Phase | null;
}

export interface LiveHub {
  /** Resolves with the number of the last event before; the listener is called with those after it. */
  subscribe(projectId: string, listener: (heard: HeardEvent) => void): Promise<Subscribed>;
  close(): void;
}

export interface Subscribed {
  phase: Phase;
  seq: number;
  end(): void;
}

interface Channel {
  listeners: Set<(heard: HeardEvent) => void>;
  phase: Phase | null;
  seq: number;
  /** Resolves when the engine is listened to. */
  opened: Promise<void>;
  end: () => void;
}

export function createLiveHub(engine: Pick<Engine, 'listen' | 'runs'>): LiveHub {
  const channels = new Map<string, Channel>();

  function open(projectId: string): Channel {
    const channel: Channel = {
      listeners: new Set(),
      phase: null,
      seq: 0,
      opened: Promise.resolve(),
      end: () => {},
    };
    const hear = (event: LiveEvent) => {
      channel.seq = event.seq;
      if ('phase' in event) channel.phase = event.phase;
      const json = JSON.stringify(event);
      const heard = { event, json, bytes: Buffer.from(json), phase: channel.phase };
      for (const listener of channel.listeners) listener(heard);
    };
    channel.opened = engine.listen(projectId, { pages: true }, hear).then(({ phase, seq, end }) => {
      channel.phase ??= phase;
      channel.seq = Math.max(channel.seq, seq);
      channel.end = end;
    });
    channels.set(projectId, channel);
    return channel;
  }

  function leave(projectId: string, channel: Channel, listener: (heard: HeardEvent) => void): void {
    if (!channel.listeners.delete(listener) || channel.listeners.size > 0) return;
    if (channels.get(projectId) === channel) channels.delete(projectId);
    // The engine may not have answered yet.
    channel.opened.then(
      () => channel.end(),
      () => {},
    );
  }

  return {
    async subscribe(projectId, listener) {
      const channel = channels.get(projectId) ?? open(projectId);
      channel.listeners.add(listener);
      const end = () => leave(projectId, channel, listener);
      try {
        await channel.opened;
        const { seq } = channel;
        // Known from the events; two hundred clients at once must not ask two hundred times.
        return { phase: channel.phase ?? (await engine.runs.phase(projectId)), seq, end };
      } catch (error) {
        end();
        throw error;
      }
    },
    close() {
      for (const { end } of channels.values()) end();
      channels.clear();
    },
  };
}
