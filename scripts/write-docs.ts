// Writes the generated pages and the generated parts of others: `npm run docs`. src/config/render-docs.test.ts and
// test/tables-doc.test.ts and test/words-doc.test.ts fail while one of them is stale.
import { readFileSync, writeFileSync } from 'node:fs';
import { renderErrorsDoc, renderOptionsDoc } from '../src/config/render-docs.ts';
import { fillColumns, fillFacts, tablesOfNewDatabase } from './tables-doc.ts';
import { fillWords } from './words-doc.ts';

const docs = new URL('../docs/', import.meta.url);
writeFileSync(new URL('options.md', docs), renderOptionsDoc());
writeFileSync(new URL('errors.md', docs), renderErrorsDoc());
const tables = new URL('tables.md', docs);
writeFileSync(tables, fillFacts(fillColumns(readFileSync(tables, 'utf8'), tablesOfNewDatabase())));
const words = new URL('words.md', docs);
writeFileSync(words, fillWords(readFileSync(words, 'utf8')));
