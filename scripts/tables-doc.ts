// docs/tables.md is written by hand but for its lists of columns, which are put in from a real database, and for what it
// says of page facts, which is put in from their table. A heading of a table or view is "### `name`", the list is the line
// "Columns: …" below it.
import { FACT_KINDS, FACTS, type FactView } from '../src/store/page-facts.ts';
import { openForWriting } from '../src/store/sqlite/open-database.ts';

/** Every table and view of a new database, with its columns in order. */
export function tablesOfNewDatabase(): Map<string, string[]> {
  const db = openForWriting(':memory:');
  try {
    const names = db
      .prepare(
        "SELECT name FROM sqlite_schema WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite_%' ORDER BY name",
      )
      .pluck()
      .all() as string[];
    const columns = db.prepare('SELECT name FROM pragma_table_info(?) ORDER BY cid').pluck();
    return new Map(names.map((name) => [name, columns.all(name) as string[]]));
  } finally {
    db.close();
  }
}

/** The tables and views that have a heading. */
export function headingsOf(markdown: string): string[] {
  return [...markdown.matchAll(/^### `(\w+)`$/gm)].map(([, name]) => name);
}

export function fillColumns(markdown: string, tables: ReadonlyMap<string, string[]>): string {
  return markdown.replace(
    /^(### `(\w+)`\n(?:(?!^#)[^\n]*\n)*?)Columns: [^\n]*$/gm,
    (_, before: string, name: string) => `${before}Columns: ${listOf(tables.get(name) ?? [])}`,
  );
}

const VIEWS: readonly FactView[] = ['pages', 'crawled_pages', 'crawled_url', 'urls'];

function factsTable(): string {
  const rows = FACTS.map(({ column, kind, about, part, shown }) => {
    const { sqlite, postgres } = FACT_KINDS[kind];
    const names = VIEWS.flatMap((view) => {
      const as = shown?.[view] && (shown[view].as ?? column);
      return as === undefined ? [] : [as === column ? `\`${view}\`` : `\`${view}.${as}\``];
    });
    return `| \`${column}\` | ${sqlite}, ${postgres} | ${about} | ${names.join(', ')} | ${part ?? ''} |`;
  });
  const head = '| fact | type in SQLite, PostgreSQL | what it is | views that show it | part of a change |';
  return [head, '| --- | --- | --- | --- | --- |', ...rows].join('\n');
}

/** Puts the table of facts between its marks. */
export function fillFacts(markdown: string): string {
  return markdown.replace(
    /(<!-- table: facts -->\n)[\s\S]*?(<!-- end -->)/,
    (_, start: string, end: string) => `${start}\n${factsTable()}\n\n${end}`,
  );
}

function listOf(columns: readonly string[]): string {
  return columns.map((column) => `\`${column}\``).join(', ');
}
