/**
 * Where each column of column-port.ts stands in the tables, for both stores, and the question that reads a batch of them. A
 * table that no wanted column needs is not joined. The views of `docs/tables.md` show the same values in other clothes.
 */
import { KNOWN_BY, VISIT_OUTCOMES } from '../change/visit-record.ts';
import { partsSql } from './change-parts.ts';
import type { ColumnQuestion, ColumnTable } from './column-port.ts';
import { pageColumns } from './page-views.ts';
import { wordSql } from './visit-rows.ts';

/** What the databases say differently. */
export interface ColumnDialect {
  hash(column: string): string;
  /** A number of 64 bits as text. */
  bits(column: string): string;
  /** A number with halves rounded up. */
  whole(number: string): string;
  /** A packed list as a JSON array. */
  list(column: string): string;
  /** Of a page's links `l`: the run that found each, as a JSON array; NULL where all are as old as the set. */
  linkRuns: string;
  /** Why the visit `v` had no answer. */
  failure: string;
  /** Keys hold the host besides the id. */
  isByHost: boolean;
  join: string;
  /** Rows stay in the order of the batch when they are joined: to sort them again would cost as much as to read them. */
  keepsOrder: boolean;
  parameter(number: number): string;
}

interface Join {
  alias: string;
  /** Without the word JOIN. */
  sql: string;
  isLeft?: true;
}

interface ColumnSource {
  /** The table whose key orders the rows, under the alias by which its columns are named. */
  base: string;
  alias: string;
  key: readonly string[];
  joins: readonly Join[];
  /** Names the project of a row, perhaps by a join. */
  projectId: string;
  columns: Readonly<Record<string, string>>;
}

export type ReadByKey = Exclude<ColumnTable, 'hosts'>;

const named = (alias: string, columns: readonly string[]) =>
  Object.fromEntries(columns.map((column) => [column, `${alias}.${column}`]));

const VISIT_KEY = ['run_id', 'page_id', 'visited_at'];

export function columnSources(dialect: ColumnDialect): Record<ReadByKey, ColumnSource> {
  const { hash, bits, whole, list, isByHost } = dialect;
  const sameHost = (a: string, b: string) => (isByHost ? ` AND ${a}.host_id = ${b}.host_id` : '');
  const urlOf = (alias: string): Join => ({
    alias: 'u',
    sql: `url u ON u.id = ${alias}.page_id${sameHost('u', alias)}`,
  });
  const run: Join = { alias: 'r', sql: 'run r ON r.id = v.run_id' };
  const same = (column: string) => column;
  return {
    pages: {
      base: 'url',
      alias: 'u',
      key: ['id'],
      joins: [
        { alias: 'h', sql: 'host h ON h.id = u.host_id' },
        { alias: 'f', sql: `fetched f ON f.page_id = u.id${sameHost('f', 'u')}`, isLeft: true },
      ],
      projectId: 'u.project_id',
      columns: {
        ...pageColumns({ time: same, hash, bits }),
        redirect_to: 'f.redirect_to',
        visited_run: 'f.run_id',
      },
    },
    link_sets: {
      base: 'link_set',
      alias: 'l',
      key: ['page_id'],
      joins: [urlOf('l')],
      projectId: 'u.project_id',
      columns: {
        ...named('l', ['page_id', 'run_id']),
        targets: list('l.targets'),
        flags: list('l.flags'),
        anchors: list('l.anchors'),
        runs: dialect.linkRuns,
      },
    },
    visits: {
      base: 'visit',
      alias: 'v',
      key: VISIT_KEY,
      joins: [run],
      projectId: 'r.project_id',
      columns: {
        ...named('v', ['page_id', 'run_id', 'visited_at', 'status_code', 'etag', 'last_modified']),
        ...named('v', ['simhash_distance', 'wire_bytes', 'bytes_saved']),
        outcome: wordSql('v.outcome', VISIT_OUTCOMES),
        known_by: wordSql('v.known_by', KNOWN_BY),
        known_by_number: 'v.known_by',
        content_hash: hash('v.content_hash'),
        text_hash: hash('v.text_hash'),
        duration_ms: whole('v.duration_ms'),
        failure: `CASE WHEN v.known_by = ${KNOWN_BY.indexOf('network')} THEN ${dialect.failure} END`,
      },
    },
    page_changes: {
      base: 'page_change',
      alias: 'c',
      key: VISIT_KEY,
      joins: [urlOf('c')],
      projectId: 'u.project_id',
      columns: {
        ...named('c', ['page_id', 'run_id', 'visited_at', 'detail']),
        url: 'u.url',
        parts: partsSql('c.parts'),
      },
    },
    sitemap_entries: {
      base: 'sitemap_entry',
      alias: 'e',
      key: ['page_id'],
      joins: [urlOf('e')],
      projectId: 'u.project_id',
      columns: {
        ...named('e', ['page_id', 'lastmod', 'changefreq', 'priority', 'sitemap', 'first_seen', 'last_seen']),
        ...named('e', ['lastmod_text', 'details']),
        url: 'u.url',
        project_id: 'u.project_id',
      },
    },
    runs: {
      base: 'run',
      alias: 'r',
      key: ['id'],
      joins: [{ alias: 'p', sql: 'project p ON p.id = r.project_id' }],
      projectId: 'r.project_id',
      columns: {
        ...named('r', ['id', 'started_at', 'finished_at', 'config_hash', 'status', 'pages', 'bytes']),
        ...named('r', ['requests', 'left_out', 'error', 'metadata', 'mode', 'mode_reason']),
        project: 'p.name',
        ...Object.fromEntries(
          VISIT_OUTCOMES.map((word, at) => [
            word,
            `(SELECT count(*) FROM visit v WHERE v.run_id = r.id AND v.outcome = ${at})`,
          ]),
        ),
        bytes_saved: '(SELECT COALESCE(sum(v.bytes_saved), 0) FROM visit v WHERE v.run_id = r.id)',
      },
    },
  };
}

