/** The project that a program names by its UUID. What is unknown, malformed, purged or deleted is equally not there. */
import { sumiError } from '../errors.ts';
import type { ProjectRow } from '../store/read-side.ts';
import type { Answering } from './answering.ts';

const UUID = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i;

export function isUuid(text: string): boolean {
  return UUID.test(text);
}

export async function findProject(
  { side }: Pick<Answering, 'side'>,
  id: string,
  { deleted = false }: { deleted?: boolean } = {},
): Promise<ProjectRow> {
  const row = isUuid(id) ? await side.projectByUid(id.toLowerCase()) : null;
  if (row === null || (row.deleted_at !== null && !deleted)) throw sumiError('project-unknown', { id });
  return row;
}
