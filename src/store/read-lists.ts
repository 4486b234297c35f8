/**
 * Pages of results, the same on every store: `list` answers rows and the cursors that lead on and back, `count` how many
 * rows there are. Rows are found by their keys in the order of an index, never by counting off. One call looks at no more
 * than MOST_LOOKED_AT rows; what is asked wrongly is refused before the database is asked.
 */
import { sumiError } from '../errors.ts';
import { REQUEST_KINDS } from './host-port.ts';
import { createLinkTrack, readLinks } from './link-track.ts';
import { type AskedList, type Key, readCursor, writeCursor } from './list-cursor.ts';
import type { ListDatabase } from './list-database.ts';
import {
  type Count,
  DEFAULT_LIMIT,
  LIST_FILTERS,
  LIST_SORTS,
  type ListFilter,
  type ListName,
  type ListQuery,
  type ListRow,
  MOST_ROWS,
  type RequestListFilter,
  type Results,
  type RunListFilter,
  type SortOrder,
} from './list-queries.ts';
import { readChanges, readListedHosts, readRequests, readVisits } from './listed-rows.ts';
import { oneOf } from './page-conditions.ts';
import { trackPages } from './page-track.ts';
import { trackProjects } from './project-track.ts';
import { createFacetReader, type FacetReader } from './read-facets.ts';
import { type Condition, condition, createTableTrack, emptyTrack, inOrderOf } from './table-track.ts';
import { TOLD_OUTCOMES } from './visit-rows.ts';
import { createVisitTrack } from './visit-track.ts';
import { countList, type Track, walkList } from './walk-list.ts';

export interface ListReader {
  list<Name extends ListName>(name: Name, query: ListQuery<Name>): Promise<Results<ListRow<Name>>>;
  /** `sort`: of the list in that order, which may leave rows out. */
  count<Name extends ListName>(name: Name, filter: ListFilter<Name>, sort?: string): Promise<Count>;
}

interface Sorted {
  sort: string;
  order: SortOrder;
  /** Null where no project is asked for. */
  projectId: number | null;
}

interface List<Name extends ListName> {
  track(db: ListDatabase, filter: ListFilter<Name>, sorted: Sorted): Track | Promise<Track>;
  rows(
    db: ListDatabase,
    keys: readonly Key[],
    filter: ListFilter<Name>,
    sorted: Sorted,
  ): Promise<ListRow<Name>[]>;
}

const numbers = (keys: readonly Key[]) => keys.map((key) => Number(key[key.length - 1]));

/** The project of the rows: the last condition that all tables with a run share. */
const ofProject = (column: string, projectId: number | null): Condition[] =>
  projectId === null ? [] : [condition(`${column} = ?`, projectId)];

const LISTS: { [Name in ListName]: List<Name> } = {
  pages: {
    track: trackPages,
    rows: async (db, keys) =>
      inOrderOf(
        numbers(keys).map((id) => [id]),
        await db.pages(numbers(keys)),
        ({ id }) => [id],
      ),
  },
  visits: {
    track: createVisitTrack,
    rows: readVisits,
  },
  changes: {
    track: (db, filter, sorted) => createVisitTrack(db, { outcomes: TOLD_OUTCOMES, ...filter }, sorted),
    rows: readChanges,
  },
  links: {
    track: createLinkTrack,
    rows: (db, keys, { toId }) => readLinks(db, keys, toId !== undefined),
  },
  hosts: {
    track: (db, _filter, { order, projectId }) =>
      createTableTrack(db, {
        ...{ table: 'host', alias: 'h', key: ['id'], order, within: [], joins: '' },
        fits:
          projectId === null
            ? []
            : [
                condition(
                  'EXISTS (SELECT 1 FROM host_queue q WHERE q.host_id = h.id AND q.project_id = ?)',
                  projectId,
                ),
              ],
      }),
    rows: (db, keys, _filter, { projectId }) => readListedHosts(db, keys, projectId),
  },
  runs: {
    track: trackRuns,
    rows: async (db, keys) => inOrderOf(keys, await db.runs(numbers(keys)), ({ run }) => [run]),
  },
  projects: {
    track: trackProjects,
    rows: async (db, keys) =>
      inOrderOf(
        numbers(keys).map((id) => [id]),
        await db.projects(numbers(keys)),
        ({ id }) => [id],
      ),
  },
  requests: { track: trackRequests, rows: readRequests },
};

function trackRuns(db: ListDatabase, { statuses }: RunListFilter, { order, projectId }: Sorted): Track {
  const fits = ofProject('r.project_id', projectId);
  if (statuses !== undefined) fits.push(oneOf('r.status', statuses));
  return createTableTrack(db, { table: 'run', alias: 'r', key: ['id'], order, within: [], joins: '', fits });
}

