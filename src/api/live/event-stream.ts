/**
 * The events of one project over Server-Sent Events, for clients that only listen. Each has the event's number as its id: a
 * client that comes back with `Last-Event-ID` gets what it missed where that is still kept, else `reset` with the project's
 * phase, and has to read its view again.
 */
import type { ServerResponse } from 'node:http';
import type { Clock } from '../../primitives/clock.ts';
import type { Engine } from '../../running/engine.ts';
import type { LiveEvent } from '../../running/live-event.ts';
import type { Phase } from '../../running/phase.ts';
import type { HeardEvent, LiveHub } from './live-hub.ts';
import { createSlowReader, MOST_WAITING_BYTES } from './slow-reader.ts';

export interface EventStreamOptions {
  response: ServerResponse;
  projectId: string;
  /** Of `Last-Event-ID`; null where the client has heard nothing yet. */
  afterSeq: number | null;
  hub: LiveHub;
  engine: Pick<Engine, 'missed'>;
  clock: Clock;
  isStillAdmitted: () => Promise<boolean>;
}

/** Proxies close connections that are silent for long. */
const BEAT_EVERY_MS = 15_000;
/** How long a browser waits before it comes back. */
const RETRY_MS = 2000;

export async function serveEventStream(options: EventStreamOptions): Promise<void> {
  const { response, projectId, afterSeq, hub, engine, clock, isStillAdmitted } = options;
  let cancelBeat = () => {};
  let early: HeardEvent[] | null = [];
  const reader = createSlowReader({
    get waitingBytes() {
      return response.writableLength;
    },
    send: (event, json) => void response.write(messageOf(event.type, event.seq, json)),
  });
  const { phase, seq, end } = await hub.subscribe(projectId, (heard) => {
    if (early === null) reader.push(heard);
    else early.push(heard);
  });
  // Whatever goes wrong from here on, nobody is listened to in vain.
  response.on('close', () => {
    cancelBeat();
    end();
  });
  const missed = afterSeq === null ? null : fitting(await engine.missed(projectId, afterSeq));
  response.on('drain', () => reader.drained());
  if (response.destroyed) {
    cancelBeat();
    return end();
  }
  response.writeHead(200, {
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-store',
    'x-accel-buffering': 'no',
    'x-content-type-options': 'nosniff',
  });
  response.write(`retry: ${RETRY_MS}\n\n`);
  let last = seq;
  if (missed === null) {
    const type = afterSeq === null ? 'subscribed' : 'reset';
    response.write(messageOf(type, seq, openingOf(type, { projectId, phase, seq, at: clock.now() })));
  } else {
    last = afterSeq ?? seq;
    for (const { message, seq: sent } of missed) {
      response.write(message);
      last = sent;
    }
  }
  const waiting = early;
  early = null;
  for (const heard of waiting) if (heard.event.seq > last) reader.push(heard);
  beatLater();

  function beatLater(): void {
    cancelBeat = clock.after(BEAT_EVERY_MS, () => void beat());
  }

  async function beat(): Promise<void> {
    if (!(await isStillAdmitted().catch(() => false))) return void response.end();
    if (response.destroyed) return;
    if (response.writableLength === 0) response.write(': still here\n\n');
    beatLater();
  }
}

const messageOf = (type: string, seq: number, json: string) =>
  `event: ${type}\nid: ${seq}\ndata: ${json}\n\n`;

/** Null where there is more of it than may wait for a client. */
function fitting(missed: LiveEvent[] | null): { message: string; seq: number }[] | null {
  if (missed === null) return null;
  const messages = missed.map((event) => ({
    message: messageOf(event.type, event.seq, JSON.stringify(event)),
    seq: event.seq,
  }));
  const bytes = messages.reduce((sum, { message }) => sum + message.length, 0);
  return bytes > MOST_WAITING_BYTES ? null : messages;
}

interface Opening {
  projectId: string;
  phase: Phase;
  seq: number;
  at: number;
}

function openingOf(type: 'subscribed' | 'reset', { projectId, phase, seq, at }: Opening): string {
  return JSON.stringify({
    type,
    project_id: projectId,
    run: phase.run,
    seq,
    at: new Date(at).toISOString(),
    phase,
  });
}
