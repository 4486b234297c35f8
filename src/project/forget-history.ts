/** Clears old history of a store without a crawl. Pages keep what they have now. */
import type { Config } from '../config/load-config.ts';
import { type Clock, systemClock } from '../primitives/clock.ts';
import { openStore } from '../store/open-store.ts';
import type { Forgotten } from '../store/page-tables.ts';

/** Of one project, or of all with null. Refused while another crawler has the store for itself. */
export async function forgetHistory(
  config: Pick<Config, 'storeAddress' | 'storePatience'>,
  project: string | null,
  before: number,
  clock: Clock = systemClock,
): Promise<Forgotten> {
  const failures: unknown[] = [];
  const store = await openStore({
    address: config.storeAddress,
    clock,
    onFailure: (error) => void failures.push(error),
    patienceMs: config.storePatience * 1000,
  });
  try {
    const forgotten = await store.projects.forget(project, before);
    if (failures.length > 0) throw failures[0];
    return forgotten;
  } finally {
    await store.close();
  }
}
