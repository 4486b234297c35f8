/** Builds the indexes that lists and searches need; see index-state.ts. */
import type { IndexBuilt, IndexKind } from '../index-state.ts';
import { SORTS_OF_FETCHED } from '../list-queries.ts';
import { buildFullText } from './full-text.ts';
import { buildReverseLinks } from './reverse-links.ts';
import { type Attempting, ask } from './session.ts';

const BUILDERS: Record<IndexKind, (database: Attempting, projectId: number) => Promise<IndexBuilt | null>> = {
  'reverse-links': buildReverseLinks,
  'full-text': buildFullText,
  sorts: async (database) => {
    for (const { column, index } of SORTS_OF_FETCHED)
      await database.attempt((sql) =>
        ask(sql, `CREATE INDEX IF NOT EXISTS ${index} ON fetched (${column}, page_id)`),
      );
    return { kind: 'sorts', pages: 0, isWhole: true };
  },
};

export async function buildIndex(
  database: Attempting,
  project: string,
  kind: IndexKind,
): Promise<IndexBuilt | null> {
  const [found] = await database.attempt((sql) =>
    ask<{ id: number }>(sql, 'SELECT id FROM project WHERE name = $1', [project]),
  );
  return found === undefined ? null : await BUILDERS[kind](database, found.id);
}
