import Sqlite from 'better-sqlite3';
import { expect, it } from 'vitest';
import { createHashReader, LastVisitView } from './last-visit.ts';

const VALUES = [7, 1000, 200, 1, '"1"', null, null, 50, 0.5, 2, null, null, 'new'];

function open() {
  const db = new Sqlite(':memory:');
  db.exec(`CREATE TABLE fetched (page_id INTEGER PRIMARY KEY, content_hash, text_hash, facet_hash, simhash, x_robots_tag,
      content_type);
    INSERT INTO fetched VALUES (7, x'01', NULL, x'03', -5, 'noarchive', 'text/html')`);
  const guard = { failure: null as unknown, fail: () => new Error('in our words') };
  return { db, guard, last: new LastVisitView(VALUES, 1, 7, createHashReader({ db, guard })) };
}

it('reads hashes when they are asked for, once', () => {
  const { db, last } = open();
  expect(last).toMatchObject({ visitedAt: 1000, statusCode: 200, hasBody: true, changesDetected: 2 });
  db.exec(`UPDATE fetched SET content_hash = x'02'`);
  expect([...last.contentHash!]).toEqual([2]);
  db.exec('DELETE FROM fetched');
  expect([last.textHash, [...last.facetHash!], last.simhash]).toEqual([null, [3], -5n]);
  expect([last.xRobotsTag, last.contentType]).toEqual(['noarchive', 'text/html']);
});

it('fails in the words of the store, and with its first failure', () => {
  const { db, guard, last } = open();
  db.close();
  expect(() => last.contentHash).toThrow('in our words');
  guard.failure = new Error('the disk is full');
  expect(() => last.contentHash).toThrow('the disk is full');
});
