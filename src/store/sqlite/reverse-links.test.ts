/** Ranges of targets, which only a store of millions of links would need, with a few. */
import { expect, it } from 'vitest';
import Sqlite from './driver.ts';
import { buildReverseLinks } from './reverse-links.ts';
import { migrate } from './schema.ts';
import type { OpenFile } from './session.ts';

it.each([1, 3, 7, 1000])('builds the same in ranges of at most %i links', async (edgesAtOnce) => {
  const db = new Sqlite(':memory:');
  migrate(db, ':memory:');
  const putPage = db.prepare(
    `INSERT INTO url (id, project_id, host_id, state, priority, depth, attempts, discovered_run, discovered_at, url)
     VALUES (?, ?, 1, 3, 1, 1, 0, 1, 0, ?)`,
  );
  const putLinks = db.prepare('INSERT INTO link_set VALUES (?, 1, ?, NULL, NULL)');
  const expected: Record<number, number[]> = {};
  for (let page = 1; page <= 60; page++) {
    const isOurs = page % 7 !== 0;
    putPage.run(page, isOurs ? 1 : 2, `https://a.test/${page}`);
    const targets = [...new Set([page, (page * 13) % 61 || 1, (page * page) % 59 || 2, 60])];
    putLinks.run(page, JSON.stringify(targets));
    if (isOurs) for (const target of targets) expected[target] = [...(expected[target] ?? []), page];
  }
  const file = { db, window: { commit() {} } } as unknown as OpenFile;
  const built = await buildReverseLinks(file, 1, edgesAtOnce);
  expect(built).toEqual({ kind: 'reverse-links', pages: Object.keys(expected).length, isWhole: true });
  const rows = db.prepare('SELECT page_id, sources FROM reverse_link_set').raw().all() as [number, string][];
  expect(Object.fromEntries(rows.map(([id, sources]) => [id, JSON.parse(sources)]))).toEqual(expected);
  db.close();
});