export interface ColumnQuery {
  text: string;
  /** Columns of the key, which come first in each row. */
  keyWidth: number;
  /** What each row's key is greater than at first. */
  first: number[];
  /** Parameters: the key of the row before, these, and how many rows. */
  values: string[];
}

/** A batch is cut from the table of the key, and only its rows are joined with others. */
export function columnQuery(
  { base, alias, key, joins, projectId, columns }: ColumnSource,
  question: ColumnQuestion,
  { join, parameter, keepsOrder }: ColumnDialect,
): ColumnQuery {
  const wanted = question.columns.map((name) => {
    if (columns[name] === undefined) throw new TypeError(`${question.table} has no column ${name}`);
    return columns[name];
  });
  const ofProject = question.project === null ? '' : projectId;
  const needs = ({ alias: name }: Join, texts: readonly string[]) =>
    texts.some((text) => new RegExp(`\\b${name}\\.`).test(text));
  const joined = (texts: readonly string[]) =>
    joins
      .filter((one) => needs(one, texts))
      .map(({ sql, isLeft }) => ` ${isLeft ? 'LEFT JOIN' : join} ${sql}`)
      .join('');
  const keys = key.map((column) => `${alias}.${column}`);
  const places = keys.map((_, at) => parameter(at + 1));
  const conditions = [`(${keys.join(', ')}) > (${places.join(', ')})`];
  if (ofProject !== '')
    conditions.push(`${ofProject} = (SELECT id FROM project WHERE name = ${parameter(key.length + 1)})`);
  const values = question.project === null ? [] : [question.project];
  const order = `ORDER BY ${keys.join(', ')}`;
  const rows = `(SELECT ${alias}.* FROM ${base} ${alias}${joined([ofProject])}
    WHERE ${conditions.join(' AND ')} ${order} LIMIT ${parameter(key.length + values.length + 1)}) ${alias}`;
  return {
    text: `SELECT ${[...keys, ...wanted].join(', ')} FROM ${rows}${joined(wanted)}${keepsOrder ? '' : ` ${order}`}`,
    keyWidth: key.length,
    first: key.map(() => 0),
    values,
  };
}
