/** The kept counts of a project by value and folder, on PostgreSQL; see section-counts.ts and read-facets.ts. */
import { FOLDER_COLUMNS } from '../facet-names.ts';
import { type BuildWhen, type IndexBuilt, lastRunOf, packMark } from '../index-state.ts';
import {
  COUNTED_COLUMNS,
  type CountedPage,
  createSectionCounter,
  isWorthCounting,
} from '../section-counts.ts';
import { parentOf } from '../section-paths.ts';
import { readIndexMark, runsMark, saveIndexMark } from './index-marks.ts';
import { type Attempting, ask } from './session.ts';

const KIND = 'sections';
const PAGES_AT_ONCE = 5000;
const ROWS_AT_ONCE = 5000;
const ROWS = (where: string) => `
SELECT json_build_array(${COUNTED_COLUMNS}) AS page FROM url u JOIN host h ON h.id = u.host_id
LEFT JOIN fetched f ON f.page_id = u.id AND f.host_id = u.host_id WHERE ${where}`;
const BATCH = ROWS(`u.project_id = $1 AND u.id > $2 ORDER BY u.id LIMIT ${PAGES_AT_ONCE}`);
const OWN = ROWS('u.id = ANY($1)');
const KNOWN =
  "SELECT COALESCE(sum(pages), 0)::int AS n FROM facet_count WHERE project_id = $1 AND facet = 'state'";

export async function buildSections(
  database: Attempting,
  projectId: number,
  when: BuildWhen,
): Promise<IndexBuilt | null> {
  const run = <Row>(text: string, values: unknown[]) =>
    database.attempt((sql) => ask<Row>(sql, text, values));
  const mark = await database.attempt((sql) => runsMark(sql, projectId));
  if (mark.running > 0) return null;
  const built = await database.attempt((sql) => readIndexMark(sql, projectId, KIND));
  if (built === packMark(mark)) return { kind: KIND, pages: 0, isWhole: false };
  if (when === 'worth-it' && built !== null) {
    const [{ n }] = await run<{ n: number }>(KNOWN, [projectId]);
    const before = await database.attempt((sql) => runsMark(sql, projectId, lastRunOf(built)));
    if (!isWorthCounting(n, Number(mark.pages) - Number(before.pages)))
      return { kind: KIND, pages: 0, isWhole: false };
  }
  const counter = createSectionCounter();
  for (let after = 0; ; ) {
    const rows = await run<{ page: CountedPage }>(BATCH, [projectId, after]);
    for (const { page } of rows) counter.add(page);
    if (rows.length < PAGES_AT_ONCE) break;
    after = rows[rows.length - 1].page[0];
  }
  const own = counter.ownPages();
  for (let from = 0; from < own.length; from += ROWS_AT_ONCE)
    for (const { page } of await run<{ page: CountedPage }>(OWN, [own.slice(from, from + ROWS_AT_ONCE)]))
      counter.addOwn(page);
  const values = [...counter.values].flatMap(([facet, counts]) =>
    [...counts].map(([value, pages]) => ({ facet, value, pages })),
  );
  values.push({ facet: 'deepest', value: '', pages: counter.deepest } as never);
  const folders = [...counter.folders].map(([path, counts]) => ({ parent: parentOf(path), path, ...counts }));
  const columns = FOLDER_COLUMNS.map((column) => `"${column}"`).join(', ');
  await database.attempt((sql) =>
    sql.begin(async (tx) => {
      await ask(tx, 'DELETE FROM facet_count WHERE project_id = $1', [projectId]);
      await ask(tx, 'DELETE FROM section_count WHERE project_id = $1', [projectId]);
      for (let from = 0; from < values.length; from += ROWS_AT_ONCE)
        await ask(
          tx,
          `INSERT INTO facet_count SELECT $1, r.facet, r.value, r.pages
           FROM json_to_recordset($2::text::json) AS r (facet text, value text, pages bigint)`,
          [projectId, JSON.stringify(values.slice(from, from + ROWS_AT_ONCE))],
        );
      for (let from = 0; from < folders.length; from += ROWS_AT_ONCE)
        await ask(
          tx,
          `INSERT INTO section_count (project_id, parent, path, ${columns})
           SELECT $1, r.parent, r.path, ${FOLDER_COLUMNS.map((column) => `r."${column}"`).join(', ')}
           FROM json_to_recordset($2::text::json) AS r (parent text, path text,
             ${FOLDER_COLUMNS.map((column) => `"${column}" float8`).join(', ')})`,
          [projectId, JSON.stringify(folders.slice(from, from + ROWS_AT_ONCE))],
        );
      await saveIndexMark(tx, projectId, KIND, mark);
    }),
  );
  return { kind: KIND, pages: counter.pages, isWhole: true };
}
