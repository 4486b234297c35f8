/**
 * How many pages have each value, and how they lie in folders. Without a filter the counts kept at a run's end answer;
 * while they are not of the present, and with a filter, the pages themselves are counted, as far as one call looks.
 *
 * Promise: where `isExact`, each number is the number of pages that the same filter lists with that value.
 */
import { ERROR_STATES, stateList } from '../frontier/counting-words.ts';
import { type PageStateCode, pageStateName } from '../frontier/page-state.ts';
import {
  type FacetCount,
  type FacetName,
  type Facets,
  FOLDER_COLUMNS,
  type Folder,
  type FolderCounts,
  type FolderTree,
  MOST_VALUES,
  NO_COUNTS,
} from './facet-names.ts';
import { ALL_RUNS, isCurrent, lastRunOf, RUNS_MARK, type RunsMark } from './index-state.ts';
import type { ListDatabase, ListDialect } from './list-database.ts';
import { MOST_LOOKED_AT, type PageListFilter } from './list-queries.ts';
import { mediaTypeSql, OF_STATUS } from './page-conditions.ts';
import { trackPages } from './page-track.ts';
import { folderPath, segmentsOf } from './section-paths.ts';
import { NO_DEPTH } from './settlement.ts';

export interface FacetReader {
  /** The filter names a project. */
  facets(by: FacetName, filter: PageListFilter): Promise<Facets>;
  /** Of the folder at this path, '' for all pages; the filter names a project and no section. */
  tree(path: string, filter: PageListFilter): Promise<FolderTree>;
}

const casesOf = (cases: Record<string, string>) =>
  `CASE ${Object.entries(cases)
    .map(([value, sql]) => `WHEN ${sql} THEN '${value}'`)
    .join(' ')} END`;

/** The rule's first words, as `ruleOf` has them. */
const ruleSql = ({ place }: ListDialect) => `CASE WHEN u.reason IS NULL OR u.reason = '' THEN NULL
  WHEN ${place('u.reason', "':'")} > 0 THEN substr(u.reason, 1, ${place('u.reason', "':'")})
  ELSE substr(u.reason, 1, ${place("u.reason || ' '", "' '")} - 1) END`;

const VALUES: Record<FacetName, (dialect: ListDialect) => string> = {
  status: () => casesOf(OF_STATUS),
  state: () => 'u.state',
  status_code: () => 'f.status_code',
  host: () => 'h.name',
  section: () => 'b.segment',
  depth: () => `NULLIF(u.depth, ${NO_DEPTH})`,
  change: () => 'f.change',
  reason: ruleSql,
  noindex: () => "CASE f.noindex WHEN 1 THEN 'true' WHEN 0 THEN 'false' END",
  content_type: mediaTypeSql,
};

const shownValue = (by: FacetName, value: string | number) =>
  by === 'state' ? pageStateName(Number(value) as PageStateCode) : String(value);

const byCount = (a: FacetCount, b: FacetCount) => b.pages - a.pages || (a.value < b.value ? -1 : 1);

interface Kept {
  projectId: number;
  isCurrent: boolean;
  asOfRun: number;
}

const isUnfiltered = ({ project: _, ...filter }: PageListFilter) =>
  Object.values(filter).every((value) => value === undefined);

export function createFacetReader(db: ListDatabase): FacetReader {
  async function findProject({ project = '' }: PageListFilter): Promise<number | null> {
    return (await db.ask<{ id: number }>('SELECT id FROM project WHERE name = ?', [project]))[0]?.id ?? null;
  }

  /** Null where nothing was counted yet. */
  async function findKept(projectId: number): Promise<Kept | null> {
    const [built] = await db.ask<{ built_from: string }>(
      "SELECT built_from FROM index_state WHERE project_id = ? AND kind = 'sections'",
      [projectId],
    );
    if (built === undefined) return null;
    const [mark] = await db.ask<RunsMark>(RUNS_MARK, [projectId, ALL_RUNS]);
    return {
      projectId,
      isCurrent: isCurrent(built.built_from, mark),
      asOfRun: lastRunOf(built.built_from),
    };
  }

  async function keptFacets(
    by: FacetName,
    { projectId, isCurrent: isExact, asOfRun }: Kept,
  ): Promise<Facets> {
    const rows = await db.ask<FacetCount>(
      `SELECT value, pages FROM facet_count WHERE project_id = ? AND facet = ? ORDER BY pages DESC, value LIMIT ${MOST_VALUES}`,
      [projectId, by],
    );
    const [{ total }] = await db.ask<{ total: number | null }>(
      "SELECT sum(pages) AS total FROM facet_count WHERE project_id = ? AND facet = 'state'",
      [projectId],
    );
    const items = rows.map(({ value, pages }) => ({ value, pages: Number(pages) }));
    return { items, total: Number(total), isExact, asOfRun };
  }

  async function liveFacets(by: FacetName, filter: PageListFilter, projectId: number): Promise<Facets> {
    const track = await trackPages(db, filter, { sort: 'id', order: 'asc', projectId });
    const { groups, looked } = await track.group<{ value: string | number | null; pages: number }>(
      MOST_LOOKED_AT,
      { key: VALUES[by](db.dialect), chosen: 'count(*) AS pages', folder: by === 'section' ? '' : null },
    );
    const items = groups.flatMap(({ value, pages }) =>
      value === null ? [] : [{ value: shownValue(by, value), pages: Number(pages) }],
    );
    return {
      items: items.sort(byCount).slice(0, MOST_VALUES),
      total: groups.reduce((sum, { pages }) => sum + Number(pages), 0),
      isExact: looked < MOST_LOOKED_AT,
      asOfRun: null,
    };
  }

  /** What is kept where it is of the present; else what is counted, unless that is a part only and something is kept. */
  async function either<Counted extends { isExact: boolean }>(
    filter: PageListFilter,
    projectId: number,
    ways: { kept(kept: Kept): Promise<Counted | null>; live(): Promise<Counted> },
  ): Promise<Counted> {
    const kept = isUnfiltered(filter) ? await findKept(projectId) : null;
    if (kept?.isCurrent === true) {
      const found = await ways.kept(kept);
      if (found !== null) return found;
    }
    const live = await ways.live();
    if (live.isExact || kept === null) return live;
    return (await ways.kept(kept)) ?? live;
  }

  return {
    async facets(by, filter) {
      const projectId = await findProject(filter);
      if (projectId === null) return { items: [], total: 0, isExact: true, asOfRun: null };
      return either(filter, projectId, {
        kept: (kept) => keptFacets(by, kept),
        live: () => liveFacets(by, filter, projectId),
      });
    },

    async tree(section, filter) {
      const path = folderPath(section);
      const projectId = await findProject(filter);
      if (projectId === null)
        return { folder: { path, ...NO_COUNTS }, folders: [], isExact: true, asOfRun: null };
      return either(filter, projectId, {
        kept: (kept) => keptTree(db, path, kept),
        live: () => liveTree(db, path, filter, projectId),
      });
    },
  };
}

