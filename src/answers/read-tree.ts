/** A folder of a project's pages with the folders in it, counted for the pages that fit a filter. */
import type { FolderNode, FolderTree, TreeQuery } from '../contract/facets.ts';
import type { Folder } from '../store/facet-names.ts';
import type { ProjectRow } from '../store/read-side.ts';
import type { Answering } from './answering.ts';
import { pageFilterOf } from './page-query.ts';

export async function readTree(
  { side }: Pick<Answering, 'side'>,
  { project }: Pick<ProjectRow, 'project'>,
  { path = '', ...filter }: TreeQuery,
): Promise<FolderTree> {
  const { folder, folders, isExact, asOfRun } = await side.tree(path, pageFilterOf(filter, project));
  return {
    ...nodeOf(folder),
    pages_in: folder.pages - folders.reduce((sum, { pages }) => sum + pages, 0),
    items: folders.map(nodeOf),
    total_is_exact: isExact,
    as_of_run: asOfRun,
  };
}

function nodeOf({ path, answered, milliseconds, ...counts }: Folder): FolderNode {
  return {
    path: path === '' ? '/' : path,
    name: path.slice(path.lastIndexOf('/') + 1),
    ...counts,
    mean_response_ms: answered === 0 ? null : Math.round((milliseconds / answered) * 10) / 10,
  };
}
