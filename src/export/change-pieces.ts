/** A list of changes in each format: text, Markdown and a page for people, tables and rows for programs. */
import type { ToldChange } from '../change/told-change.ts';
import { renderChanges } from '../render/render-changes.ts';
import { renderChangesMarkdown } from '../render/render-changes-markdown.ts';
import type { Column } from '../render/render-table.ts';
import { type ChangesList, explainOutcome } from '../render/told-words.ts';
import { type ListFormat, NO_SCREEN, rowPieces, type Screen } from './row-pieces.ts';

export const CHANGE_FORMATS = ['text', 'table', 'json', 'jsonl', 'csv', 'markdown', 'html'] as const;
export type ChangeFormat = (typeof CHANGE_FORMATS)[number];

/** Programs get rows in their order; people get them in sections. */
export interface TellableChanges {
  rows: () => AsyncIterable<ToldChange>;
  list: () => ChangesList;
  /** Of a row's columns. */
  names: readonly (keyof ToldChange)[];
  /** What JSON says of all rows together; the rows are its `pages` then. */
  summary?: Readonly<Record<string, unknown>>;
}

export interface ChangePiecesOptions {
  format: ChangeFormat;
  /** Begin CSV with a byte order mark. */
  bom?: boolean;
  screen?: Screen;
}

const COLUMNS: readonly Column<ToldChange>[] = [
  { title: 'run', value: (row) => row.run, align: 'right' },
  { title: 'outcome', value: (row) => row.outcome },
  { title: 'known by', value: (row) => row.known_by },
  { title: 'status', value: (row) => row.status_code, align: 'right' },
  { title: 'url', value: (row) => row.url, shrinksTo: 20, keepsEnd: true },
  { title: 'what', value: (row) => explainOutcome(row), shrinksTo: 10 },
];

export function changePieces(
  changes: TellableChanges,
  { format, bom, screen = NO_SCREEN }: ChangePiecesOptions,
): AsyncIterable<string> {
  switch (format) {
    case 'text':
      return renderChanges(changes.list(), screen.paint, screen.width);
    case 'markdown':
      return renderChangesMarkdown(changes.list());
    case 'html':
      return pageOf(changes.list());
    default: {
      const rows = listPieces(changes, format, bom, screen);
      return format === 'json' && changes.summary !== undefined ? summaryPieces(changes.summary, rows) : rows;
    }
  }
}

/** Only who asks for the page loads what draws it. */
async function* pageOf(list: ChangesList): AsyncGenerator<string> {
  const { renderChangesPage } = await import('../pages/changes/render-changes-page.ts');
  yield* renderChangesPage(list);
}

function listPieces(
  changes: TellableChanges,
  format: ListFormat,
  bom: boolean | undefined,
  screen: Screen,
): AsyncGenerator<string> {
  const { names } = changes;
  return rowPieces<ToldChange>({ rows: changes.rows(), format, names, columns: COLUMNS, bom }, screen);
}

async function* summaryPieces(
  summary: Readonly<Record<string, unknown>>,
  list: AsyncIterable<string>,
): AsyncGenerator<string> {
  yield `${JSON.stringify(summary).slice(0, -1)},"pages":`;
  yield* list;
  yield '}\n';
}
