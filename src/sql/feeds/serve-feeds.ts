/**
 * The main thread's side of feeds: each request of the DuckDB thread gets its maker from a table, and the rows that it
 * makes go over one batch ahead of what was asked for, unless the maker says otherwise. A feed that is closed aborts its
 * maker.
 */
import type { MessagePort } from 'node:worker_threads';
import { packError } from '../../primitives/travelling-error.ts';
import type { FeedMaker } from '../thread/feed.ts';
import { type FromMaker, SIGNAL, type ToMaker } from '../thread/messages.ts';

/** A maker that is asked for no batch before DuckDB has taken the one before it: what it makes costs others something. */
export interface MakerOnDemand {
  makeOnDemand: FeedMaker;
}

export type FeedMakers = Readonly<Record<string, FeedMaker | MakerOnDemand>>;

interface OpenFeed {
  readonly stop: AbortController;
  /** Resolves the wait of the maker for the next request. */
  more: () => void;
  asked: number;
}

export function serveFeeds(port: MessagePort, signal: Int32Array, makers: FeedMakers): { close(): void } {
  const open = new Map<number, OpenFeed>();

  function say(message: FromMaker): void {
    port.postMessage(message);
    Atomics.add(signal, SIGNAL.wake, 1);
    Atomics.notify(signal, SIGNAL.wake);
  }

  async function make(feed: number, kind: string, args: unknown): Promise<void> {
    const entry: OpenFeed = { stop: new AbortController(), more: () => {}, asked: 2 };
    const { signal: stopped } = entry.stop;
    open.set(feed, entry);
    stopped.addEventListener('abort', () => entry.more(), { once: true });
    try {
      const maker = makers[kind];
      if (maker === undefined) throw new TypeError(`there is no feed ${kind}`);
      if ('makeOnDemand' in maker) entry.asked = 1;
      const rowsOf = 'makeOnDemand' in maker ? maker.makeOnDemand : maker;
      for await (const rows of rowsOf(args as never, stopped)) {
        if (stopped.aborted) return;
        say({ feed, rows });
        entry.asked--;
        if (entry.asked < 1)
          await new Promise<void>((resolve) => {
            entry.more = resolve;
          });
        if (stopped.aborted) return;
      }
      if (!stopped.aborted) say({ feed, end: true });
    } catch (error) {
      if (!stopped.aborted) say({ feed, error: packError(error) });
    } finally {
      open.delete(feed);
    }
  }

  port.on('message', (message: ToMaker) => {
    if ('kind' in message) return void make(message.feed, message.kind, message.args);
    const entry = open.get(message.feed);
    if (entry === undefined) return;
    if ('close' in message) return entry.stop.abort();
    entry.asked++;
    entry.more();
  });
  return {
    close() {
      for (const { stop } of open.values()) stop.abort();
      port.close();
    },
  };
}
