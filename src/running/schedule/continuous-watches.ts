/**
 * Continuous schedules: `sumi watch` inside of the engine, on its store, with the budget of the project. One watch a
 * project; it is ended and begun anew when its settings change, and begun again later when it ended by an error. Another
 * service that watches the project keeps it until it ends.
 */
import { SumiError } from '../../errors.ts';
import { runWatch } from '../../watch/run-watch.ts';
import { openWatch } from '../../watch/watch-project.ts';
import { settingsOf } from '../../watch/watch-settings.ts';
import type { Room, RoomProject } from '../room.ts';

export interface ContinuousWatches {
  /** The project is to be watched like this from now on; null: not at all. The same `mark` again changes nothing. */
  want(project: RoomProject, wanted: { budget: string | null; mark: string } | null): void;
  /** All others are watched no more. */
  keepOnly(projectUids: ReadonlySet<string>): void;
  /** A tick now; false where the project is not watched here. */
  tickNow(projectUid: string): boolean;
  /** One tick of a project that is not watched. */
  tickOnce(project: RoomProject, budget: string | null): Promise<void>;
  end(): Promise<void>;
}

interface Watched {
  mark: string;
  abort: AbortController;
  beginNow: (() => void) | null;
  over: Promise<void>;
  isOver: boolean;
  /** Wall time from which on a watch that ended may begin again. */
  againAt: number;
}

/** After an error, or where another service watches. */
const PAUSE_MS = 60_000;

export function createContinuousWatches(room: Room): ContinuousWatches {
  const { store, clock, random, slots, egress } = room;
  const watches = new Map<string, Watched>();
  const single = new Set<Watched>();

  async function live(
    project: RoomProject,
    { budget, isOnce }: { budget: string | null; isOnce: boolean },
    watched: Watched,
  ): Promise<void> {
    const plan = await room.runs.plan(project, { type: 'scheduled', mode: 'incremental' });
    const config = budget === null ? plan.config : Object.freeze({ ...plan.config, budget });
    const settings = settingsOf(config);
    const watch = openWatch({
      ...{ config, startUrls: plan.startUrls, project: project.name, settings, random, slots },
      extensions: { store, clock, egress },
      onRun: (handle, { maxPages }) =>
        room.runs.attend({
          ...{ project, handle, maxPages },
          // Its first crawl visits all that it finds.
          type: watch.isPrepared ? 'scheduled' : 'initial',
          mode: watch.isPrepared ? 'incremental' : 'full',
        }),
      onEvent() {},
    });
    await runWatch({
      ...{ watch, settings, isOnce, clock, signal: watched.abort.signal },
      onPrepared() {},
      onMissed: room.report,
      onWait(_, beginNow) {
        watched.beginNow = beginNow;
      },
    });
  }

  function begin(
    project: RoomProject,
    order: { budget: string | null; isOnce: boolean; mark: string },
  ): Watched {
    const watched: Watched = {
      ...{ mark: order.mark, abort: new AbortController(), beginNow: null, isOver: false, againAt: 0 },
      over: Promise.resolve(),
    };
    const before = watches.get(project.uid)?.over;
    watched.over = (async () => {
      await before;
      if (watched.abort.signal.aborted) return;
      await live(project, order, watched);
    })()
      .catch((error: unknown) => {
        // Another service watches the project; or somebody crawls it by hand, and the watch comes back later.
        const isInUse = error instanceof SumiError && /^(?:watch-in-use|run-under-way)$/.test(error.code);
        if (!isInUse) room.report(error);
      })
      .finally(() => {
        watched.isOver = true;
        watched.beginNow = null;
        watched.againAt = clock.now() + PAUSE_MS;
      });
    return watched;
  }

  return {
    want(project, wanted) {
      const now = watches.get(project.uid);
      if (wanted === null) return now?.abort.abort();
      const mayStay = now !== undefined && now.mark === wanted.mark && !now.abort.signal.aborted;
      if (mayStay && (!now.isOver || clock.now() < now.againAt)) return;
      now?.abort.abort();
      watches.set(project.uid, begin(project, { ...wanted, isOnce: false }));
    },
    keepOnly(projectUids) {
      for (const [uid, { abort }] of watches) if (!projectUids.has(uid)) abort.abort();
    },
    tickNow(projectUid) {
      const watched = watches.get(projectUid);
      if (watched === undefined || watched.isOver || watched.abort.signal.aborted) return false;
      // None waits: a tick is under way.
      watched.beginNow?.();
      return true;
    },
    async tickOnce(project, budget) {
      const watched = begin(project, { budget, isOnce: true, mark: '' });
      single.add(watched);
      void watched.over.then(() => single.delete(watched));
    },
    async end() {
      const all = [...watches.values(), ...single];
      for (const { abort } of all) abort.abort();
      await Promise.all(all.map(({ over }) => over));
    },
  };
}
