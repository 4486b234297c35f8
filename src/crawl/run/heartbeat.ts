/** Says every few seconds that this worker is alive, and hears how far all workers have come. */
import type { Clock } from '../../primitives/clock.ts';
import type { RunPort } from '../../store/run-port.ts';
import type { Heartbeat, HeartbeatOptions } from './crew.ts';

const HEARTBEAT_EVERY_MS = 5_000;
/** Counting may take long in a large store: it gets at most a twentieth of the time. */
const COUNT_SHARE = 20;

export interface HeartbeatStore {
  run: Pick<RunPort, 'heartbeat' | 'counts'>;
}

export function startHeartbeat({ run }: HeartbeatStore, clock: Clock, options: HeartbeatOptions): Heartbeat {
  let others = 0;
  let countAgainAt = 0;
  let answeredAt = clock.monotonic();
  let answerMs: number | null = null;
  let isStopped = false;
  let cancel = () => {};
  beatLater();

  function beatLater(): void {
    if (isStopped) return;
    cancel = clock.after(HEARTBEAT_EVERY_MS, () => {
      // The next one waits for this: a store that is away is not asked again and again.
      beat().then(beatLater, (error) => {
        if (!isStopped) options.onFailure(error);
      });
    });
  }

  async function beat(): Promise<void> {
    const askedAt = clock.monotonic();
    await run.heartbeat(options.report());
    answeredAt = clock.monotonic();
    answerMs = answeredAt - askedAt;
    if (!options.wantsCounts || isStopped || answeredAt < countAgainAt) return;
    const { pages } = await run.counts();
    others = Math.max(others, pages - options.pagesHere());
    countAgainAt = clock.monotonic() + COUNT_SHARE * (clock.monotonic() - answeredAt);
  }

  return {
    get pagesOfOthers() {
      return others;
    },
    get silentMs() {
      return clock.monotonic() - answeredAt;
    },
    get answerMs() {
      return answerMs;
    },
    stop() {
      isStopped = true;
      cancel();
    },
  };
}
