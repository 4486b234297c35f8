/**
 * The words of pages, title and main text, in an FTS5 table that keeps no text of its own. It is made when it is built
 * first; a crawl that does not ask for it has none. Later builds renew the pages that runs since then have visited.
 */
import type { Database } from 'better-sqlite3';
import { type IndexBuilt, lastRunOf, packMark } from '../index-state.ts';
import { wordsOf } from '../text-words.ts';
import { dropIndexMark, readIndexMark, runsMark, saveIndexMark } from './index-marks.ts';
import type { OpenFile } from './session.ts';

const KIND = 'full-text';
const PAGES_AT_ONCE = 200;

// The tokenizer divides at ASCII's own signs only, and there are none in our words: it takes them as they are.
const TABLE = `CREATE VIRTUAL TABLE IF NOT EXISTS page_words
USING fts5(words, content='', contentless_delete=1, detail=none, tokenize='ascii')`;

const nextTurn = () => new Promise<void>((resolve) => setImmediate(resolve));

export function hasPageWords(db: Database): boolean {
  return db.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'page_words'").get() !== undefined;
}

/** Before the pages themselves: their ids may be given to others. */
export function dropPageWords(db: Database, projectId: number): void {
  if (!hasPageWords(db)) return;
  db.prepare('DELETE FROM page_words WHERE rowid IN (SELECT id FROM url WHERE project_id = ?)').run(
    projectId,
  );
}

interface PageText {
  id: number;
  title: string | null;
  text: string | null;
}

export async function buildFullText({ db, window }: OpenFile, projectId: number): Promise<IndexBuilt | null> {
  window.commit();
  const mark = runsMark(db, projectId);
  if (mark.running > 0) return null;
  const built = readIndexMark(db, projectId, KIND);
  if (built === packMark(mark)) return { kind: KIND, pages: 0, isWhole: false };
  const known = built === null ? 0 : lastRunOf(built);
  const isWhole = built === null || packMark(runsMark(db, projectId, known)) !== built;
  db.exec(TABLE);
  if (isWhole) {
    dropIndexMark(db, projectId, KIND);
    dropPageWords(db, projectId);
  }
  const read = db.prepare(
    `SELECT u.id, f.title, t.text FROM url u CROSS JOIN fetched f ON f.page_id = u.id
       LEFT JOIN page_text t ON t.page_id = u.id
     WHERE u.id > ? AND u.project_id = ? AND f.run_id > ? ORDER BY u.id LIMIT ${PAGES_AT_ONCE}`,
  );
  const drop = db.prepare('DELETE FROM page_words WHERE rowid = ?');
  const put = db.prepare('INSERT INTO page_words (rowid, words) VALUES (?, ?)');
  let pages = 0;
  for (let after = 0; ; ) {
    const rows = read.all(after, projectId, isWhole ? 0 : known) as PageText[];
    for (const { id, title, text } of rows) {
      if (!isWhole) drop.run(id);
      const words = wordsOf(`${title ?? ''}\n${text ?? ''}`);
      if (words.length > 0) put.run(id, words.join(' '));
    }
    pages += rows.length;
    window.commit();
    if (rows.length < PAGES_AT_ONCE) break;
    after = rows[rows.length - 1].id;
    await nextTurn();
  }
  saveIndexMark(db, projectId, KIND, mark);
  window.commit();
  return { kind: KIND, pages, isWhole };
}
