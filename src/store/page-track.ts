/**
 * How a list of pages is walked. A project's pages stand in the order of the list in one of its indexes; where a filter
 * finds them by an index of its own, only the pages that it finds are looked at: in the order of their ids by merging one
 * range for each value, in another order by sorting what was found, as long as that is little.
 *
 * Promise: whichever way is taken, the rows are the same and in the same order. Without the indexes of `sumi index sorts`
 * all known URLs are walked by their ids, and other orders are refused.
 */
import { sumiError } from '../errors.ts';
import { CRAWLED_PAGES_STATUS } from '../frontier/counting-words.ts';
import { PAGE_STATES, type PageState } from '../frontier/page-state.ts';
import { readHosts } from './host-filter.ts';
import type { Cut, KeyValue } from './list-cursor.ts';
import type { ListDatabase, ListDialect } from './list-database.ts';
import { LIST_SORTS, PAGE_INDEXES, type PageListFilter, type SortOrder } from './list-queries.ts';
import { hasInUrl, oneOf, pageConditions, statesOf } from './page-conditions.ts';
import { NO_DEPTH } from './settlement.ts';
import { type Condition, condition, emptyTrack, onward } from './table-track.ts';
import { wordsOf } from './text-words.ts';
import type { Seen, Track } from './walk-list.ts';

interface Sorted {
  sort: string;
  order: SortOrder;
  /** Null where no project is asked for. */
  projectId: number | null;
}

/** So few found by an index are sorted for an answer. */
const FEW = 4000;
/** Ranges of an index that are merged; more values are looked for along the way. */
const MOST_RANGES = 40;
/** A compound of more projects than these is refused by SQLite. */
const MOST_PROJECTS = 400;

/** Pages that have one of these values, found by an index. */
interface Lead {
  table: 'url' | 'fetched';
  column: string;
  values: readonly (number | string)[];
}

const idOf = (table: 'url' | 'fetched') => (table === 'url' ? 'id' : 'page_id');

export interface PageTrack extends Track {
  /** Of the first rows: those that fit by groups, with what is asked of each group; `rows` counts all that were looked at. */
  group<Row>(size: number, by: Grouping): Promise<{ groups: Row[]; looked: number }>;
}

/** Expressions on `u`, `h` and `f`. */
export interface Grouping {
  key: string;
  chosen: string;
  /** Then `b` has of each page in this folder its path from there (`below`), and the first segment of that. */
  folder: string | null;
}

export async function trackPages(
  db: ListDatabase,
  filter: PageListFilter,
  sorted: Sorted,
): Promise<PageTrack> {
  const { sort, order, projectId } = sorted;
  if (filter.words !== undefined) return trackWords(db, filter.words, filter, sorted);
  const indexes = await indexesOf(db);
  const searched = filter.search === undefined ? [] : [await searchIn(db, filter.search, projectId)];
  if (sort === 'id' && (projectId === null || !indexes.has('url_of_project')))
    return createTrack(db, {
      ...{ order, fits: conditionsOf(db, filter, projectId, searched) },
      ...ofTable(db, { sql: 'url', values: [], id: 'id' }),
    });
  const { index, table = 'url' } = LIST_SORTS.pages[sort];
  if (sort !== 'id' && !indexes.has(index)) throw sumiError('sort-unserved', { sort });
  const projects = projectId === null ? await allProjects(db) : [projectId];
  if (projects.length === 0) return noPages(sort === 'id' ? 1 : 2);
  // What an index promises of the project needs no second look.
  const fits = conditionsOf(db, filter, null, searched);
  const lead = projectId === null ? null : await bestLead(db, filter, projectId, indexes);
  if (lead?.values.length === 0) return noPages(sort === 'id' ? 1 : 2);
  if (sort === 'id') {
    const source = lead === null || (lead.count > FEW && lead.values.length > MOST_RANGES) ? null : lead;
    return createTrack(db, { order, fits, ...byId(db, projectId!, source) });
  }
  const column = { table, name: sort };
  const few = lead !== null && lead.count <= FEW ? lead : null;
  return createTrack(db, { order, fits, ...byColumn(db, projects, column, few) });
}

interface Conditions {
  fits: Condition[];
  joins: string;
}

function conditionsOf(
  db: ListDatabase,
  filter: PageListFilter,
  projectId: number | null,
  searched: readonly Condition[],
): Conditions {
  const { dialect } = db;
  const { fits, needsFetched, needsHost } = pageConditions(filter, dialect, projectId);
  const host = needsHost ? 'JOIN host h ON h.id = u.host_id' : '';
  const fetched = needsFetched ? `LEFT JOIN fetched f ON f.page_id = u.id ${dialect.sameHost('f', 'u')}` : '';
  return { fits: [...fits, ...searched], joins: `${host} ${fetched}` };
}

