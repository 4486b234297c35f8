/** What is kept of projects, written through the file's one connection while sessions are at work; see project-port.ts. */
import type { ProjectPort } from '../project-port.ts';
import { buildIndex } from './build-index.ts';
import { forget } from './forget.ts';
import { createKeepingVerbs } from './keep-projects.ts';
import { buildPageIndexes } from './page-indexes.ts';
import { readSettings, saveSettings } from './project-settings.ts';
import { saveLook } from './reader-looks.ts';
import { type Judged, reconsider } from './reconsider.ts';
import { saveRevisits } from './revisits.ts';
import { leaveOpen, openRun } from './runs.ts';
import { saveDepths } from './save-depths.ts';
import type { OpenFile } from './session.ts';
import { createSteering } from './steer.ts';
import { createWaitingPages } from './waiting-pages.ts';

export function createProjectVerbs(file: OpenFile): ProjectPort {
  const { db, window } = file;
  return {
    ...createSteering(file),
    ...createKeepingVerbs(file),
    settings: async (project) => readSettings(db, project),
    saveSettings: async (project, settings) => saveSettings(file, project, settings),
    async revise(request, judge) {
      const run = openRun(file, request);
      if (run === null) return null;
      const { depths, nextBlock } = file;
      const judged: Judged = {
        ...{ db, ...run, waiting: 0, waitingDelta: new Map(), isPrepared: false },
        known: { setDepth: (pageId, depth) => depths.set(pageId, depth) },
      };
      const { moves } = reconsider(judged, createWaitingPages({ ...run, db, nextBlock }), judge);
      if (judged.waiting > 0) leaveOpen(db, run.runId);
      window.commit();
      return { ...run, moves, waiting: judged.waiting };
    },
    async saveDepths(projectId, origins, batches) {
      window.commit();
      saveDepths(file, projectId, origins, batches);
    },
    saveRevisits: async (...kept) => saveRevisits(file, ...kept),
    forget: async (project, before) => forget(file, project, before),
    buildIndex: (...asked) => buildIndex(file, ...asked),
    prepareLists: async () => buildPageIndexes(file.db, () => file.window.commit()),
    saveLook: async (...kept) => saveLook(file, ...kept),
  };
}
