/**
 * What a project knows as a file, made while it is sent: lists are read a page of results at a time, so that memory stays flat
 * and a run may go on meanwhile. The rows are those of the lists, with the same filters. Whoever stops reading stops the
 * questions.
 */
import { type Change, ChangeSchema } from '../contract/changes.ts';
import { EXPORTS, type ExportFormatName, type ExportSubject, MEDIA_TYPES } from '../contract/export.ts';
import type { ListAnswer } from '../contract/lists.ts';
import type { PageQuery } from '../contract/page-query.ts';
import {
  type CrawledPage,
  FIELDS_OF_LISTS,
  type PageField,
  type PageLink,
  PageLink as PageLinkSchema,
} from '../contract/pages.ts';
import { sumiError } from '../errors.ts';
import { parquetPieces, type RowColumn } from '../export/parquet-pieces.ts';
import { rowPieces } from '../export/row-pieces.ts';
import { drawReport } from '../project/draw-report.ts';
import type { GraphExport } from '../project/export-link-graph.ts';
import { reportOnRun } from '../project/report-on-run.ts';
import type { ProjectRow } from '../store/read-side.ts';
import type { Answering } from './answering.ts';
import { chooseFields, describePage, NO_CONTENT } from './describe-page.ts';
import type { PageOfList } from './list-answer.ts';
import { readResults } from './list-answer.ts';
import { type ChangesQuestion, listChangesOf } from './list-changes.ts';
import { readContent } from './list-pages.ts';
import { pageQueryOf } from './page-query.ts';
import { type LinksQuestion, listLinks } from './read-site.ts';
import { readingOf } from './reading-of.ts';
import { renderAtom } from './render-atom.ts';

type Asked = Pick<Answering, 'side' | 'storeLabel' | 'askProject'>;

export interface ExportQuestion {
  what: ExportSubject;
  /** Unless said: the first one of its kind. */
  format?: ExportFormatName;
  pages: PageQuery;
  /** Of pages. */
  fields?: readonly PageField[];
  links: Omit<LinksQuestion, keyof PageOfList>;
  changes: Omit<ChangesQuestion, keyof PageOfList>;
  graphOf?: GraphExport['of'];
  /** Which of the two files that tables of a graph are. */
  table?: 'edges' | 'nodes';
  /** Of the report; undefined: the whole history. */
  run?: number;
  /** Where the export is asked for. */
  selfUrl: string;
  now: number;
  /** Aborted when whoever asked has left. */
  gone: AbortSignal;
}

export interface ExportedFile {
  /** ASCII letters, digits, dots and hyphens only. */
  fileName: string;
  mediaType: string;
  pieces: AsyncIterable<string | Uint8Array>;
}

const LONGEST_NAME = 60;

/** Pieces are made when they are read; so is what goes wrong, but for a format that the subject does not have. */
export function exportProject(asked: Asked, project: ProjectRow, question: ExportQuestion): ExportedFile {
  const { what, format = EXPORTS[question.what][0] } = question;
  const formats: readonly ExportFormatName[] = EXPORTS[what];
  if (!formats.includes(format)) {
    const detail = `Expected one of ${formats.join(', ')}.`;
    const errors = [{ pointer: '/format', detail }];
    throw sumiError('export-format', { what, format, expected: formats.join(', '), errors });
  }
  const pieces = PIECES[what](asked, project, { ...question, format });
  const slug = project.project
    .normalize('NFKD')
    .replace(/[^A-Za-z0-9.-]+/g, '-')
    .replace(/^[-.]+|[-.]+$/g, '')
    .slice(0, LONGEST_NAME);
  const table = what === 'graph' && isTable(format) ? `-${question.table ?? 'edges'}` : '';
  return {
    fileName: `${slug === '' ? 'project' : slug}-${what}${table}.${format}`,
    mediaType: MEDIA_TYPES[format],
    pieces,
  };
}

const isTable = (format: ExportFormatName) => format === 'csv' || format === 'parquet';

type Chosen = ExportQuestion & { format: ExportFormatName };
type Pieces = AsyncIterable<string | Uint8Array>;

const PIECES: Record<ExportSubject, (asked: Asked, project: ProjectRow, question: Chosen) => Pieces> = {
  pages: pagePieces,
  links: (asked, project, { links, format }) =>
    listPieces(
      rowsOf((place) => listLinks(asked, project, { ...links, ...place })),
      format,
      LINK_COLUMNS,
    ),
  changes: changePieces,
  graph: graphPieces,
  report: reportPieces,
};

const ROWS_A_CALL = 1000;

async function* rowsOf<Row>(read: (place: PageOfList) => Promise<ListAnswer<Row>>): AsyncGenerator<Row[]> {
  let cursor: string | undefined;
  do {
    const { items, next_cursor } = await read({ limit: ROWS_A_CALL, cursor });
    if (items.length > 0) yield items;
    cursor = next_cursor ?? undefined;
  } while (cursor !== undefined);
}

