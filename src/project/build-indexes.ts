/** Builds the indexes of stored projects that lists and searches need, without a crawl. */
import { sumiError } from '../errors.ts';
import type { IndexBuilt, IndexKind } from '../store/index-state.ts';
import { type StorePlace, withStore } from './with-store.ts';

export { INDEX_KINDS } from '../store/index-state.ts';

export interface ProjectIndex extends IndexBuilt {
  project: string;
}

/** Refused while another crawler has the store for itself, and for a project of which a run is under way. */
export async function buildIndexes(
  place: StorePlace,
  projects: readonly string[],
  kinds: readonly IndexKind[],
): Promise<ProjectIndex[]> {
  return withStore(place, async (store) => {
    const built: ProjectIndex[] = [];
    for (const project of projects)
      for (const kind of kinds) {
        const index = await store.projects.buildIndex(project, kind);
        if (index === null) throw sumiError('index-busy', { project });
        built.push({ project, ...index });
      }
    return built;
  });
}
