import Sqlite, { type Database } from 'better-sqlite3';
import { describe, expect, it } from 'vitest';
import { FakeClock } from '../../../test/fake-clock.ts';
import { openCommitWindow } from './commit-window.ts';

function open() {
  const clock = new FakeClock();
  const db: Database = new Sqlite(':memory:');
  db.exec('CREATE TABLE t (n); BEGIN IMMEDIATE');
  const commits: number[] = [];
  const failures: unknown[] = [];
  let gather = () => {};
  const window = openCommitWindow(
    db,
    clock,
    () => {
      gather();
      commits.push(clock.monotonic());
    },
    (error) => failures.push(error),
  );
  return {
    clock,
    db,
    window,
    commits,
    failures,
    setGather(write: () => void) {
      gather = write;
    },
  };
}

describe('the commit window', () => {
  it('closes a group after 256 settlements', () => {
    const { window, commits } = open();
    for (let i = 0; i < 255; i++) window.count();
    expect(commits).toHaveLength(0);
    window.count();
    expect(commits).toHaveLength(1);
    for (let i = 0; i < 255; i++) window.count();
    expect(commits).toHaveLength(1);
  });

  it('closes a group one second after its first settlement, not its last', () => {
    const { clock, window, commits } = open();
    window.count();
    clock.advance(600);
    window.count();
    clock.advance(399);
    expect(commits).toHaveLength(0);
    clock.advance(1);
    expect(commits).toHaveLength(1);
  });

  it('does nothing by itself while nothing was written', () => {
    const { clock, commits } = open();
    clock.advance(60_000);
    expect(commits).toHaveLength(0);
    expect(clock.pending).toBe(0);
  });

  it('writes what was gathered into the group it closes, and opens the next at once', () => {
    const { db, window, setGather } = open();
    setGather(() => db.exec('INSERT INTO t VALUES (7)'));
    window.commit();
    expect(db.inTransaction).toBe(true);
    db.exec('ROLLBACK');
    expect(db.prepare('SELECT n FROM t').pluck().all()).toEqual([7]);
  });

  it('starts its second anew after a commit by count or by hand', () => {
    const { clock, window, commits } = open();
    window.touch();
    clock.advance(900);
    window.commit();
    window.touch();
    clock.advance(900);
    expect(commits).toHaveLength(1);
    clock.advance(100);
    expect(commits).toHaveLength(2);
  });

  it('tells of an error that nobody called for, and tries again with the next group', () => {
    const { clock, window, failures, commits, setGather } = open();
    const error = new Error('disk full');
    setGather(() => {
      throw error;
    });
    window.touch();
    clock.advance(1000);
    expect(failures).toEqual([error]);
    setGather(() => {});
    window.touch();
    clock.advance(1000);
    expect(commits).toHaveLength(1);
  });

  it('commits the last group when it is closed, and leaves no timer behind', () => {
    const { clock, db, window } = open();
    db.exec('INSERT INTO t VALUES (1)');
    window.touch();
    window.close();
    expect(db.inTransaction).toBe(false);
    expect(clock.pending).toBe(0);
    expect(db.prepare('SELECT count(*) FROM t').pluck().get()).toBe(1);
  });

  it('takes nothing more once it is closed, and leaves no timer behind', () => {
    const { clock, db, window, failures, setGather } = open();
    setGather(() => window.touch());
    window.touch();
    window.close();
    db.close();
    expect(() => window.touch()).toThrow('the store is closed');
    clock.advance(5000);
    expect(failures).toEqual([]);
  });
});
