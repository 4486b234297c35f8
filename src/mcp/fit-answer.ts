/**
 * Answers that fit: 50 rows and 25,000 characters at most, whatever is in them. A list that is too long is read again with
 * fewer rows, so that its own cursor goes on where it ends. A row that is too long alone has its longest texts cut.
 */
import type { ListAnswer } from '../contract/lists.ts';
import { cleanData } from './clean-text.ts';

export const MOST_ROWS = 50;
export const MOST_CHARACTERS = 25_000;
/** Of one row: any row fits into an answer. */
const MOST_OF_ROW = 18_000;
const CUT = '…';

/** As clients get it: the data, and the same as text for models that read nothing else. */
export function resultOf(answer: Readonly<Record<string, unknown>>) {
  return {
    content: [{ type: 'text' as const, text: JSON.stringify(answer) }],
    structuredContent: answer,
  };
}

/** Characters that a value takes in a result, where it stands twice. */
export function lengthOf(answer: unknown): number {
  return JSON.stringify(resultOf(answer as Record<string, unknown>)).length;
}

export interface FittedList<Row> {
  items: Row[];
  next_cursor: string | null;
}

export interface FitList<Item, Row> {
  /** Rows of the first try; 50 unless said. */
  limit?: number;
  read(limit: number): Promise<Pick<ListAnswer<Item>, 'items' | 'next_cursor'>>;
  toRow(item: Item): Row | Promise<Row>;
  /** Characters of what stands beside the rows. */
  beside?: number;
}

export async function fitList<Item, Row>({
  limit = MOST_ROWS,
  read,
  toRow,
  beside = 500,
}: FitList<Item, Row>): Promise<FittedList<Row>> {
  let most = Math.min(limit, MOST_ROWS);
  for (;;) {
    const { items, next_cursor } = await read(most);
    const rows: Row[] = [];
    for (const item of items) rows.push(fitRow(await toRow(item)));
    const list = { items: rows, next_cursor };
    const length = lengthOf(list) + beside;
    if (length <= MOST_CHARACTERS || most === 1) return list;
    most = Math.max(1, Math.min(most - 1, Math.floor((most * MOST_CHARACTERS) / length)));
  }
}

/** Longest texts and lists that are left whole, in turn, until the row fits. */
const CUTS: readonly { characters: number; items: number }[] = [
  { characters: 2000, items: 50 },
  { characters: 500, items: 20 },
  { characters: 200, items: 10 },
  { characters: 60, items: 5 },
];

export function fitRow<Row>(row: Row): Row {
  let fitted = cleanData(row);
  for (const cut of CUTS) {
    if (lengthOf(fitted) <= MOST_OF_ROW) break;
    fitted = cutData(fitted, cut);
  }
  return fitted;
}

function cutData<Value>(value: Value, cut: (typeof CUTS)[number]): Value {
  if (typeof value === 'string') return cutText(value, cut.characters) as Value;
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.slice(0, cut.items).map((inner) => cutData(inner, cut)) as Value;
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [name, cutData(inner, cut)]),
  ) as Value;
}

/** No half of a character that takes two units. Identifiers are shorter than any of the cuts. */
export function cutText(text: string, most: number): string {
  if (text.length <= most) return text;
  return `${text.slice(0, most).replace(/[\ud800-\udbff]$/, '')}${CUT}`;
}
