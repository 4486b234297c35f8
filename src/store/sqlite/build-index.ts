/** Builds the indexes that lists and searches need; see index-state.ts. */
import type { BuildWhen, IndexBuilt, IndexKind } from '../index-state.ts';
import { buildFullText } from './full-text.ts';
import { buildPageIndexes } from './page-indexes.ts';
import { buildReverseLinks } from './reverse-links.ts';
import { buildSections } from './sections.ts';
import type { OpenFile } from './session.ts';

const BUILDERS: Record<
  IndexKind,
  (file: OpenFile, projectId: number, when: BuildWhen) => Promise<IndexBuilt | null>
> = {
  'reverse-links': (file, projectId) => buildReverseLinks(file, projectId),
  'full-text': buildFullText,
  sections: buildSections,
  sorts: async ({ db, window }) => {
    buildPageIndexes(db, () => window.commit());
    return { kind: 'sorts', pages: 0, isWhole: true };
  },
};

export async function buildIndex(
  file: OpenFile,
  project: string,
  kind: IndexKind,
  when: BuildWhen = 'asked',
): Promise<IndexBuilt | null> {
  const projectId = file.db.prepare('SELECT id FROM project WHERE name = ?').pluck().get(project);
  return projectId === undefined ? null : await BUILDERS[kind](file, projectId as number, when);
}
