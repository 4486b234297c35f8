/**
 * Tools over standard input and output. Ends when the input does, after what was asked before has been answered. Standard
 * output carries the protocol and nothing else.
 */
import { PassThrough, type Readable, type Writable } from 'node:stream';
import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/server';
import { StdioServerTransport, serveStdio } from '@modelcontextprotocol/server/stdio';
import { type AgentParts, OWNER } from './agent.ts';
import { createAgentServer } from './create-agent-server.ts';

/** Answers that are still to come when the input ends are waited for so long. */
const LAST_ANSWERS_MS = 15_000;
/** Never answered: they are open until the end. */
const STREAMS: ReadonlySet<string> = new Set(['subscriptions/listen']);

export interface StdioOptions {
  input: Readable;
  output: Writable;
  after: (delayMs: number, callback: () => void) => () => void;
}

export interface StdioService {
  /** Resolves when the input has ended and the last answers are written. */
  ended: Promise<void>;
  close(): Promise<void>;
}

export function serveAgentOnStdio(parts: AgentParts, { input, output, after }: StdioOptions): StdioService {
  const onerror = (error: Error) => parts.log(`MCP: ${error.message}`);
  let resolveEnded = () => {};
  const ended = new Promise<void>((resolve) => {
    resolveEnded = resolve;
  });
  const transport = patientTransport({ input, output, after }, resolveEnded);
  const handle = serveStdio(() => createAgentServer(parts, OWNER), { transport, onerror });
  return { ended, close: () => handle.close() };
}

/** The SDK's own gives up what is under way when the input ends: this one hears of the end when all is answered. */
function patientTransport({ input, output, after }: StdioOptions, onEnd: () => void): Transport {
  const lines = new PassThrough();
  const inner = new StdioServerTransport(lines, output);
  const open = new Set<string | number>();
  let hasEnded = false;
  const endIfDone = () => {
    if (hasEnded && open.size === 0) lines.end();
  };
  input.pipe(lines, { end: false });
  // Each answer that waits to be written has a listener of its own.
  output.setMaxListeners(0);
  const atEnd = () => {
    if (hasEnded) return;
    hasEnded = true;
    // What the last lines ask is seen only after they were read.
    setImmediate(endIfDone);
    after(LAST_ANSWERS_MS, () => lines.end());
  };
  for (const event of ['end', 'close', 'error']) input.once(event, atEnd);
  output.on('error', atEnd);

  const outer: Transport = {
    async start() {
      inner.onmessage = (message: JSONRPCMessage) => {
        if ('method' in message && 'id' in message && !STREAMS.has(message.method)) open.add(message.id);
        // What a client takes back is not answered.
        if ('method' in message && message.method === 'notifications/cancelled')
          open.delete(message.params?.requestId as string | number);
        outer.onmessage?.(message);
      };
      inner.onerror = (error) => outer.onerror?.(error);
      inner.onclose = () => {
        outer.onclose?.();
        onEnd();
      };
      await inner.start();
    },
    async send(message) {
      await inner.send(message);
      if (!('method' in message) && 'id' in message && message.id !== undefined) open.delete(message.id);
      endIfDone();
    },
    close: () => inner.close(),
  };
  return outer;
}