function trackRequests(db: ListDatabase, filter: RequestListFilter, { order, projectId }: Sorted): Track {
  const { pageId, run, host, kinds, hasFailed } = filter;
  const within: Condition[] = [];
  const fits: Condition[] = [];
  if (pageId !== undefined) {
    if (db.dialect.findsRequestsByPage) within.push(condition('page_id = ?', pageId));
    else fits.push(condition('q.page_id = ?', pageId));
  }
  if (run !== undefined) fits.push(condition('q.run_id = ?', run));
  if (projectId !== null)
    fits.push(condition('q.run_id IN (SELECT id FROM run WHERE project_id = ?)', projectId));
  if (host !== undefined) fits.push(condition('q.host_id IN (SELECT id FROM host WHERE name = ?)', host));
  if (kinds !== undefined)
    fits.push(
      oneOf(
        'q.kind',
        kinds.map((kind) => REQUEST_KINDS.indexOf(kind)),
      ),
    );
  if (hasFailed !== undefined) fits.push(condition(`q.failure IS ${hasFailed ? 'NOT ' : ''}NULL`));
  return createTableTrack(db, { table: 'request', alias: 'q', key: ['id'], order, within, joins: '', fits });
}

export function createListReader(db: ListDatabase): ListReader & FacetReader {
  /** Undefined for a project that there is none of. */
  async function findProject(filter: object): Promise<number | null | undefined> {
    const { project: name } = filter as { project?: string };
    if (name === undefined) return null;
    return (await db.ask<{ id: number }>('SELECT id FROM project WHERE name = ?', [name]))[0]?.id;
  }

  return {
    async list(name, { filter = {}, sort, order, limit = DEFAULT_LIMIT, cursor }) {
      checkFilter(name, filter);
      if (!Number.isInteger(limit) || limit < 1 || limit > MOST_ROWS)
        throw sumiError('list-limit', { limit, most: MOST_ROWS });
      const asked: AskedList = { name, filter, ...sortOf(name, sort, order) };
      const at = cursor === undefined ? null : readCursor(cursor, asked, keyLengthOf(name, asked.sort));
      const projectId = await findProject(filter);
      if (projectId === undefined) return { rows: [], next: null, previous: null };
      const sorted = { ...asked, projectId };
      const { keys, next, previous } = await walkList(await LISTS[name].track(db, filter, sorted), at, limit);
      return {
        rows: keys.length === 0 ? [] : await LISTS[name].rows(db, keys, filter, sorted),
        next: next && writeCursor(asked, next),
        previous: previous && writeCursor(asked, previous),
      };
    },

    async count(name, filter, sort) {
      checkFilter(name, filter);
      const projectId = await findProject(filter);
      const sorted = { ...sortOf(name, sort), projectId: projectId ?? null };
      const track = projectId === undefined ? emptyTrack(1) : await LISTS[name].track(db, filter, sorted);
      return countList(track);
    },

    ...createFacetReader(db),
  };
}

const KEY_LENGTHS: Record<ListName, number> = {
  ...{ pages: 1, visits: 3, changes: 3, links: 2 },
  ...{ hosts: 1, runs: 1, projects: 2, requests: 1 },
};

/** A sort by anything but the id has the id after it. */
const keyLengthOf = (name: ListName, sort: string) =>
  name === 'pages' && sort !== 'id' ? 2 : KEY_LENGTHS[name];

/** What is not known would be left out, and the answer would be of another question. */
function checkFilter(name: ListName, filter: object): void {
  if (!Object.hasOwn(LIST_FILTERS, name))
    throw sumiError('list-unknown', { list: name, expected: Object.keys(LIST_FILTERS).join(', ') });
  const unknown = Object.keys(filter).find((field) => !Object.hasOwn(LIST_FILTERS[name], field));
  if (unknown !== undefined)
    throw sumiError('list-filter', {
      ...{ list: name, filter: unknown },
      expected: Object.keys(LIST_FILTERS[name]).join(', '),
    });
}

function sortOf(name: ListName, sort?: string, order?: SortOrder): { sort: string; order: SortOrder } {
  const sorts = LIST_SORTS[name];
  const chosen = sort ?? Object.keys(sorts)[0];
  if (!Object.hasOwn(sorts, chosen))
    throw sumiError('list-sort', { list: name, sort: chosen, expected: Object.keys(sorts).join(', ') });
  if (order !== undefined && order !== 'asc' && order !== 'desc') throw sumiError('list-order', { order });
  return { sort: chosen, order: order ?? sorts[chosen].order };
}
