/** The list of projects that a caller may see. */
import type { ListAnswer } from '../contract/lists.ts';
import type { ProjectListFilter, SortOrder } from '../store/list-queries.ts';
import type { ProjectRow } from '../store/read-side.ts';
import type { Answering } from './answering.ts';
import { listAnswer, type PageOfList, readResults, totalOf } from './list-answer.ts';

export interface ProjectsQuestion extends PageOfList {
  q?: string;
  state?: 'active' | 'deleted' | 'all';
  sort?: string;
  order?: SortOrder;
}

/** `uids`: only these; null: every project. */
export async function listProjects(
  { side }: Pick<Answering, 'side'>,
  { q, state, sort = 'created_at', order, ...place }: ProjectsQuestion,
  uids: readonly string[] | null,
): Promise<ListAnswer<ProjectRow>> {
  const filter: ProjectListFilter = {
    ...(q !== undefined && { q }),
    ...(state !== undefined && { state }),
    ...(uids !== null && { uids }),
  };
  const results = await readResults(side, 'projects', { filter, sort, order }, place);
  return {
    ...listAnswer(results.rows, results),
    ...(await totalOf(side, 'projects', filter, place)),
  };
}
