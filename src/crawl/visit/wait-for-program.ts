/**
 * Waiting for a program's own stage on a page that was read: meanwhile the page gives its connection to others, as long as
 * few wait. Whoever waits has copied before what points into the parser's buffers.
 */
import type { Slots } from '../run/slots.ts';

/** So many pages may wait without a connection: their bodies are in memory. */
const MOST_WAITING = 256;

/** Pages that wait for a program's stage and have given their connection to others. */
export class WaitingForProgram {
  count = 0;
}

export interface WaitParts {
  slots: Slots;
  waitingForProgram: WaitingForProgram;
  /** Aborted when the page is given up. */
  dropped: AbortSignal;
}

/** `dropped` when the page is given up before the answer comes. */
export async function waitForProgram<T>(answer: Promise<T>, parts: WaitParts): Promise<T | 'dropped'> {
  const { slots, waitingForProgram: waiting, dropped } = parts;
  if (waiting.count >= MOST_WAITING) return orDropped(answer, dropped);
  waiting.count++;
  slots.give();
  try {
    return await orDropped(answer, dropped);
  } finally {
    waiting.count--;
    slots.take();
  }
}

/** What is answered after that comes to nothing, an error too. */
export async function orDropped<T>(answer: Promise<T>, dropped: AbortSignal): Promise<T | 'dropped'> {
  let drop = () => {};
  const isDropped = new Promise<'dropped'>((resolve) => {
    drop = () => resolve('dropped');
    dropped.addEventListener('abort', drop);
    if (dropped.aborted) drop();
  });
  try {
    return await Promise.race([answer, isDropped]);
  } catch (error) {
    // What is thrown by who was told to give up is no failure.
    if (dropped.aborted) return 'dropped';
    throw error;
  } finally {
    dropped.removeEventListener('abort', drop);
  }
}
