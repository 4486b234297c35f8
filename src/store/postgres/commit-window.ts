/**
 * Settlements are gathered in a group and written in one transaction, bounded by number, by size and by age. While one
 * group is on its way to the database the next one fills; groups are written one after the other, each whole or not at
 * all. What they need before that is prepared one after the other, too: behind the group before, but not behind its write,
 * and where somebody waits for it before the group is full. Nothing here knows what a group holds.
 */
import type { Clock } from '../../primitives/clock.ts';
import { type Group, newGroup } from './group.ts';

const MAX_SETTLEMENTS = 256;
const MAX_TEXT_BYTES = 8 * 1024 * 1024;
const MAX_AGE_MS = 1000;
/** So many settlements may wait behind a commit that takes its time; then `settle` waits, too. */
const MAX_BEHIND = 4 * MAX_SETTLEMENTS;

export interface CommitWindow {
  /** What is gathered now. */
  readonly group: Group;
  /** Counts one settlement into the open group; resolves at once unless too much waits behind a slow commit. */
  count(textBytes: number): Promise<void> | undefined;
  /** Something was gathered that must not wait longer than the window's age. */
  touch(): void;
  /** Resolves when everything gathered so far is prepared; the group stays open. */
  ahead(): Promise<void>;
  /** Resolves when everything gathered so far is committed. */
  flush(): Promise<void>;
  /** As `flush`, but waits a moment for others to come along: for whoever has time until then. */
  soon(delayMs: number): Promise<void>;
  /** Resolves when the commits that have begun are over. */
  rest(): Promise<void>;
  stop(): void;
}

interface CommitSteps {
  /** Called in the moment in which nothing more comes into a group. */
  close(group: Group): void;
  /** For all that came since it was last called for this group. Throws, as `write` does, when patience is over. */
  prepare(group: Group): Promise<void>;
  write(group: Group): Promise<void>;
  /** Hears of what they throw when nobody awaits it. */
  onFailure(error: unknown): void;
}

export function openCommitWindow(
  clock: Clock,
  { close, prepare, write, onFailure }: CommitSteps,
): CommitWindow {
  let group = newGroup(1, null);
  let written: Group | null = null;
  let settlements = 0;
  let bytes = 0;
  let isTouched = false;
  let cancelTimer: (() => void) | null = null;
  let last: Promise<void> = Promise.resolve();
  let lastPrepared: Promise<void> = Promise.resolve();
  let isWriting = false;
  /** The commit that several wait for, not begun yet. */
  let awaited: Promise<void> | null = null;

  function prepareNext(one: Group): Promise<void> {
    const prepared = lastPrepared.then(() => prepare(one));
    // Whoever asked hears of it, and so does the write.
    lastPrepared = prepared.catch(() => {});
    return prepared;
  }

  function commit(): Promise<void> {
    cancelTimer?.();
    cancelTimer = null;
    if (!isTouched) return last;
    const closed = group;
    close(closed);
    group = newGroup(closed.number + 1, written);
    written = null;
    settlements = 0;
    bytes = 0;
    isTouched = false;
    const before = last;
    const prepared = prepareNext(closed);
    last = (async () => {
      await before;
      isWriting = true;
      try {
        await prepared;
        await write(closed);
        written = closed;
      } finally {
        isWriting = false;
      }
    })();
    last.catch(onFailure);
    return last;
  }

  function touch(): void {
    isTouched = true;
    cancelTimer ??= clock.after(MAX_AGE_MS, () => {
      cancelTimer = null;
      void commit();
    });
  }

  return {
    get group() {
      return group;
    },
    count(textBytes) {
      bytes += textBytes;
      settlements++;
      touch();
      const isFull = settlements >= MAX_SETTLEMENTS || bytes >= MAX_TEXT_BYTES;
      if (!isFull) return undefined;
      // While a group is on its way the next one may grow: fewer, larger commits are cheaper.
      if (!isWriting) {
        void commit();
        return undefined;
      }
      if (settlements < MAX_BEHIND && bytes < MAX_TEXT_BYTES) {
        // A failure is told by `onFailure`.
        if (settlements === MAX_SETTLEMENTS) last.then(commit).catch(() => {});
        return undefined;
      }
      return commit();
    },
    touch,
    ahead: () => prepareNext(group),
    flush: commit,
    soon(delayMs) {
      awaited ??= new Promise<void>((resolve, reject) => {
        clock.after(delayMs, () => {
          awaited = null;
          commit().then(resolve, reject);
        });
      });
      return awaited;
    },
    rest: () => last,
    stop() {
      cancelTimer?.();
      cancelTimer = null;
    },
  };
}
