import type { Database } from 'better-sqlite3';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { seededRandom } from '../../../test/seeded-random.ts';
import { openForWriting } from './open-database.ts';
import {
  createBlockNumbers,
  createWaitingPages,
  type QueueScope,
  rebuildWaiting,
  type WaitingPages,
} from './waiting-pages.ts';

const HOST = 1;
let db: Database;
let waiting: WaitingPages;
let session: QueueScope;
beforeEach(() => {
  db = openForWriting(':memory:');
  session = { db, projectId: 1, nextBlock: createBlockNumbers(db) };
  waiting = createWaitingPages(session);
});
afterEach(() => db.close());

function take(count: number, host = HOST): number[] {
  const taken: number[] = [];
  waiting.claim(host, count, (id) => {
    taken.push(id);
    return true;
  });
  return taken;
}

const blocks = () => db.prepare('SELECT count(*) FROM wait_block').pluck().get();

describe('a host’s queue', () => {
  it('gives ids by priority, then as they came', () => {
    for (const [priority, id] of [
      [2, 1],
      [1, 2],
      [0, 3],
      [1, 4],
      [2, 5],
    ])
      waiting.add(HOST, priority, id);
    expect(take(10)).toEqual([3, 2, 4, 1, 5]);
  });

  it('keeps hosts and projects apart', () => {
    waiting.add(1, 1, 10);
    waiting.add(2, 1, 20);
    waiting.flush();
    const own = waiting;
    waiting = createWaitingPages({ ...session, projectId: 2 });
    expect(take(10, 1)).toEqual([]);
    waiting = own;
    expect(take(10, 1)).toEqual([10]);
    expect(take(10, 2)).toEqual([20]);
  });

  it('passes over ids that are refused, and asks until it has enough', () => {
    for (let id = 1; id <= 1000; id++) waiting.add(HOST, 1, id);
    const taken: number[] = [];
    waiting.claim(HOST, 3, (id) => {
      if (id % 300 !== 0) return false;
      taken.push(id);
      return true;
    });
    expect(taken).toEqual([300, 600, 900]);
  });

  it('goes on where the last claim left off, and drops a block with its last id', () => {
    for (let id = 1; id <= 600; id++) waiting.add(HOST, 1, id);
    waiting.flush();
    expect(blocks()).toBe(3);
    expect(take(250)).toHaveLength(250);
    expect(blocks()).toBe(3);
    expect(take(10)).toEqual([251, 252, 253, 254, 255, 256, 257, 258, 259, 260]);
    expect(blocks()).toBe(2);
    expect(take(1000)).toHaveLength(340);
    expect(blocks()).toBe(0);
    expect(take(1)).toEqual([]);
  });

  it('puts ids that come back before those that were never taken', () => {
    for (let id = 1; id <= 20; id++) waiting.add(HOST, 1, id);
    const [first, second] = take(5);
    waiting.add(HOST, 1, second);
    waiting.add(HOST, 1, 21);
    waiting.add(HOST, 1, first);
    expect(take(100)).toEqual([1, 2, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21]);
  });

  it('is read anew by another session, from the start of its blocks', () => {
    for (let id = 1; id <= 5; id++) waiting.add(HOST, 1, id);
    take(2);
    waiting = createWaitingPages(session);
    waiting.add(HOST, 1, 6);
    expect(take(10)).toEqual([1, 2, 3, 4, 5, 6]);
  });

  it('can be listed and cleared, by host or whole', () => {
    for (const host of [1, 2]) for (const id of [1, 2, 3]) waiting.add(host, 1, host * 10 + id);
    take(1, 1);
    expect(waiting.ids(2)).toEqual([21, 22, 23]);
    waiting.clear(1);
    expect(take(10, 1)).toEqual([]);
    waiting.add(1, 1, 14);
    waiting.clear();
    expect([...take(10, 1), ...take(10, 2)]).toEqual([]);
  });

  it('holds the same as a sorted list, whatever is mixed', () => {
    const seed = Date.now() >>> 0;
    const random = seededRandom(seed);
    const truth = new Map<number, number>();
    /** Like the crawl's: an id is a hint, the page's own state is the truth. */
    const takeWaiting = (count: number) => {
      const taken: number[] = [];
      waiting.claim(HOST, count, (id) => {
        const isWaiting = truth.has(id) && !taken.includes(id);
        if (isWaiting) taken.push(id);
        return isWaiting;
      });
      return taken;
    };
    let lastId = 0;
    for (let round = 0; round < 300; round++) {
      for (let i = random.below(100); i > 0; i--) {
        truth.set(++lastId, random.below(3));
        waiting.add(HOST, truth.get(lastId)!, lastId);
      }
      if (random.below(3) === 0) waiting.flush();
      const taken = takeWaiting(random.below(60));
      const expected = [...truth].sort(([a, p], [b, q]) => p - q || a - b).slice(0, taken.length);
      expect(taken, `seed ${seed}, round ${round}`).toEqual(expected.map(([id]) => id));
      const back = random.below(4) === 0 ? taken.splice(-3) : [];
      for (const id of back) waiting.add(HOST, truth.get(id)!, id);
      for (const id of taken) truth.delete(id);
    }
  });
});

describe('rebuilding', () => {
  it('takes the waiting rows of the project, retries apart, for the truth', () => {
    const insert = db.prepare(
      `INSERT INTO url (id, project_id, host_id, state, priority, depth, attempts, retry_at, discovered_run, discovered_at, url)
       VALUES (?, ?, 1, ?, ?, 0, 0, ?, 1, 0, ?)`,
    );
    insert.run(1, 1, 1, 2, null, 'a');
    insert.run(2, 1, 1, 1, null, 'b');
    insert.run(3, 1, 3, 0, null, 'processed');
    insert.run(4, 1, 1, 0, 99, 'retry');
    insert.run(5, 2, 1, 0, null, 'other project');
    waiting.add(HOST, 0, 3);
    rebuildWaiting(session, waiting);
    expect(take(10)).toEqual([2, 1]);
  });
});
