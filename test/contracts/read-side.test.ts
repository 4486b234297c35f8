/** The read side's contract on both stores, and their answers and views compared with each other. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { crawlALittle } from './little-crawl.ts';
import { startPostgresReading, startSqliteReading, type ViewHarness } from './read-harness.ts';
import { answersOf, describeReadSide } from './read-side-contract.ts';
import type { Row } from './store/harness.ts';

describeReadSide('SQLite', startSqliteReading);
describeReadSide('PostgreSQL', startPostgresReading);

describe('the same crawl on both stores', () => {
  let harnesses: ViewHarness[];
  let answers: Record<string, unknown>[];
  beforeAll(async () => {
    harnesses = await Promise.all([startSqliteReading(), startPostgresReading()]);
    await Promise.all(harnesses.map(crawlALittle));
    answers = await Promise.all(
      harnesses.map(async (harness) => {
        const side = await harness.openReadSide();
        try {
          return await answersOf(side);
        } finally {
          await side.close();
        }
      }),
    );
  });
  afterAll(() => Promise.all((harnesses ?? []).map((harness) => harness.cleanUp())));

  it('gives the same answers', () => {
    const [sqlite, postgres] = answers;
    expect(Object.keys(postgres)).toEqual(Object.keys(sqlite));
    for (const question of Object.keys(sqlite))
      expect(postgres[question], question).toEqual(sqlite[question]);
  });

  it('prints the same JSON, keys in the same order', () => {
    const [sqlite, postgres] = answers;
    for (const question of Object.keys(sqlite)) {
      expect(JSON.stringify(postgres[question]), question).toBe(JSON.stringify(sqlite[question]));
    }
  });

  it('shows the same rows through every view', async () => {
    const [sqlite, postgres] = harnesses;
    const views = (await sqlite.rows("SELECT name FROM sqlite_schema WHERE type = 'view' ORDER BY name")).map(
      ({ name }) => String(name),
    );
    const also = await postgres.rows(
      "SELECT viewname AS name FROM pg_views WHERE schemaname = 'public' ORDER BY viewname",
    );
    expect(also.map(({ name }) => name)).toEqual(views);
    expect(views.length).toBeGreaterThan(15);
    for (const view of views) {
      const [expected, found] = [await rowsOf(sqlite, view), await rowsOf(postgres, view)];
      expect(expected.length, `rows of ${view}`).toBeGreaterThan(0);
      expect(found, view).toEqual(expected);
    }
  });
});

/** Numbers of projects may have gaps: only their order is the same. */
async function rowsOf(harness: ViewHarness, view: string): Promise<Row[]> {
  const projects = await harness.rows('SELECT id FROM project ORDER BY id');
  const place = new Map(projects.map(({ id }, i) => [id, i + 1]));
  const rows = await harness.rows(`SELECT * FROM ${view} ORDER BY id`);
  return rows.map((row) => ('project_id' in row ? { ...row, project_id: place.get(row.project_id) } : row));
}
