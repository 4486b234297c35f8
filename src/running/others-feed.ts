/**
 * Tells listeners of runs that other processes have under way on a store that several share: that they begin, how far they
 * are, and that they are over, as the store says it once a second. Of their pages and hosts only those processes know.
 * Asks nothing while nobody listens, and nothing of runs of this process.
 */
import type { RunKeeper } from './keep-runs.ts';
import type { LiveFeed } from './live-feed.ts';
import type { Phase } from './phase.ts';
import type { PhaseReader } from './read-phases.ts';
import type { Room } from './room.ts';
import type { Tickets } from './tickets.ts';

const LOOK_EVERY_MS = 1_000;

export interface OthersSurroundings {
  room: Pick<Room, 'store' | 'clock' | 'project' | 'service' | 'report'>;
  keeper: Pick<RunKeeper, 'live'>;
  tickets: Pick<Tickets, 'get'>;
  phases: Pick<PhaseReader, 'of'>;
  feed: Pick<LiveFeed, 'heard' | 'tell'>;
}

export interface OthersFeed {
  begin(): void;
  end(): Promise<void>;
}

export function createOthersFeed({ room, keeper, tickets, phases, feed }: OthersSurroundings): OthersFeed {
  const { store, clock, service, report } = room;
  /** By the UUID of a project: how it stood when it was last looked at. */
  const seen = new Map<string, Phase>();
  let hasEnded = false;
  let cancel = () => {};
  let looking: Promise<void> = Promise.resolve();

  async function lookAtAll(): Promise<void> {
    const heard = feed.heard();
    for (const uid of seen.keys()) if (!heard.includes(uid)) seen.delete(uid);
    for (const uid of heard) {
      if (hasEnded) return;
      try {
        await lookAt(uid);
      } catch {
        // It was deleted, or the store is away: it is looked at anew.
        seen.delete(uid);
      }
    }
  }

  const isOurs = async (uid: string) => keeper.live.has(uid) || (await tickets.get(uid))?.service === service;

  async function lookAt(uid: string): Promise<void> {
    if (await isOurs(uid)) return void seen.delete(uid);
    const phase = await phases.of(await room.project(uid));
    // It began here meanwhile, and tells that itself.
    if (await isOurs(uid)) return void seen.delete(uid);
    const before = seen.get(uid);
    seen.set(uid, phase);
    if (before === undefined || JSON.stringify(before) === JSON.stringify(phase)) return;
    const type = typeOf(phase, before);
    if (type !== null) feed.tell(uid, { type, run: phase.run, phase });
  }

  function lookLater(): void {
    cancel = clock.after(LOOK_EVERY_MS, () => {
      looking = lookAtAll().catch(report);
      void looking.then(() => {
        if (!hasEnded) lookLater();
      });
    });
  }

  return {
    begin() {
      if (store.isShared) lookLater();
    },
    async end() {
      hasEnded = true;
      cancel();
      await looking;
    },
  };
}

/** Null: it was told that the run is over. */
function typeOf(phase: Phase, before: Phase): 'started' | 'progress' | 'completed' | 'failed' | null {
  const { status, state, run } = phase;
  const isOther = run !== before.run;
  if (status === 'completed' || status === 'failed')
    return isOther || before.status !== status ? status : null;
  const wasUnderWay = before.state === 'running' || before.state === 'paused';
  return state === 'running' && (isOther || !wasUnderWay) ? 'started' : 'progress';
}
