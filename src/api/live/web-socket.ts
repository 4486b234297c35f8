/**
 * A client's WebSocket: it names the projects that it wants to hear of, and gets their events until it leaves. Whatever
 * else it sends is answered with an error that says what was expected; the connection stays. A client that does not answer
 * pings is disconnected.
 */
import type { WebSocket } from 'ws';
import type { LiveRequest } from '../../contract/live.ts';
import { formatError, SumiError, sumiError } from '../../errors.ts';
import type { Clock } from '../../primitives/clock.ts';
import type { HeardEvent, LiveHub, Subscribed } from './live-hub.ts';
import { createSlowReader, MOST_WAITING_BYTES } from './slow-reader.ts';

export interface LiveSocketOptions {
  socket: WebSocket;
  hub: LiveHub;
  clock: Clock;
  log: (line: string) => void;
  /** Checks a message's shape; throws what is wrong with it. */
  read: (text: string) => LiveRequest;
  /** Refuses a project that there is none of, or that this client may not see. */
  admit: (projectId: string) => Promise<void>;
  /** Asked from time to time: false when the client's token or session has ended. */
  isStillAdmitted: () => Promise<boolean>;
}

export const MOST_SUBSCRIPTIONS = 100;
const PING_EVERY_MS = 30_000;
/** RFC 6455: the client broke a rule of this server. */
const POLICY_VIOLATION = 1008;

/** Bytes are sent as the text that they encode. */
const AS_TEXT = { binary: false };

type Subscription = { end: () => void };

export function serveLiveSocket(options: LiveSocketOptions): void {
  const { socket, hub, clock, log, read, admit, isStillAdmitted } = options;
  const subscriptions = new Map<string, Subscription>();
  let isAlive = true;
  let cancelPing = () => {};

  const say = (message: object) => write(JSON.stringify(message));
  const onSent = () => {
    if (socket.bufferedAmount === 0) reader.drained();
  };
  const write = (text: string | Buffer) => socket.send(text, AS_TEXT, onSent);
  const reader = createSlowReader({
    get waitingBytes() {
      return socket.bufferedAmount;
    },
    send: (_event, _json, bytes) => write(bytes),
  });
  const now = () => new Date(clock.now()).toISOString();

  async function subscribe(projectId: string): Promise<void> {
    if (subscriptions.has(projectId)) return;
    if (subscriptions.size >= MOST_SUBSCRIPTIONS)
      throw sumiError('live-subscriptions', { most: MOST_SUBSCRIPTIONS });
    let isOver = false;
    let subscribed: Subscribed | null = null;
    const end = () => {
      isOver = true;
      subscribed?.end();
      reader.drop(projectId);
    };
    subscriptions.set(projectId, { end });
    // What happens before the client has its answer is sent after it.
    let early: HeardEvent[] | null = [];
    try {
      await admit(projectId);
      subscribed = await hub.subscribe(projectId, (heard) => {
        if (early !== null) early.push(heard);
        else if (!isOver) reader.push(heard);
      });
    } catch (error) {
      if (!isOver) subscriptions.delete(projectId);
      throw error;
    }
    if (isOver) return subscribed.end();
    const { phase, seq } = subscribed;
    say({ type: 'subscribed', project_id: projectId, run: phase.run, seq, at: now(), phase });
    const missed = early;
    early = null;
    for (const heard of missed) if (heard.event.seq > seq) reader.push(heard);
  }

  function unsubscribe(projectId: string): void {
    subscriptions.get(projectId)?.end();
    subscriptions.delete(projectId);
    say({ type: 'unsubscribed', project_id: projectId, at: now() });
  }

  const answers: {
    [Type in LiveRequest['type']]: (request: Extract<LiveRequest, { type: Type }>) => Promise<void> | void;
  } = {
    subscribe: ({ project_id }) => subscribe(project_id),
    unsubscribe: ({ project_id }) => unsubscribe(project_id),
    ping: () => say({ type: 'pong', at: now() }),
  };

  async function hear(text: string): Promise<void> {
    // Who sends without reading is not answered without end.
    if (socket.bufferedAmount > MOST_WAITING_BYTES)
      return socket.close(POLICY_VIOLATION, 'more is sent than is read');
    let projectId: string | null = null;
    try {
      const request = read(text);
      if ('project_id' in request) projectId = request.project_id;
      await answers[request.type](request as never);
    } catch (error) {
      if (!(error instanceof SumiError)) throw error;
      const { code, message, hint } = error;
      say({ type: 'error', code, message, hint, ...(projectId !== null && { project_id: projectId }) });
    }
  }

  async function beat(): Promise<void> {
    if (!isAlive) return socket.terminate();
    isAlive = false;
    socket.ping();
    if (!(await isStillAdmitted())) return socket.close(POLICY_VIOLATION, 'the token has ended');
    if (socket.readyState === socket.OPEN) beatLater();
  }

  function beatLater(): void {
    cancelPing = clock.after(PING_EVERY_MS, () => void beat().catch(fail));
  }

  function fail(error: unknown): void {
    log(`A WebSocket was closed: ${formatError(error)}`);
    socket.close(1011, 'an error of the service');
  }

  socket.on('pong', () => {
    isAlive = true;
  });
  socket.on('message', (data, isBinary) => {
    isAlive = true;
    hear(isBinary ? '' : data.toString()).catch(fail);
  });
  socket.on('close', () => {
    cancelPing();
    for (const { end } of subscriptions.values()) end();
    subscriptions.clear();
  });
  beatLater();
}
