/**
 * Groups writes: a transaction is always open on the writer's connection, statements run at once (but for lines that
 * nobody reads before), and the group is committed after 256 settlements or one second, whichever comes first. What is
 * read on this connection sees the open group; other processes see the last commit. A crash loses at most the open
 * group, whole.
 */
import type { Database } from 'better-sqlite3';
import type { Clock } from '../../primitives/clock.ts';

const MAX_SETTLEMENTS = 256;
const MAX_AGE_MS = 1000;

export interface CommitWindow {
  /** Counts one settlement into the open group. */
  count(): void;
  /** Something was written that must not wait longer than the window's age. */
  touch(): void;
  /** Ends the group now. */
  commit(): void;
  close(): void;
}

/** `beforeCommit` writes what is gathered in memory (counters, host states); `onFailure` hears of a timed commit's error. */
export function openCommitWindow(
  db: Database,
  clock: Clock,
  beforeCommit: () => void,
  onFailure: (error: unknown) => void,
): CommitWindow {
  let settlements = 0;
  let cancelTimer: (() => void) | null = null;
  let isClosed = false;

  function commit(): void {
    cancelTimer?.();
    cancelTimer = null;
    settlements = 0;
    beforeCommit();
    db.exec('COMMIT');
    db.exec('BEGIN IMMEDIATE');
  }

  function touch(): void {
    // Nothing would be written any more, and the timer's commit would fail for somebody who has long gone.
    if (isClosed) throw new Error('the store is closed');
    cancelTimer ??= clock.after(MAX_AGE_MS, () => {
      cancelTimer = null;
      try {
        commit();
      } catch (error) {
        onFailure(error);
      }
    });
  }

  return {
    count() {
      if (++settlements >= MAX_SETTLEMENTS) commit();
      else touch();
    },
    touch,
    commit,
    close() {
      cancelTimer?.();
      beforeCommit();
      if (db.inTransaction) db.exec('COMMIT');
      cancelTimer?.();
      isClosed = true;
    },
  };
}
