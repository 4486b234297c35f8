/**
 * Functions inside DuckDB are synchronous: one that needs the web or another thread holds the DuckDB thread by
 * Atomics.wait until the main thread has sent rows. Meanwhile it writes the rows of background crawls, because the crawl
 * that is waited for may need a host that one of them holds. An interrupt ends the wait.
 */
import { type MessagePort, receiveMessageOnPort } from 'node:worker_threads';
import { sumiError } from '../../errors.ts';
import { unpackError } from '../../primitives/travelling-error.ts';
import type { Feed, MainThread } from './feed.ts';
import { type FromMaker, SIGNAL, type ToMaker } from './messages.ts';

/** Looked at again after this time: what wakes it may have been sent by somebody who does not raise the signal. */
const LOOK_AGAIN_MS = 250;

export interface WaitSurroundings {
  signal: Int32Array;
  feeds: MessagePort;
  /** Writes one batch of rows that waits, if there is one; true when it did. */
  serveRows: () => boolean;
}

export function createMainThread({ signal, feeds, serveRows }: WaitSurroundings): MainThread {
  let last = 0;
  /** What came for feeds that nobody waits for at this moment. */
  const waiting = new Map<number, FromMaker[]>();
  const say = (message: ToMaker) => feeds.postMessage(message);

  function take(feed: number): FromMaker | undefined {
    const kept = waiting.get(feed)?.shift();
    if (kept !== undefined) return kept;
    for (let received = receiveMessageOnPort(feeds); received; received = receiveMessageOnPort(feeds)) {
      const message = received.message as FromMaker;
      if (message.feed === feed) return message;
      waiting.get(message.feed)?.push(message);
    }
    return undefined;
  }

  function waitFor(feed: number, statement: number): FromMaker {
    for (;;) {
      const seen = Atomics.load(signal, SIGNAL.wake);
      const message = take(feed);
      if (message !== undefined) return message;
      if (Atomics.load(signal, SIGNAL.interrupted) >= statement) throw sumiError('sql-interrupted', {});
      if (!serveRows()) Atomics.wait(signal, SIGNAL.wake, seen, LOOK_AGAIN_MS);
    }
  }

  return {
    open({ kind, args }): Feed {
      const feed = ++last;
      const statement = Atomics.load(signal, SIGNAL.statement);
      let isOver = false;
      let hasAsked = true;
      waiting.set(feed, []);
      say({ feed, kind, args });
      const end = () => {
        isOver = true;
        waiting.delete(feed);
      };
      const close = () => {
        if (isOver) return;
        end();
        say({ feed, close: true });
      };
      return {
        next() {
          if (isOver) return null;
          if (!hasAsked) say({ feed, more: true });
          hasAsked = false;
          try {
            const message = waitFor(feed, statement);
            if ('rows' in message) return message.rows;
            end();
            if ('error' in message) throw unpackError(message.error);
            return null;
          } catch (error) {
            close();
            throw error;
          }
        },
        close,
      };
    },
  };
}
