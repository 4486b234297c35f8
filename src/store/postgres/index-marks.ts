/** What the indexes of a project were built from (index-state.ts), on PostgreSQL. */
import { ALL_RUNS, type IndexKind, isCurrent, packMark, RUNS_MARK, type RunsMark } from '../index-state.ts';
import { ask, type Runner } from './session.ts';

const MARK = RUNS_MARK.replace('?', '$1').replace('?', '$2');

export async function runsMark(runner: Runner, projectId: number, upTo = ALL_RUNS): Promise<RunsMark> {
  const [mark] = await ask<RunsMark>(runner, MARK, [projectId, upTo]);
  return mark;
}

/** Null where there is none, or where it was left half built. */
export async function readIndexMark(
  runner: Runner,
  projectId: number,
  kind: IndexKind,
): Promise<string | null> {
  const [found] = await ask<{ built_from: string }>(
    runner,
    'SELECT built_from FROM index_state WHERE project_id = $1 AND kind = $2',
    [projectId, kind],
  );
  return found?.built_from ?? null;
}

export async function hasCurrentIndex(runner: Runner, projectId: number, kind: IndexKind): Promise<boolean> {
  return isCurrent(await readIndexMark(runner, projectId, kind), await runsMark(runner, projectId));
}

/** While an index is written, it is none. */
export async function dropIndexMark(runner: Runner, projectId: number, kind: IndexKind): Promise<void> {
  await ask(runner, 'DELETE FROM index_state WHERE project_id = $1 AND kind = $2', [projectId, kind]);
}

export async function saveIndexMark(
  runner: Runner,
  projectId: number,
  kind: IndexKind,
  mark: RunsMark,
): Promise<void> {
  await ask(
    runner,
    `INSERT INTO index_state (project_id, kind, built_from) VALUES ($1, $2, $3)
     ON CONFLICT (project_id, kind) DO UPDATE SET built_from = excluded.built_from`,
    [projectId, kind, packMark(mark)],
  );
}
