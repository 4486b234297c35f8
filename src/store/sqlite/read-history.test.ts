import type Sqlite from 'better-sqlite3';
import { expect, it } from 'vitest';
import { makeFolder } from '../../../test/cli/run-sumi.ts';
import { openForWriting } from './open-database.ts';
import { createHistoryReader } from './read-history.ts';

it('asks for the changes of a page in the runs that visited it, not in each of the thousands that a watch makes', async () => {
  const folder = makeFolder();
  const db = openForWriting(folder.file('a.db'));
  try {
    db.exec(`INSERT INTO project (id, name, created_at) VALUES (1, 'shop', 0);
      INSERT INTO host (id, name) VALUES (1, 'a.test');
      INSERT INTO url (id, project_id, host_id, url, state, priority, depth, attempts, discovered_run, discovered_at)
        VALUES (7, 1, 1, 'https://a.test/', 3, 1, 0, 0, 1, 0);
      WITH n(id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM n WHERE id < 400)
        INSERT INTO run (id, project_id, started_at, status, config_hash, config) SELECT id, 1, 0, 'completed', 'h', '{}' FROM n;
      INSERT INTO visit (run_id, page_id, visited_at, outcome, known_by) VALUES (3, 7, 1, 0, 5), (90, 7, 2, 2, 3),
        (91, 7, 3, 1, 5), (400, 7, 4, 1, 5)`);
    let asked = 0;
    const counted = new Proxy(db, {
      get: (target, name) =>
        name === 'prepare' ? (text: string) => counting(target.prepare(text)) : Reflect.get(target, name),
    });
    const counting = (statement: Sqlite.Statement): Sqlite.Statement =>
      new Proxy(statement, {
        get(target, name) {
          if (name === 'all') asked++;
          const value = Reflect.get(target, name);
          if (typeof value !== 'function') return value;
          // pluck answers the statement itself.
          return (...values: unknown[]) => {
            const answer = value.apply(target, values);
            return answer === target ? counting(target) : answer;
          };
        },
      });
    const told: string[] = [];
    const filter = { projectId: 1, pageId: 7, fromRun: 2, toRun: 399 };
    for await (const { run, outcome } of createHistoryReader(counted).changes(filter))
      told.push(`${run} ${outcome}`);
    expect(told).toEqual(['3 new', '91 changed']);
    expect(asked).toBeLessThan(10);
  } finally {
    db.close();
    folder.remove();
  }
});