/** All rows of a table, or of a question that stands for one, by the page's id. */
const ofTable = (
  db: ListDatabase,
  { sql, values, id }: { sql: string; values: readonly unknown[]; id: string },
): Source => ({
  key: ['id'],
  rows(cut, size) {
    const { condition: onwards, order } = cut([id]);
    const where = onwards === null ? '' : `WHERE ${onwards.sql}`;
    return {
      sql: `SELECT * FROM (SELECT ${id} AS id${db.dialect.hostColumn} FROM ${sql} t ${where} ORDER BY ${order} LIMIT ${size}) x`,
      values: [...values, ...(onwards?.values ?? [])],
    };
  },
});

const noPages = (keyLength: number): PageTrack => ({
  ...emptyTrack(keyLength),
  group: async () => ({ groups: [], looked: 0 }),
});

async function indexesOf(db: ListDatabase): Promise<Set<string>> {
  const names = PAGE_INDEXES.map(({ name }) => name);
  const rows = await db.ask<{ name: string }>(db.dialect.indexesAmong(names.length), names);
  return new Set(rows.map(({ name }) => name));
}

async function allProjects(db: ListDatabase): Promise<number[]> {
  const rows = await db.ask<{ id: number }>(
    `SELECT id FROM project ORDER BY id LIMIT ${MOST_PROJECTS + 1}`,
    [],
  );
  if (rows.length > MOST_PROJECTS) throw sumiError('sort-projects', { most: MOST_PROJECTS });
  return rows.map(({ id }) => id);
}

/** The filter that finds fewest pages by an index; null where none has one. */
async function bestLead(
  db: ListDatabase,
  filter: PageListFilter,
  projectId: number,
  indexes: ReadonlySet<string>,
): Promise<(Lead & { count: number }) | null> {
  let best: (Lead & { count: number }) | null = null;
  for (const lead of await leadsOf(db, filter, projectId)) {
    const name = `${lead.table}_of_${lead.column}`;
    if (!indexes.has(name)) continue;
    const found = await countFew(db, lead, projectId);
    if (best === null || found < best.count) best = { ...lead, count: found };
  }
  return best;
}

/** Numbers stand in the text, so that SQLite sees that an index of some rows serves. */
const written = (value: number | string) => (typeof value === 'number' ? String(value) : '?');
const bound = (values: readonly (number | string)[]) => values.filter((value) => typeof value !== 'number');

async function countFew(
  db: ListDatabase,
  { table, column, values }: Lead,
  projectId: number,
): Promise<number> {
  if (values.length === 0) return 0;
  const [{ n }] = await db.ask<{ n: number }>(
    `SELECT count(*) AS n FROM (SELECT 1 FROM ${table} WHERE project_id = ${projectId}
       AND ${column} ${values.length === 1 ? `= ${written(values[0])}` : `IN (${values.map(written).join(', ')})`}
       LIMIT ${FEW + 1}) x`,
    bound(values),
  );
  return Number(n);
}

async function leadsOf(db: ListDatabase, filter: PageListFilter, projectId: number): Promise<Lead[]> {
  const { states, statuses, statusCodes, statusClasses, statusIn, changes, noindex, hosts } = filter;
  const { minDepth, maxDepth } = filter;
  const leads: Lead[] = [];
  const add = (table: Lead['table'], column: string, values: Lead['values']) =>
    void leads.push({ table, column, values: [...new Set(values)] });
  if (states !== undefined) add('url', 'state', statesOf(states));
  if (statuses !== undefined) add('url', 'state', statesOf(statesOfStatuses(statuses)));
  const codesIn = (classes: readonly number[]) =>
    Promise.all(
      classes.map((first) =>
        valuesBetween(db, { table: 'fetched', column: 'status_code' }, projectId, [
          first * 100,
          first * 100 + 99,
        ]),
      ),
    ).then((found) => found.flat());
  if (statusCodes !== undefined) add('fetched', 'status_code', statusCodes);
  if (statusClasses !== undefined) add('fetched', 'status_code', await codesIn(statusClasses));
  if (statusIn !== undefined)
    add('fetched', 'status_code', [...statusIn.codes, ...(await codesIn(statusIn.classes))]);
  if (changes !== undefined) add('fetched', 'change', changes);
  if (noindex === true) add('fetched', 'noindex', [1]);
  if (hosts !== undefined) add('url', 'host_id', await hostIds(db, hosts));
  if (minDepth !== undefined || maxDepth !== undefined) {
    const range: [number, number] = [minDepth ?? 0, Math.min(maxDepth ?? NO_DEPTH, NO_DEPTH - 1)];
    add('url', 'depth', await valuesBetween(db, { table: 'url', column: 'depth' }, projectId, range));
  }
  return leads;
}

