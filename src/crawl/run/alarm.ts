/** What the loop of a crawl sleeps on, until something happens that concerns it. */
import type { Clock } from '../../primitives/clock.ts';

/** After so long, the next thing that happens ends the wait for others to go with. */
const TOGETHER_MS = 4;

const AWAKE = () => {};

export function createAlarm(clock: Clock) {
  let hasRung = false;
  let endSleep = AWAKE;
  return {
    get hasRung() {
      return hasRung;
    },
    /** Also heard while the loop waits for the store, so that nothing that happens meanwhile is slept over. */
    ring(): void {
      hasRung = true;
      endSleep();
    },
    reset(): void {
      hasRung = false;
    },
    /**
     * Until something happens, and then until all has been heard that came with it: requests that leave together wake
     * a server on the same machine once, and one by one each of them would. But not for long: where hundreds of
     * answers came together, a host whose time has come would wait until the last of them was read.
     */
    async sleep(): Promise<undefined> {
      if (hasRung) return undefined;
      await new Promise<void>((resolve) => {
        let rangAt: number | null = null;
        const end = () => {
          // Whoever sleeps anew has given up the sleep before, and may be in another one by now.
          if (endSleep === wakeUp) endSleep = AWAKE;
          resolve();
        };
        const wakeUp = () => {
          const now = clock.monotonic();
          if (rangAt === null) {
            rangAt = now;
            setImmediate(end);
          } else if (now - rangAt >= TOGETHER_MS) end();
        };
        endSleep = wakeUp;
      });
    },
  };
}
