/** The list of projects as keys of their table; see read-lists.ts. */
import type { ListDatabase } from './list-database.ts';
import type { ProjectListFilter, SortOrder } from './list-queries.ts';
import { oneOf } from './page-conditions.ts';
import { IS_SEEN } from './project-rows.ts';
import { type Condition, condition, createTableTrack } from './table-track.ts';
import type { Track } from './walk-list.ts';

const STATES: Record<NonNullable<ProjectListFilter['state']>, readonly Condition[]> = {
  active: [condition('p.deleted_at IS NULL')],
  deleted: [condition('p.deleted_at IS NOT NULL')],
  all: [],
};

export function trackProjects(
  db: ListDatabase,
  { q, state = 'active', uids }: ProjectListFilter,
  { sort, order }: { sort: string; order: SortOrder },
): Track {
  const { dialect } = db;
  const fits = [condition(IS_SEEN), ...STATES[state]];
  if (q !== undefined) {
    const small = q.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
    const has = (column: string) => `${dialect.place(dialect.lower(column), '?')} > 0`;
    fits.push(condition(`${has('p.name')} OR ${has("COALESCE(p.website_url, '')")}`, small, small));
  }
  return createTableTrack(db, {
    ...{ table: 'project', alias: 'p', order, joins: '', fits },
    key: [sort === 'name' ? dialect.byBytes('name') : sort, 'id'],
    within: uids === undefined ? [] : [oneOf('uid', uids)],
  });
}
