/** The indexes of lists of pages on PostgreSQL: made once for all projects, and kept up to date by the database. */
import { PAGE_INDEXES } from '../list-queries.ts';
import { makeOnDemand } from './make-on-demand.ts';
import { type Attempting, ask } from './session.ts';

/**
 * Hosts have no index here. It would be as good as the key of URLs wherever PostgreSQL has not counted a table yet, and
 * every look for a known URL would then read all URLs of its host.
 */
const INDEXES = PAGE_INDEXES.filter(({ column }) => column !== 'host_id');
const ROWS_AT_ONCE = 100_000;

/** A copy of a project writes rows without it. */
const TRIGGER = [
  `CREATE OR REPLACE FUNCTION fetched_project() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
     NEW.project_id := (SELECT project_id FROM url WHERE id = NEW.page_id AND host_id = NEW.host_id); RETURN NEW; END $$`,
  `CREATE OR REPLACE TRIGGER fetched_project BEFORE INSERT ON fetched FOR EACH ROW WHEN (NEW.project_id IS NULL)
     EXECUTE FUNCTION fetched_project()`,
];

export async function buildPageIndexes(database: Attempting): Promise<void> {
  const run = <Row>(text: string, values: unknown[] = []) =>
    database.attempt((sql) => ask<Row>(sql, text, values));
  await makeOnDemand(database, TRIGGER);
  const [{ last }] = await run<{ last: number }>('SELECT COALESCE(max(page_id), 0) AS last FROM fetched');
  for (let after = 0; after < last; after += ROWS_AT_ONCE)
    await run(
      `UPDATE fetched f SET project_id = u.project_id FROM url u WHERE f.project_id IS NULL
       AND f.page_id > $1 AND f.page_id <= $2 AND u.id = f.page_id AND u.host_id = f.host_id`,
      [after, after + ROWS_AT_ONCE],
    );
  for (const { name, table, column, where } of INDEXES) {
    const columns = column === null || column === 'noindex' ? '' : `${column}, `;
    const id = table === 'url' ? 'id' : 'page_id';
    await run(
      `CREATE INDEX IF NOT EXISTS ${name} ON ${table} (project_id, ${columns}${id}) ${where === undefined ? '' : `WHERE ${where}`}`,
    );
    // Those of before were for all projects at once.
    if (table === 'fetched') await run(`DROP INDEX IF EXISTS fetched_by_${column}`);
  }
}
