// docs/tables.md is written by hand but for its lists of columns: those are put in from a real database, so that they
// cannot go stale. A heading of a table or view is "### `name`", the list is the line "Columns: …" below it.
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

function listOf(columns: readonly string[]): string {
  return columns.map((column) => `\`${column}\``).join(', ');
}
