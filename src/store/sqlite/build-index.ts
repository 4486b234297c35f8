/** Builds the indexes that lists and searches need; see index-state.ts. */
import type { IndexBuilt, IndexKind } from '../index-state.ts';
import { SORTS_OF_FETCHED } from '../list-queries.ts';
import { buildFullText } from './full-text.ts';
import { buildReverseLinks } from './reverse-links.ts';
import type { OpenFile } from './session.ts';

const BUILDERS: Record<IndexKind, (file: OpenFile, projectId: number) => Promise<IndexBuilt | null>> = {
  'reverse-links': buildReverseLinks,
  'full-text': buildFullText,
  sorts: async ({ db, window }) => {
    for (const { column, index } of SORTS_OF_FETCHED)
      db.exec(`CREATE INDEX IF NOT EXISTS ${index} ON fetched (${column}, page_id)`);
    window.commit();
    return { kind: 'sorts', pages: 0, isWhole: true };
  },
};

export async function buildIndex(
  file: OpenFile,
  project: string,
  kind: IndexKind,
): Promise<IndexBuilt | null> {
  const projectId = file.db.prepare('SELECT id FROM project WHERE name = ?').pluck().get(project);
  return projectId === undefined ? null : await BUILDERS[kind](file, projectId as number);
}