/** With those that robots.txt's word may have moved to another status. */
function statesOfStatuses(statuses: readonly string[]): PageState[] {
  const wanted = new Set(statuses.includes('skipped') ? [...statuses, 'failed'] : statuses);
  return (Object.keys(PAGE_STATES) as PageState[]).filter((state) =>
    wanted.has(CRAWLED_PAGES_STATUS[state] ?? ''),
  );
}

async function hostIds(db: ListDatabase, hosts: readonly string[]): Promise<number[]> {
  const all = oneOf('name', [...new Set(readHosts(hosts).hosts)]);
  const rows = await db.ask<{ id: number }>(`SELECT id FROM host WHERE ${all.sql}`, all.values);
  return rows.map(({ id }) => id);
}

/** The values that an index has between these two, both included: one step of the index each. */
async function valuesBetween(
  db: ListDatabase,
  { table, column }: Pick<Lead, 'table' | 'column'>,
  projectId: number,
  [least, most]: readonly [number, number],
): Promise<number[]> {
  const next = (after: string) =>
    `(SELECT min(${column}) FROM ${table} WHERE project_id = ${projectId} AND ${column} > ${after} AND ${column} <= ${most})`;
  const rows = await db.ask<{ v: number }>(
    `WITH RECURSIVE found (v) AS (SELECT ${next(String(least - 1))} UNION ALL
       SELECT ${next('found.v')} FROM found WHERE found.v IS NOT NULL) SELECT v FROM found WHERE v IS NOT NULL`,
    [],
  );
  return rows.map(({ v }) => Number(v));
}

type CutOf = (columns: readonly string[]) => { condition: Condition | null; order: string };

/** A question for the next rows from a cut, as `id`, `k` and what a join by page needs. */
interface Source {
  /** The columns of the key, by the names that the source gives them. */
  key: readonly string[];
  rows(cut: CutOf, size: number): { sql: string; values: unknown[] };
}

function ranges(
  db: ListDatabase,
  projectIds: readonly number[],
  lead: Lead | null,
  { cut, size }: { cut: CutOf | null; size: number },
): { sql: string; values: unknown[] } {
  const table = lead?.table ?? 'url';
  const own = idOf(table);
  const values: unknown[] = [];
  const parts = projectIds.flatMap((projectId) =>
    (lead?.values ?? [null]).map((value) => {
      const conditions = [`project_id = ${projectId}`];
      if (value !== null) {
        conditions.push(`${lead!.column} = ${written(value)}`);
        values.push(...bound([value]));
      }
      const from = cut?.([own]);
      if (from !== undefined && from.condition !== null) {
        conditions.push(from.condition.sql);
        values.push(...from.condition.values);
      }
      const order = from === undefined ? '' : `ORDER BY ${from.order}`;
      return `SELECT * FROM (SELECT ${own} AS id${db.dialect.hostColumn} FROM ${table}
        WHERE ${conditions.join(' AND ')} ${order} LIMIT ${size}) x`;
    }),
  );
  return { sql: parts.join(' UNION ALL '), values };
}

function byId(db: ListDatabase, projectId: number, lead: Lead | null): Source {
  return {
    key: ['id'],
    rows: (cut, size) => ranges(db, [projectId], lead, { cut, size }),
  };
}

