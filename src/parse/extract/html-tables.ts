/**
 * The tables of a page as rectangles of text: cells that span rows or columns are repeated, missing ones are empty. A
 * table inside of a cell is a table of its own; its text is not repeated in the cell. Promises an end for any spans.
 */
import { attributeOf, type PageDocument, type PageElement } from './page-tree.ts';
import { foldSpaces, textOf } from './text-of.ts';

export interface HtmlTable {
  caption: string | null;
  /** One text a column: of `thead`, or else of the first rows that have `th` only. Empty without such rows. */
  header: string[];
  /** All as long as the header, if there is one. */
  rows: string[][];
}

/** As in browsers. */
const MOST_COLUMNS = 1000;
const MOST_ROWS_SPANNED = 65_534;
/** Of all tables of a page, repeated ones included. What comes after is left out. */
const MOST_CELLS = 1_000_000;

interface Room {
  cells: number;
}

interface Line {
  texts: string[];
  isInHead: boolean;
  hasHeadersOnly: boolean;
}

export function tablesOf({ elements }: PageDocument): HtmlTable[] {
  const room: Room = { cells: MOST_CELLS };
  return elements
    .filter(({ name, isForeign }) => name === 'table' && !isForeign)
    .map((table) => readTable(table, room));
}

function readTable(table: PageElement, room: Room): HtmlTable {
  const caption = elementsIn(table).find(({ name }) => name === 'caption');
  const lines: Line[] = [];
  let cells = 0;
  for (const section of elementsIn(table)) {
    const { name } = section;
    if (name !== 'thead' && name !== 'tbody' && name !== 'tfoot') continue;
    const rows = elementsIn(section).filter((row) => row.name === 'tr');
    for (const line of readSection(rows, name === 'thead')) {
      cells += line.texts.length;
      if (cells > room.cells) break;
      lines.push(line);
    }
  }
  const width = lines.reduce((most, { texts }) => Math.max(most, texts.length), 0);
  const kept = lines.slice(0, Math.floor(room.cells / Math.max(width, 1)));
  room.cells -= kept.length * width;
  for (const { texts } of kept) while (texts.length < width) texts.push('');
  const heads = new Set(headsOf(kept));
  return {
    caption: caption === undefined ? null : textOf(caption, { isOneLine: true, isWithoutTables: true }),
    header: joinHeads([...heads]),
    rows: kept.filter((line) => !heads.has(line)).map(({ texts }) => texts),
  };
}

/** A cell that reaches into rows below it. */
interface Hanging {
  text: string;
  rowsLeft: number;
}

/** Cells do not reach out of their section. */
function* readSection(rows: readonly PageElement[], isInHead: boolean): Generator<Line> {
  const hanging: Hanging[] = [];
  for (const [index, row] of rows.entries()) {
    const cells = elementsIn(row).filter(({ name }) => name === 'td' || name === 'th');
    const texts: string[] = [];
    /** Adds what hangs into this row at its end; false if nothing does. */
    const addHanging = (): boolean => {
      const above = hanging[texts.length];
      if (above === undefined || above.rowsLeft === 0) return false;
      above.rowsLeft--;
      texts.push(above.text);
      return true;
    };
    for (const cell of cells) {
      while (addHanging());
      const columns = Math.min(spanOf(cell, 'colspan', MOST_COLUMNS) || 1, MOST_COLUMNS - texts.length);
      const down = spanOf(cell, 'rowspan', MOST_ROWS_SPANNED) || rows.length;
      const text = textOf(cell, { isWithoutTables: true });
      for (let i = 0; i < columns; i++) {
        hanging[texts.length] = { text, rowsLeft: Math.min(down, rows.length - index) - 1 };
        texts.push(text);
      }
    }
    while (hanging.length > 0 && hanging[hanging.length - 1].rowsLeft === 0) hanging.pop();
    while (texts.length < hanging.length) if (!addHanging()) texts.push('');
    const hasHeadersOnly = cells.length > 0 && cells.every(({ name }) => name === 'th');
    if (texts.length > 0) yield { texts, isInHead, hasHeadersOnly };
  }
}

function elementsIn(element: PageElement): PageElement[] {
  return element.children.filter((child) => child.kind === 'element');
}

/** 1 without a number; 0 has a meaning of its own. */
function spanOf(cell: PageElement, name: string, most: number): number {
  const digits = /^\s*\+?(\d+)/.exec(attributeOf(cell, name) ?? '')?.[1];
  return digits === undefined ? 1 : Math.min(Number(digits), most);
}

function headsOf(lines: readonly Line[]): Line[] {
  const inHead = lines.filter((line) => line.isInHead);
  if (inHead.length > 0) return inHead;
  const end = lines.findIndex((line) => !line.hasHeadersOnly);
  // Headers alone: the first row names the others.
  return lines.slice(0, end < 0 ? 1 : end);
}

/** Of several rows, each column has the texts from the top down, repeated ones once. */
function joinHeads(heads: readonly Line[]): string[] {
  return (heads[0]?.texts ?? []).map((_, column) => {
    const texts = heads.map(({ texts }) => foldSpaces(texts[column]));
    return texts.filter((text, i) => text !== '' && text !== texts[i - 1]).join(' ');
  });
}
