/** Keeps up to where a reader was told of changes. That this cannot be written never costs the reader what was read. */
import type { Config } from '../config/load-config.ts';
import { SumiError } from '../errors.ts';
import { systemClock } from '../primitives/clock.ts';
import { printable } from '../render/terminal-text.ts';
import { openStore } from '../store/open-store.ts';
import type { AskedLook } from './choose-runs.ts';

export interface SeenLook extends AskedLook {
  config: Config;
  project: string;
}

/** A database that does not answer is not waited for long: the list is printed already. */
const PATIENCE_MS = 10_000;

export async function keepLook({ config, project, reader, next }: SeenLook): Promise<void> {
  const failures: unknown[] = [];
  try {
    const store = await openStore({
      address: config.storeAddress,
      clock: systemClock,
      onFailure: (error) => void failures.push(error),
      patienceMs: PATIENCE_MS,
    });
    try {
      await store.projects.saveLook(project, reader, next);
    } finally {
      await store.close();
    }
    if (failures.length > 0) throw failures[0];
  } catch (error) {
    if (!(error instanceof SumiError)) throw error;
    tell(
      `This look of ${reader} could not be kept, so the next one begins where this one did: ${error.message}`,
    );
  }
}

export function tell(note: string): void {
  process.stderr.write(`${printable(note)}\n`);
}
