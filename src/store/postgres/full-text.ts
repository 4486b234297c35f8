/**
 * The words of pages, title and main text, as tsvectors with a GIN index. The table is made when it is built first; a crawl
 * that does not ask for it has none. Later builds renew the pages that runs since then have visited.
 */
import { type IndexBuilt, lastRunOf, packMark } from '../index-state.ts';
import { wordsOf } from '../text-words.ts';
import { dropIndexMark, readIndexMark, runsMark, saveIndexMark } from './index-marks.ts';
import { makeOnDemand } from './make-on-demand.ts';
import { partitionsOnDemand } from './schema.ts';
import { type Attempting, ask, type Runner } from './session.ts';

const KIND = 'full-text';
const PAGES_AT_ONCE = 200;

const TABLE = [
  `CREATE TABLE IF NOT EXISTS page_words (
    page_id integer NOT NULL,
    host_id integer NOT NULL,
    words tsvector NOT NULL,
    PRIMARY KEY (page_id, host_id)
  ) PARTITION BY HASH (host_id)`,
  ...partitionsOnDemand('page_words'),
  'CREATE INDEX IF NOT EXISTS page_words_words ON page_words USING gin (words)',
];
const PAGES = `
SELECT u.id, u.host_id, f.title, t.text FROM url u JOIN fetched f ON f.page_id = u.id AND f.host_id = u.host_id
LEFT JOIN page_text t ON t.page_id = u.id AND t.host_id = u.host_id
WHERE u.id > $1 AND u.project_id = $2 AND f.run_id > $3 ORDER BY u.id LIMIT ${PAGES_AT_ONCE}`;
// The words are lexemes as they stand: no dictionary of the server's changes them.
const PUT = `
INSERT INTO page_words (page_id, host_id, words)
SELECT page_id, host_id, array_to_tsvector(string_to_array(words, ' '))
FROM unnest($1::int[], $2::int[], $3::text[]) AS p (page_id, host_id, words)
ON CONFLICT (page_id, host_id) DO UPDATE SET words = excluded.words`;
const CLEAR = `DELETE FROM page_words w USING url u
WHERE u.project_id = $1 AND w.page_id = u.id AND w.host_id = u.host_id`;

export async function hasPageWords(runner: Runner): Promise<boolean> {
  return (await ask(runner, "SELECT 1 WHERE to_regclass('page_words') IS NOT NULL")).length > 0;
}

/** Before the pages themselves are cleared. */
export async function dropPageWords(runner: Runner, projectId: number): Promise<void> {
  if (await hasPageWords(runner)) await ask(runner, CLEAR, [projectId]);
}

interface PageText {
  id: number;
  host_id: number;
  title: string | null;
  text: string | null;
}

export async function buildFullText(database: Attempting, projectId: number): Promise<IndexBuilt | null> {
  const mark = await database.attempt((sql) => runsMark(sql, projectId));
  if (mark.running > 0) return null;
  const built = await database.attempt((sql) => readIndexMark(sql, projectId, KIND));
  if (built === packMark(mark)) return { kind: KIND, pages: 0, isWhole: false };
  const known = built === null ? 0 : lastRunOf(built);
  const before = await database.attempt((sql) => runsMark(sql, projectId, known));
  const isWhole = built === null || packMark(before) !== built;
  await makeOnDemand(database, TABLE);
  if (isWhole) {
    await database.attempt((sql) => dropIndexMark(sql, projectId, KIND));
    await database.attempt((sql) => dropPageWords(sql, projectId));
  }
  let pages = 0;
  for (let after = 0; ; ) {
    const values = [after, projectId, isWhole ? 0 : known];
    const rows = await database.attempt((sql) => ask<PageText>(sql, PAGES, values));
    const words = rows.map(({ title, text }) => wordsOf(`${title ?? ''}\n${text ?? ''}`).join(' '));
    const columns = [rows.map(({ id }) => id), rows.map(({ host_id }) => host_id), words];
    if (rows.length > 0) await database.attempt((sql) => ask(sql, PUT, columns));
    pages += rows.length;
    if (rows.length < PAGES_AT_ONCE) break;
    after = rows[rows.length - 1].id;
  }
  await database.attempt((sql) => saveIndexMark(sql, projectId, KIND, mark));
  return { kind: KIND, pages, isWhole };
}
