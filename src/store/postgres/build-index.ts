/** Builds the indexes that lists and searches need; see index-state.ts. */
import type { BuildWhen, IndexBuilt, IndexKind } from '../index-state.ts';
import { buildFullText } from './full-text.ts';
import { buildPageIndexes } from './page-indexes.ts';
import { buildReverseLinks } from './reverse-links.ts';
import { buildSections } from './sections.ts';
import { type Attempting, ask } from './session.ts';

const BUILDERS: Record<
  IndexKind,
  (database: Attempting, projectId: number, when: BuildWhen) => Promise<IndexBuilt | null>
> = {
  'reverse-links': (file, projectId) => buildReverseLinks(file, projectId),
  'full-text': buildFullText,
  sections: buildSections,
  sorts: async (database) => {
    await buildPageIndexes(database);
    return { kind: 'sorts', pages: 0, isWhole: true };
  },
};

export async function buildIndex(
  database: Attempting,
  project: string,
  kind: IndexKind,
  when: BuildWhen = 'asked',
): Promise<IndexBuilt | null> {
  const [found] = await database.attempt((sql) =>
    ask<{ id: number }>(sql, 'SELECT id FROM project WHERE name = $1', [project]),
  );
  return found === undefined ? null : await BUILDERS[kind](database, found.id, when);
}