function byColumn(
  db: ListDatabase,
  projectIds: readonly number[],
  { table, name }: { table: 'url' | 'fetched'; name: string },
  few: Lead | null,
): Source {
  const own = idOf(table);
  const host = db.dialect.hostColumn;
  const hasValue = name === 'depth' ? `${name} < ${NO_DEPTH}` : `${name} IS NOT NULL`;
  const part = (from: string, belongs: string, cut: CutOf, size: number) => {
    const { condition: onwards, order } = cut([name, own]);
    const more = onwards === null ? '' : `AND ${onwards.sql}`;
    return {
      sql: `SELECT * FROM (SELECT ${own} AS id, ${name} AS k${host} FROM ${from} WHERE ${belongs} ${hasValue} ${more}
        ORDER BY ${order} LIMIT ${size}) x`,
      values: onwards?.values ?? [],
    };
  };
  return {
    key: ['k', 'id'],
    rows(cut, size) {
      if (few !== null) {
        const found = ranges(db, projectIds, few, { cut: null, size: FEW + 1 });
        const hosts = host === '' ? '' : ', s.host_id';
        const source = `(SELECT s.${own}, s.${name}${hosts} FROM (${found.sql}) r JOIN ${table} s
          ON s.${own} = r.id ${db.dialect.sameHost('s', 'r')}) y`;
        const { sql, values } = part(source, '', cut, size);
        return { sql, values: [...found.values, ...values] };
      }
      const parts = projectIds.map((id) => part(table, `project_id = ${id} AND`, cut, size));
      return {
        sql: parts.map(({ sql }) => sql).join(' UNION ALL '),
        values: parts.flatMap(({ values }) => values),
      };
    },
  };
}

function createTrack(
  db: ListDatabase,
  { order, fits: { fits, joins }, key, rows }: Source & { order: SortOrder; fits: Conditions },
): PageTrack {
  const fitting = fits.length === 0 ? '1 = 1' : fits.map(({ sql }) => `(${sql})`).join(' AND ');
  const page = fits.length === 0 ? '' : `JOIN url u ON u.id = b.id ${db.dialect.sameHost('u', 'b')} ${joins}`;
  const fitValues = fits.flatMap(({ values }) => values);
  const chosen = (prefix: string) => key.map((column, i) => `${prefix}${column} AS k${i}`).join(', ');
  const keyOf = (row: Record<string, KeyValue>) => key.map((_, i) => row[`k${i}`]);

  /** The next rows as a question, in the order of the walk. */
  function batch(from: Cut | null, direction: 'forward' | 'back', size: number) {
    const { sign, sorted } = onward(order, from, direction);
    const inOrder = (columns: readonly string[]) => columns.map((column) => `${column} ${sorted}`).join(', ');
    const source = rows(
      (columns) => ({
        condition: from === null ? null : cutCondition(columns, sign, from),
        order: inOrder(columns),
      }),
      size,
    );
    const sql = `(SELECT * FROM (${source.sql}) a ORDER BY ${inOrder(key)} LIMIT ${size})`;
    return { sql, values: source.values, inOrder };
  }

  return {
    keyLength: key.length,
    async step(from, direction, size) {
      const { sql, values, inOrder } = batch(from, direction, size);
      const found = await db.ask<Record<string, KeyValue>>(
        `SELECT ${chosen('b.')}, CASE WHEN ${fitting} THEN 1 ELSE 0 END AS fits FROM ${sql} b ${page}
         ORDER BY ${inOrder(key.map((column) => `b.${column}`))}`,
        [...fitValues, ...values],
      );
      return found.map((row): Seen => ({ key: keyOf(row), fits: row.fits === 1 }));
    },
    // One statement sees one state of the store: the last row that was looked at is that of the rows that fit.
    async leap(from, direction, { size, most }) {
      const { sql, values, inOrder } = batch(from, direction, size);
      const names = inOrder(key.map((_, i) => `k${i}`));
      const found = await db.ask<Record<string, KeyValue>>(
        `SELECT * FROM (SELECT ${chosen('b.')}, 1 AS fits FROM ${sql} b ${page} WHERE ${fitting} ORDER BY ${names} LIMIT ${most}) x
         UNION ALL SELECT * FROM (SELECT ${chosen('b.')}, 0 AS fits FROM ${sql} b ORDER BY ${names} LIMIT 1 OFFSET ${size - 1}) y`,
        [...values, ...fitValues, ...values],
      );
      const end = found.find((row) => row.fits === 0);
      return {
        fits: found.filter((row) => row.fits === 1).map(keyOf),
        end: end === undefined ? null : keyOf(end),
      };
    },
    async tally(size) {
      const { sql, values } = batch(null, 'forward', size);
      const [{ fitting: count, looked }] = await db.ask<{ fitting: number; looked: number }>(
        `SELECT (SELECT count(*) FROM ${sql} b ${page} WHERE ${fitting}) AS fitting,
           (SELECT count(*) FROM ${sql} b) AS looked`,
        [...values, ...fitValues, ...values],
      );
      return { fitting: Number(count), looked: Number(looked) };
    },
    async group<Row>(size: number, { key: by, chosen: wanted, folder }: Grouping) {
      const { dialect } = db;
      const { sql, values } = batch(null, 'forward', size);
      const grouped = folder === null ? sql : withPaths(dialect, sql, { folder, size });
      const groups = await db.ask<Row>(
        `SELECT ${by} AS value, ${wanted} FROM ${grouped} b JOIN url u ON u.id = b.id ${dialect.sameHost('u', 'b')}
           JOIN host h ON h.id = u.host_id LEFT JOIN fetched f ON f.page_id = u.id ${dialect.sameHost('f', 'u')}
         WHERE ${fitting} GROUP BY 1`,
        [...values, ...fitValues],
      );
      const [{ looked }] = await db.ask<{ looked: number }>(
        `SELECT count(*) AS looked FROM ${sql} b`,
        values,
      );
      return { groups, looked: Number(looked) };
    },
  };
}

