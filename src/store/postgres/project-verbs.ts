/** What is kept of projects, on the store's own connections, while sessions are at work; see project-port.ts. */
import type { ProjectPort } from '../project-port.ts';
import { buildIndex } from './build-index.ts';
import { forget } from './forget.ts';
import { createKeepingVerbs } from './keep-projects.ts';
import { buildPageIndexes } from './page-indexes.ts';
import { readProjectSettings, saveProjectSettings } from './project-settings.ts';
import { saveLook } from './reader-looks.ts';
import { revise } from './reconsider.ts';
import { saveRevisits } from './revisits.ts';
import { saveDepths } from './save-depths.ts';
import type { OpenDatabase } from './session.ts';

export function createProjectVerbs(
  database: OpenDatabase,
): Omit<ProjectPort, 'steer' | 'giveUp' | 'standing' | 'onSteer'> {
  return {
    ...createKeepingVerbs(database),
    settings: (project) => database.attempt((runner) => readProjectSettings(runner, project)),
    saveSettings: (project, settings) => saveProjectSettings(database, project, settings),
    revise: (request, judge) => revise(database, request, judge),
    saveDepths: (projectId, origins, batches) => saveDepths(database, projectId, origins, batches),
    saveRevisits: (...kept) => saveRevisits(database, ...kept),
    async forget(project, before) {
      await flushAll(database);
      return forget(database, project, before);
    },
    async buildIndex(...asked) {
      await flushAll(database);
      return buildIndex(database, ...asked);
    },
    prepareLists: () => buildPageIndexes(database),
    saveLook: (...kept) => saveLook(database, ...kept),
  };
}

/** What the sessions have gathered counts, too. Whose commit fails hears of it itself. */
async function flushAll({ live }: OpenDatabase): Promise<void> {
  await Promise.allSettled([...live].map(({ window }) => window.flush()));
}
