/**
 * Questions that can be given up: by a signal (`until`), and streams also by `return()`, in the middle of a batch. Whoever
 * asked hears the signal's own reason; what the database still does for the question is ended by the adapter.
 */
import { ANSWER_NAMES, type Questions, STREAM_NAMES } from './question-names.ts';
import type { ReadSide } from './read-side.ts';

type Asked = (...args: unknown[]) => unknown;

/** `questionsOf`: the questions as they are asked until this signal. */
export function createGivableSide(
  questionsOf: (signal: AbortSignal) => Questions,
  close: () => Promise<void>,
  until?: AbortSignal,
): ReadSide {
  const never = until ?? new AbortController().signal;
  const side: Record<string, unknown> = {
    close,
    until: (signal: AbortSignal) =>
      createGivableSide(questionsOf, close, until === undefined ? signal : AbortSignal.any([until, signal])),
  };
  for (const name of ANSWER_NAMES)
    side[name] = async (...args: unknown[]) => {
      never.throwIfAborted();
      try {
        return await (questionsOf(never)[name] as Asked)(...args);
      } catch (error) {
        throw never.aborted ? never.reason : error;
      }
    };
  for (const name of STREAM_NAMES)
    side[name] = (...args: unknown[]) =>
      createGivableStream(
        (signal) => (questionsOf(signal)[name] as Asked)(...args) as AsyncIterable<unknown>,
        until,
      );
  return side as unknown as ReadSide;
}

function createGivableStream<Row>(
  ask: (signal: AbortSignal) => AsyncIterable<Row>,
  until: AbortSignal | undefined,
): AsyncIterableIterator<Row> {
  const givenUp = new AbortController();
  const signal = until === undefined ? givenUp.signal : AbortSignal.any([until, givenUp.signal]);
  let rows: AsyncIterator<Row> | null = null;
  return {
    [Symbol.asyncIterator]() {
      return this;
    },
    async next() {
      if (givenUp.signal.aborted) return { done: true, value: undefined };
      until?.throwIfAborted();
      try {
        rows ??= ask(signal)[Symbol.asyncIterator]();
        return await rows.next();
      } catch (error) {
        if (givenUp.signal.aborted) return { done: true, value: undefined };
        throw until?.aborted ? until.reason : error;
      }
    },
    async return() {
      givenUp.abort();
      await rows?.return?.();
      return { done: true, value: undefined };
    },
  };
}