const numbered = (row: FolderCounts): FolderCounts =>
  Object.fromEntries(
    FOLDER_COLUMNS.map((column) => [column, Number(row[column])]),
  ) as unknown as FolderCounts;

/** Null for folders that lie deeper than those that are kept. */
async function keptTree(
  db: ListDatabase,
  path: string,
  { projectId, isCurrent: isExact, asOfRun }: Kept,
): Promise<FolderTree | null> {
  const [kept] = await db.ask<{ pages: number }>(
    "SELECT pages FROM facet_count WHERE project_id = ? AND facet = 'deepest'",
    [projectId],
  );
  if (kept === undefined || segmentsOf(path) >= Number(kept.pages)) return null;
  const columns = FOLDER_COLUMNS.join(', ');
  const own = await db.ask<FolderCounts>(
    `SELECT ${columns} FROM section_count WHERE project_id = ? AND parent = ? AND path = ?`,
    [projectId, path === '' ? '-' : path.slice(0, path.lastIndexOf('/')), path],
  );
  // A single page is no folder: it is counted where it stands.
  if (own.length === 0) return null;
  const folders = await db.ask<Folder>(
    `SELECT path, ${columns} FROM section_count WHERE project_id = ? AND parent = ? ORDER BY pages DESC, path LIMIT ${MOST_VALUES}`,
    [projectId, path],
  );
  return {
    folder: { path, ...numbered(own[0]) },
    folders: folders.map((row) => ({ path: row.path, ...numbered(row) })),
    isExact,
    asOfRun,
  };
}

const oneIf = (sql: string) => `sum(CASE WHEN ${sql} THEN 1 ELSE 0 END)`;
const FOLDER_SUMS: Record<keyof FolderCounts, string> = {
  pages: 'count(*)',
  success: oneIf(OF_STATUS.success),
  failed: oneIf(OF_STATUS.failed),
  skipped: oneIf(OF_STATUS.skipped),
  waiting: oneIf(`u.state IN (${stateList(['Discovered', 'Queued', 'Fetching'])})`),
  errors: oneIf(`u.state IN (${stateList(ERROR_STATES)})`),
  changed: oneIf("f.change = 'changed'"),
  words: 'COALESCE(sum(f.word_count), 0)',
  answered: 'count(f.response_ms)',
  milliseconds: 'COALESCE(sum(f.response_ms), 0)',
};

async function liveTree(
  db: ListDatabase,
  path: string,
  filter: PageListFilter,
  projectId: number,
): Promise<FolderTree> {
  const inFolder = path === '' ? filter : { ...filter, section: path };
  const track = await trackPages(db, inFolder, { sort: 'id', order: 'asc', projectId });
  // Something stands below it where its slash is followed by another one.
  const isBelow = 'length(b.below) > length(b.segment)';
  const sums = FOLDER_COLUMNS.map((column) => `${FOLDER_SUMS[column]} AS ${column}`).join(', ');
  const { groups, looked } = await track.group<FolderCounts & { value: string | null; deeper: number }>(
    MOST_LOOKED_AT,
    { key: 'b.segment', chosen: `${sums}, ${oneIf(isBelow)} AS deeper`, folder: path },
  );
  const folder: FolderCounts = { ...NO_COUNTS };
  const folders: Folder[] = [];
  for (const { value, deeper, ...row } of groups) {
    const counts = numbered(row);
    for (const column of FOLDER_COLUMNS) folder[column] += counts[column];
    if (value !== null && Number(deeper) > 0) folders.push({ path: `${path}${value}`, ...counts });
  }
  folders.sort((a, b) => b.pages - a.pages || (a.path < b.path ? -1 : 1));
  return {
    folder: { path, ...folder },
    folders: folders.slice(0, MOST_VALUES),
    isExact: looked < MOST_LOOKED_AT,
    asOfRun: null,
  };
}
