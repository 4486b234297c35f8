/** Builds the indexes of stored projects that lists and searches need, without a crawl. */
import type { Config } from '../config/load-config.ts';
import { sumiError } from '../errors.ts';
import { type Clock, systemClock } from '../primitives/clock.ts';
import type { IndexBuilt, IndexKind } from '../store/index-state.ts';
import { openStore } from '../store/open-store.ts';

export { INDEX_KINDS } from '../store/index-state.ts';

export interface ProjectIndex extends IndexBuilt {
  project: string;
}

/** Refused while another crawler has the store for itself, and for a project of which a run is under way. */
export async function buildIndexes(
  config: Pick<Config, 'storeAddress' | 'storePatience'>,
  projects: readonly string[],
  kinds: readonly IndexKind[],
  clock: Clock = systemClock,
): Promise<ProjectIndex[]> {
  const failures: unknown[] = [];
  const store = await openStore({
    address: config.storeAddress,
    clock,
    onFailure: (error) => void failures.push(error),
    patienceMs: config.storePatience * 1000,
  });
  try {
    const built: ProjectIndex[] = [];
    for (const project of projects)
      for (const kind of kinds) {
        const index = await store.projects.buildIndex(project, kind);
        if (index === null) throw sumiError('index-busy', { project });
        built.push({ project, ...index });
      }
    if (failures.length > 0) throw failures[0];
    return built;
  } finally {
    await store.close();
  }
}
