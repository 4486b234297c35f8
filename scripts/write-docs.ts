// Writes the generated pages and the generated parts of others, and wraps long lines of prose: `npm run docs`. Tests fail
// while one of them is stale: src/config/render-docs.test.ts, test/tables-doc.test.ts, test/words-doc.test.ts,
// test/docs/sql-examples.test.ts and test/docs.test.ts.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { renderErrorsDoc, renderOptionsDoc, renderOptionsSchema } from '../src/config/render-docs.ts';
import { markdownFiles, REPOSITORY } from './markdown-files.ts';
import { fillSql } from './sql-doc.ts';
import { fillColumns, fillFacts, tablesOfNewDatabase } from './tables-doc.ts';
import { fillWords } from './words-doc.ts';
import { wrapProse } from './wrap-prose.ts';

const docs = new URL('../docs/', import.meta.url);
writeFileSync(new URL('options.md', docs), renderOptionsDoc());
writeFileSync(new URL('options.schema.json', docs), renderOptionsSchema());
writeFileSync(new URL('errors.md', docs), renderErrorsDoc());
const tables = new URL('tables.md', docs);
writeFileSync(tables, fillFacts(fillColumns(readFileSync(tables, 'utf8'), tablesOfNewDatabase())));
const words = new URL('words.md', docs);
writeFileSync(words, fillWords(readFileSync(words, 'utf8')));
const sql = new URL('sql.md', docs);
writeFileSync(sql, fillSql(readFileSync(sql, 'utf8')));

for (const path of markdownFiles()) {
  const file = join(REPOSITORY, path);
  const text = readFileSync(file, 'utf8');
  const wrapped = wrapProse(text);
  if (wrapped !== text) writeFileSync(file, wrapped);
}