type Types<Row> = { [Name in keyof Row & string]: RowColumn<Row>['type'] };
const columnsOf = <Row>(types: Types<Row>) =>
  Object.entries(types).map(([name, type]) => ({ name, type })) as RowColumn<Row>[];

function listPieces<Row extends object>(
  rows: AsyncIterable<Row[]>,
  format: ExportFormatName,
  columns: readonly RowColumn<Row>[],
): Pieces {
  if (format === 'parquet') return parquetPieces(asCells(rows), columns);
  const names = columns.map(({ name }) => name);
  return rowPieces<Row>({ rows, format: format as 'csv' | 'jsonl' | 'json', names, columns: [] });
}

/** Lists in a cell are JSON. */
async function* asCells<Row extends object>(rows: AsyncIterable<Row[]>): AsyncGenerator<Row[]> {
  const cellOf = (value: unknown) => (Array.isArray(value) ? JSON.stringify(value) : value);
  for await (const some of rows)
    yield some.map(
      (row) => Object.fromEntries(Object.entries(row).map(([name, value]) => [name, cellOf(value)])) as Row,
    );
}

const PAGE_TYPES: Partial<Record<PageField, RowColumn<CrawledPage>['type']>> = {
  ...{ word_count: 'integer', status_code: 'integer', depth: 'integer', content_length: 'long' },
  ...{ noindex: 'boolean', nofollow: 'boolean', has_body: 'boolean', change_frequency: 'number' },
  ...{ changes_detected: 'integer', response_ms: 'number', redirect_count: 'integer', priority: 'integer' },
  ...{ attempts: 'integer', discovered_run: 'long', visited_run: 'long', left_run: 'long' },
};

const LINK_COLUMNS = columnsOf<PageLink>({
  ...(Object.fromEntries(
    Object.keys(PageLinkSchema.shape).map((name) => [name, 'string']),
  ) as Types<PageLink>),
  ...{ nofollow: 'boolean', discovered_run: 'long', to_status: 'integer' },
});

function pagePieces(
  { side }: Asked,
  project: ProjectRow,
  { pages, fields = FIELDS_OF_LISTS, format }: Chosen,
): Pieces {
  const wanted = pageQueryOf(pages, project.project);
  const wants = { text: fields.includes('content_text'), links: fields.includes('links_found') };
  async function* rows(): AsyncGenerator<Partial<CrawledPage>[]> {
    let cursor: string | undefined;
    do {
      const results = await readResults(side, 'pages', wanted, { limit: ROWS_A_CALL, cursor });
      // Texts are long: a row at a time.
      const describe = async (row: (typeof results.rows)[number]) => {
        const content = wants.text || wants.links ? await readContent(side, row.id, wants) : NO_CONTENT;
        return chooseFields(describePage(row, project.uid, content), fields);
      };
      if (wants.text || wants.links) for (const row of results.rows) yield [await describe(row)];
      else yield await Promise.all(results.rows.map(describe));
      cursor = results.next ?? undefined;
    } while (cursor !== undefined);
  }
  const columns = fields.map((name) => ({ name, type: PAGE_TYPES[name] ?? ('string' as const) }));
  return listPieces<Partial<CrawledPage>>(rows(), format, columns);
}

const CHANGE_COLUMNS = Object.keys(ChangeSchema.shape).map((name) => ({
  name: name as keyof Change,
  type: 'string' as const,
}));

async function* changePieces(
  asked: Asked,
  project: ProjectRow,
  question: Chosen,
): AsyncGenerator<string | Uint8Array> {
  const { changes, format, selfUrl } = question;
  const rows = rowsOf((place) => listChangesOf(asked, project, { ...changes, ...place }));
  if (format !== 'atom') return yield* listPieces(rows, format, CHANGE_COLUMNS);
  async function* each() {
    for await (const some of rows) yield* some;
  }
  yield* renderAtom({ ...(await feedOf(asked, project)), selfUrl, nextUrl: null }, each());
}

/** What a feed of the project says of itself. */
export async function feedOf({ side }: Pick<Answering, 'side'>, project: ProjectRow) {
  const run = await side.lastRun(project.id);
  return {
    projectUid: project.uid,
    projectName: project.project,
    updated: run === null ? project.created_at : (run.finished_at ?? run.started_at),
  };
}

function graphPieces({ askProject }: Asked, project: ProjectRow, question: Chosen): Pieces {
  const { graphOf: of = 'pages', table = 'edges', gone } = question;
  const format = question.format as GraphExport['format'];
  return askProject(project, { ask: 'graph-file', of, format, table }, gone);
}

async function* reportPieces(
  asked: Asked,
  project: ProjectRow,
  { format, run, now }: Chosen,
): AsyncGenerator<string> {
  const reading = readingOf(asked, project);
  if (format === 'html') yield await drawReport(reading, run, now);
  else yield `${JSON.stringify({ project_id: project.uid, ...(await reportOnRun(reading, run)) })}\n`;
}
