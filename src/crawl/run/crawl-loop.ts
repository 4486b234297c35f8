/** What a loop can be told and asked by whoever runs it. */
import type { WaitingFor } from '../../events/events.ts';
import type { LoopEnd } from './loop-end.ts';

export interface CrawlLoop {
  run(): Promise<LoopEnd>;
  /** Finish what is in flight, but wait no longer for it than the drain time; start nothing new. */
  stop(): void;
  /** Ends the loop with an error that no call can answer for. */
  fail(error: unknown): void;
  /** After the end: pages were queued besides those that were due. */
  hadFurtherPages(): boolean;
  /** After the end: sitemaps were not read that may name more pages. */
  hasMoreToFind(): boolean;
  /** Why nothing happens, where that can be told. */
  waitingFor(): WaitingFor | null;
  /** For the progress display. */
  readonly now: { inFlight: number; hosts: number; cooling: number };
}
