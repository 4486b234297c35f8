/** The kept counts of a project by value and folder, on SQLite; see section-counts.ts and read-facets.ts. */
import { FOLDER_COLUMNS } from '../facet-names.ts';
import { type BuildWhen, type IndexBuilt, lastRunOf, packMark } from '../index-state.ts';
import {
  COUNTED_COLUMNS,
  type CountedPage,
  createSectionCounter,
  isWorthCounting,
} from '../section-counts.ts';
import { parentOf } from '../section-paths.ts';
import { dropIndexMark, readIndexMark, runsMark, saveIndexMark } from './index-marks.ts';
import type { OpenFile } from './session.ts';

const KIND = 'sections';
const PAGES_AT_ONCE = 2000;
const IDS_AT_ONCE = 500;
const FROM = 'url u JOIN host h ON h.id = u.host_id LEFT JOIN fetched f ON f.page_id = u.id';

const nextTurn = () => new Promise<void>((resolve) => setImmediate(resolve));

export async function buildSections(
  { db, window }: OpenFile,
  projectId: number,
  when: BuildWhen,
): Promise<IndexBuilt | null> {
  window.commit();
  const mark = runsMark(db, projectId);
  if (mark.running > 0) return null;
  const built = readIndexMark(db, projectId, KIND);
  if (built === packMark(mark)) return { kind: KIND, pages: 0, isWhole: false };
  if (when === 'worth-it' && built !== null) {
    const known = db
      .prepare('SELECT COALESCE(sum(pages), 0) FROM facet_count WHERE project_id = ? AND facet = ?')
      .pluck()
      .get(projectId, 'state') as number;
    const { pages } = runsMark(db, projectId, lastRunOf(built));
    if (!isWorthCounting(known, mark.pages - pages)) return { kind: KIND, pages: 0, isWhole: false };
  }
  const counter = createSectionCounter();
  // CROSS JOIN keeps the order of ids, which the batches go by.
  const read = db
    .prepare(
      `SELECT ${COUNTED_COLUMNS} FROM ${FROM.replace(' JOIN host', ' CROSS JOIN host')}
       WHERE u.project_id = ? AND u.id > ? ORDER BY u.id LIMIT ${PAGES_AT_ONCE}`,
    )
    .raw();
  for (let after = 0; ; ) {
    const rows = read.all(projectId, after) as unknown as CountedPage[];
    for (const row of rows) counter.add(row);
    if (rows.length < PAGES_AT_ONCE) break;
    after = rows[rows.length - 1][0];
    await nextTurn();
  }
  const readOwn = db.prepare(
    `SELECT ${COUNTED_COLUMNS} FROM ${FROM} WHERE u.id IN (SELECT value FROM json_each(?))`,
  );
  const own = counter.ownPages();
  for (let from = 0; from < own.length; from += IDS_AT_ONCE) {
    const ids = JSON.stringify(own.slice(from, from + IDS_AT_ONCE));
    for (const row of readOwn.raw().all(ids) as unknown as CountedPage[]) counter.addOwn(row);
    if (from % PAGES_AT_ONCE === 0) await nextTurn();
  }
  write();
  window.commit();
  return { kind: KIND, pages: counter.pages, isWhole: true };

  function write(): void {
    dropIndexMark(db, projectId, KIND);
    for (const table of ['facet_count', 'section_count'])
      db.prepare(`DELETE FROM ${table} WHERE project_id = ?`).run(projectId);
    const putValue = db.prepare('INSERT INTO facet_count VALUES (?, ?, ?, ?)');
    for (const [facet, values] of counter.values)
      for (const [value, pages] of values) putValue.run(projectId, facet, value, pages);
    const columns = ['project_id', 'parent', 'path', ...FOLDER_COLUMNS];
    const putFolder = db.prepare(
      `INSERT INTO section_count (${columns.join(', ')}) VALUES (${columns.map(() => '?').join(', ')})`,
    );
    for (const [path, counts] of counter.folders)
      putFolder.run(projectId, parentOf(path), path, ...FOLDER_COLUMNS.map((column) => counts[column]));
    putValue.run(projectId, 'deepest', '', counter.deepest);
    saveIndexMark(db, projectId, KIND, mark);
  }
}
