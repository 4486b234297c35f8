/**
 * Other settings for a run that another service on the store has in its hands: they are put into the records, and that
 * service takes them within seconds. Orders to pause, resume and stop are with the run itself; settings are not.
 */
import type { SettingChange } from './engine.ts';
import type { RunKeeper } from './keep-runs.ts';
import type { Room } from './room.ts';

const LOOK_EVERY_MS = 2_000;
const KEY = 'adjust';

interface Wanted {
  run: number;
  settings: SettingChange;
}

export interface ElsewhereSurroundings {
  room: Pick<Room, 'store' | 'records' | 'clock' | 'report'>;
  keeper: Pick<RunKeeper, 'live'>;
}

export interface AdjustElsewhere {
  /** Resolves when whoever has the run will find it. */
  give(projectUid: string, run: number, settings: SettingChange): Promise<void>;
  /** From now on what others want of runs that are here is done. */
  begin(adjust: (projectUid: string, settings: SettingChange) => Promise<unknown>): void;
  end(): Promise<void>;
}

export function createAdjustElsewhere({ room, keeper }: ElsewhereSurroundings): AdjustElsewhere {
  const { store, records, clock, report } = room;
  let hasEnded = false;
  let cancel = () => {};
  let looking: Promise<void> = Promise.resolve();

  async function takeAll(adjust: Parameters<AdjustElsewhere['begin']>[0]): Promise<void> {
    for (const [uid, live] of keeper.live) {
      const found = await records.get<Wanted>('run-note', uid, KEY);
      if (found === null || hasEnded) continue;
      // What somebody adds in this moment is taken the next time.
      if (!(await records.remove('run-note', uid, KEY, found.version))) continue;
      if (found.value.run === live.run) await adjust(uid, found.value.settings).catch(report);
    }
  }

  return {
    async give(projectUid, run, settings) {
      for (;;) {
        const found = await records.get<Wanted>('run-note', projectUid, KEY);
        const before = found?.value.run === run ? found.value.settings : {};
        const wanted: Wanted = { run, settings: { ...before, ...settings } };
        const ifVersion = found?.version ?? 0;
        if ((await records.put('run-note', projectUid, KEY, wanted, { ifVersion })) !== null) return;
      }
    },
    begin(adjust) {
      const look = () => {
        cancel = clock.after(LOOK_EVERY_MS, () => {
          looking = takeAll(adjust).catch(report);
          void looking.then(() => {
            if (!hasEnded) look();
          });
        });
      };
      if (store.isShared) look();
    },
    async end() {
      hasEnded = true;
      cancel();
      await looking;
    },
  };
}
