/**
 * Whether a table's columns can take the rows of a CRAWL. A mistake names the column, what it is, what was expected and
 * what to do. Columns that the table lacks are no mistake; neither are others that can be filled by a default.
 */
import { type SumiError, sumiError } from '../../errors.ts';
import { COLUMNS, type ColumnName, isColumnName } from './columns.ts';
import { refused } from './find-table.ts';
import { quoteName } from './quote-name.ts';
import type { PlannedColumn } from './target-plan.ts';

/** A column of a table as DuckDB describes it. */
export interface TableColumn {
  name: string;
  type: string;
  defaultExpression: string | null;
  isNullable: boolean;
  isGenerated: boolean;
}

/** A column that an EXTRACT rule fills. */
export interface ExtractedColumn {
  name: string;
  type: string;
  /** False: an existing column keeps its own. */
  isTypeGiven: boolean;
}

export interface ColumnQuestion {
  /** As people see it, and as SQL does. */
  table: string;
  quoted: string;
  columns: readonly TableColumn[];
  extracted: readonly ExtractedColumn[];
}

interface Complaint {
  column: string;
  found: string;
  expected: string;
  advice: string;
}

const isSame = (one: string, other: string) => one.toLowerCase() === other.toLowerCase();

/** Rules may fill what is only filled where present, such as h1; the rest of the row is the crawl's. */
export function checkExtractedNames(table: string, extracted: readonly ExtractedColumn[]): void {
  for (const { name } of extracted) {
    const lower = name.toLowerCase();
    if (!isColumnName(lower) || !COLUMNS[lower].isCreated) continue;
    throw complain(table, {
      column: name,
      found: 'filled by the CRAWL itself',
      expected: 'another name for what EXTRACT finds',
      advice: `Give it one with AS, as in AS page_${name}.`,
    });
  }
}

/** The columns that are written, in the table's order. */
export function planColumns(question: ColumnQuestion): PlannedColumn[] {
  const { table, quoted, columns, extracted } = question;
  if (!columns.some(({ name }) => isSame(name, 'url')))
    throw refused(
      table,
      'it has no column url, by which a CRAWL knows what it has; expected one of the type VARCHAR',
      `Add it with ALTER TABLE ${quoted} ADD COLUMN url VARCHAR, or give the name of a new table.`,
    );
  const planned: PlannedColumn[] = [];
  for (const column of columns) {
    const { name, type, defaultExpression, isNullable } = column;
    const at = extracted.findIndex((one) => isSame(one.name, name));
    const lower = name.toLowerCase();
    const shared = { name, type, defaultExpression, isNullable };
    if (at !== -1) {
      checkExtracted(question, column, extracted[at]);
      planned.push({ ...shared, source: { from: 'extract', at } });
    } else if (isColumnName(lower)) {
      checkOwn(question, column, lower);
      planned.push({ ...shared, source: { from: 'row', column: lower } });
    } else if (!column.isGenerated) {
      if (!isNullable && defaultExpression === null)
        throw complain(table, noValue(quoted, column, 'A CRAWL has no value for it.'));
      planned.push({ ...shared, source: { from: 'other' } });
    }
  }
  return planned;
}

function complain(table: string, { column, found, expected, advice }: Complaint): SumiError {
  return sumiError('sql-target-column', { table, column, found, expected, advice });
}

function noValue(quoted: string, { name }: TableColumn, why: string): Complaint {
  return {
    column: name,
    found: 'NOT NULL without a default',
    expected: 'a column that may be NULL, or that has a default',
    advice: `${why} Run ALTER TABLE ${quoted} ALTER ${quoteName(name)} DROP NOT NULL, or SET DEFAULT a value.`,
  };
}

function generated({ name }: TableColumn, expected: string): Complaint {
  return {
    column: name,
    found: 'a generated column',
    expected: `an ordinary one of the type ${expected}`,
    advice:
      'A CRAWL fills columns by their names: use another table, or one where this column has another name.',
  };
}

function wrongType(quoted: string, { name, type }: TableColumn, expected: readonly string[]): Complaint {
  return {
    column: name,
    found: `of the type ${type}`,
    expected:
      expected.length === 1 ? expected[0] : `${expected.slice(0, -1).join(', ')} or ${expected.at(-1)}`,
    advice: `Run ALTER TABLE ${quoted} ALTER ${quoteName(name)} TYPE ${expected[0]}, or give the column another name.`,
  };
}

function checkOwn({ table, quoted }: ColumnQuestion, column: TableColumn, name: ColumnName): void {
  const { type, accepts, isAlwaysGiven } = COLUMNS[name];
  if (column.isGenerated) throw complain(table, generated(column, type));
  if (!accepts.includes(column.type)) throw complain(table, wrongType(quoted, column, accepts));
  if (!column.isNullable && !isAlwaysGiven && column.defaultExpression === null)
    throw complain(table, noValue(quoted, column, 'Rows of failed pages have no value for it.'));
}

function checkExtracted(
  { table, quoted }: ColumnQuestion,
  column: TableColumn,
  wanted: ExtractedColumn,
): void {
  if (column.isGenerated) throw complain(table, generated(column, wanted.type));
  if (wanted.isTypeGiven && wanted.type !== column.type)
    throw complain(table, {
      ...wrongType(quoted, column, [wanted.type]),
      advice: `Leave the type out of EXTRACT, write ${column.type} there, or give it another name with AS.`,
    });
  if (!column.isNullable && column.defaultExpression === null)
    throw complain(table, noValue(quoted, column, 'Not every page has a value for it.'));
}
