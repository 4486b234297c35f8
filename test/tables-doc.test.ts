import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { fillColumns, fillFacts, headingsOf, tablesOfNewDatabase } from '../scripts/tables-doc.ts';
import { FACTS } from '../src/store/page-facts.ts';

const doc = readFileSync(new URL('../docs/tables.md', import.meta.url), 'utf8');
const tables = tablesOfNewDatabase();

it('docs/tables.md has a section for every table and view of a new database, and for nothing else', () => {
  expect(headingsOf(doc).sort()).toEqual([...tables.keys()].sort());
});

it('docs/tables.md names the columns that a new database has (else: npm run docs)', () => {
  expect(doc.match(/^Columns: /gm)).toHaveLength(tables.size);
  expect(doc).toBe(fillColumns(doc, tables));
});

it('docs/tables.md tells of every page fact (else: npm run docs)', () => {
  const lines = doc.split('\n');
  for (const { column, about } of FACTS)
    expect(lines.filter((line) => line.startsWith(`| \`${column}\` |`) && line.includes(about))).toHaveLength(
      1,
    );
  expect(doc).toBe(fillFacts(doc));
});

it('a column that is missing from the page is noticed', () => {
  const [name, columns] = [...tables][0];
  const stale = `### \`${name}\`\n\nSomething.\n\nColumns: \`old\`\n`;
  expect(fillColumns(stale, tables)).toBe(
    `### \`${name}\`\n\nSomething.\n\nColumns: ${columns.map((column) => `\`${column}\``).join(', ')}\n`,
  );
});
