/**
 * Other settings for a run that is under way: they are kept with the project and noted with the run, and its waiting pages are
 * judged anew. A run that rests takes them when it goes on, also after a restart.
 */
import type { Config } from '../config/load-config.ts';
import type { StoredRun } from '../store/read-side.ts';
import { keepSettings, settingsToDefaults } from './change-settings.ts';
import type { SettingChange } from './engine.ts';
import type { RunKeeper } from './keep-runs.ts';
import type { LiveRun } from './live-run.ts';
import type { Room, RoomProject } from './room.ts';
import { soonOver } from './soon-over.ts';

export interface AdjustedRun {
  project: RoomProject;
  run: StoredRun;
  /** Null: it rests in the store only. */
  live: LiveRun | null;
}

export interface Adjusting {
  adjust(run: AdjustedRun, settings: SettingChange): Promise<void>;
  /** Goes on with a run that rests here; with other settings where they were changed meanwhile. */
  wake(live: LiveRun): Promise<void>;
}

export function createAdjusting({
  room,
  keeper,
}: {
  room: Omit<Room, 'runs'>;
  keeper: Pick<RunKeeper, 'notes' | 'planToGoOn'>;
}): Adjusting {
  const { store, clock, report } = room;
  /** What a resting run takes when it goes on. */
  const changed = new WeakMap<LiveRun, Config>();

  /** It keeps its place while it rests for a moment. */
  async function take(live: LiveRun, config: Config): Promise<void> {
    live.isAdjusting = true;
    try {
      await live.handle.adjust(config);
    } finally {
      live.isAdjusting = false;
    }
  }

  return {
    async adjust({ project, run, live }, settings) {
      const note = live?.note ?? (await keeper.notes.get(project.uid, run.run));
      const adjusted = { ...note?.adjusted, ...(await settingsToDefaults(settings, run)) };
      // Refused before anything is kept.
      const { config } = await keeper.planToGoOn(project, run, adjusted);
      await keepSettings(store, project.uid, settings);
      if (note !== null) {
        note.adjusted = adjusted;
        note.max_pages = config.maxPages;
        await keeper.notes.put(project.uid, note);
      }
      if (live === null) return;
      live.setMaxPages(config.maxPages);
      const message = 'The settings of the run were changed.';
      live.log.add({ type: 'adjusted', message, detail: { ...settings } });
      if (live.isPaused) {
        changed.set(live, config);
        return;
      }
      const done = take(live, config);
      done.catch(report);
      await soonOver(done, clock);
    },
    async wake(live) {
      const config = changed.get(live);
      changed.delete(live);
      if (config === undefined) await live.handle.resume();
      else await take(live, config);
    },
  };
}