/** Step by step, each with a limit: else the databases put one into the other, and count the same letters again and again. */
function withPaths(
  { place, hostColumn, sameHost }: ListDialect,
  batch: string,
  { folder, size }: { folder: string; size: number },
): string {
  const limit = `LIMIT ${size}`;
  const host = hostColumn.replace(', ', ', v.');
  const rest = `SELECT v.id${host}, substr(v.url, ${place('v.url', "'//'")} + 2) AS rest
    FROM ${batch} p JOIN url v ON v.id = p.id ${sameHost('v', 'p')} ${limit}`;
  const path = `SELECT id${hostColumn}, substr(rest, ${place("rest || '/'", "'/'")}) AS path FROM (${rest}) p1 ${limit}`;
  const plain = `substr(path, 1, ${place("path || '?'", "'?'")} - 1)`;
  const below = `SELECT id${hostColumn}, substr(${plain}, ${[...folder].length + 1}) AS below FROM (${path}) p2 ${limit}`;
  const segment = `'/' || substr(substr(below, 2), 1, ${place("substr(below, 2) || '/'", "'/'")} - 1)`;
  return `(SELECT id${hostColumn}, below, CASE WHEN length(below) > 1 THEN ${segment} END AS segment
    FROM (${below}) p3 ${limit})`;
}

const cutCondition = (columns: readonly string[], sign: string, { key }: Cut): Condition =>
  columns.length === 1
    ? condition(`${columns[0]} ${sign} ?`, key[0])
    : condition(`(${columns.join(', ')}) ${sign} (${columns.map(() => '?').join(', ')})`, ...key);

async function hasFullText(db: ListDatabase, projectId: number | null): Promise<boolean> {
  const built = await db.ask(
    `SELECT 1 FROM index_state WHERE kind = 'full-text'${projectId === null ? '' : ' AND project_id = ?'}`,
    projectId === null ? [] : [projectId],
  );
  return built.length > 0;
}

/** A part of the URL, or all of the words: few pages that have them are found first, of many each is asked. */
async function searchIn(db: ListDatabase, text: string, projectId: number | null): Promise<Condition> {
  const { dialect } = db;
  const inUrl = hasInUrl(text, dialect);
  const words = wordsOf(text);
  if (words.length === 0 || !(await hasFullText(db, projectId))) return inUrl;
  const all = dialect.pagesWith(words);
  const found = await db.ask<{ page_id: number }>(
    `SELECT page_id FROM ${all.sql} x LIMIT ${FEW + 1}`,
    all.values,
  );
  if (found.length === 0) return inUrl;
  const inText =
    found.length > FEW
      ? dialect.hasWords(words)
      : condition(`u.id IN (${found.map(({ page_id }) => Number(page_id)).join(', ')})`);
  return condition(`${inUrl.sql} OR ${inText.sql}`, ...inUrl.values, ...inText.values);
}

/** Of the pages that have the words, those that fit otherwise. */
async function trackWords(
  db: ListDatabase,
  text: string,
  filter: PageListFilter,
  { sort, order, projectId }: Sorted,
): Promise<PageTrack> {
  if (sort !== 'id') throw sumiError('list-sort', { list: 'pages with words', sort, expected: 'id' });
  if (!(await hasFullText(db, projectId))) throw sumiError('full-text-missing', {});
  const words = wordsOf(text);
  if (words.length === 0) return noPages(1);
  const { dialect } = db;
  const { sql, values } = dialect.pagesWith(words);
  const searched = filter.search === undefined ? [] : [await searchIn(db, filter.search, projectId)];
  const conditions = conditionsOf(db, filter, projectId, searched);
  return createTrack(db, { order, fits: conditions, ...ofTable(db, { sql, values, id: 'page_id' }) });
}
