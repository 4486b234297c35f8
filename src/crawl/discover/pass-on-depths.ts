/**
 * Lowered depths are passed on to the links of their pages now and then, not at once: a page that is brought closer
 * step by step then tells its links once, which on a map of 20,000 pages is a seventh of the work. Where nothing else is
 * left to do nobody waits: what a shorter path opens may be all there is.
 */
import type { Clock } from '../../primitives/clock.ts';
import type { FrontierPort } from '../../store/frontier-port.ts';

const PAGES_AT_ONCE = 64;
const EVERY_MS = 1000;

export interface DepthPasser {
  /** Passes on some, if it is time or `isIdle`. True when there may be more. */
  passOn(isIdle: boolean): Promise<boolean>;
  stop(): void;
}

export interface PasserSurroundings {
  frontier: Pick<FrontierPort, 'lowerDepths'>;
  clock: Clock;
  /** Pages of this host were queued. */
  wakeHost: (host: string) => void;
  /** It is time again. */
  onTime: () => void;
}

export function createDepthPasser({ frontier, clock, wakeHost, onTime }: PasserSurroundings): DepthPasser {
  let nextAt = Number.NEGATIVE_INFINITY;
  let cancel: (() => void) | null = null;

  function remind(delayMs: number): void {
    cancel ??= clock.after(delayMs, () => {
      cancel = null;
      onTime();
    });
  }

  return {
    async passOn(isIdle) {
      const now = clock.monotonic();
      if (!isIdle && now < nextAt) {
        remind(nextAt - now);
        return false;
      }
      const hosts = await frontier.lowerDepths(PAGES_AT_ONCE);
      for (const host of hosts ?? []) wakeHost(host);
      if (hosts === null) nextAt = clock.monotonic() + EVERY_MS;
      return hosts !== null;
    },
    stop: () => cancel?.(),
  };
}
