/**
 * The queue of each host: ids of waiting pages, lowest priority number first, then first discovered first.
 *
 * Newly queued ids are gathered in memory and written as blocks, once a host and commit (or when the host is claimed
 * from), because one row or index entry a page would dirty a database page for almost every URL. A block stays until
 * its last id was claimed; ids whose page no longer waits are passed over, so a block may repeat after a crash.
 */
import type { Database } from 'better-sqlite3';
import { PAGE_STATES } from '../../frontier/page-state.ts';
import type { Session } from './session.ts';

const BLOCK_IDS = 256;
/** Rows that are read together: few enough to die young. */
const ROWS_AT_ONCE = 1000;
const MOST_GATHERED = 100_000;
/** Blocks that are read before those at hand are let go: a kilobyte each. */
const MOST_AT_HAND = 512;

export interface WaitingPages {
  add(hostId: number, priority: number, pageId: number): void;
  /** Calls `take` for the host's best waiting ids until it has said yes `count` times. */
  claim(hostId: number, count: number, take: (pageId: number) => boolean): void;
  /** Writes what was gathered for one host, or for all. */
  flush(hostId?: number): void;
  /** Drops the blocks of one host, or of the whole project. */
  clear(hostId?: number): void;
  /** Every id that waits, or did. */
  ids(hostId: number): number[];
}

/** How far claims have got in a host's first block. */
interface Cursor {
  seq: number;
  at: number;
  priority: number;
  firstId: number;
  /** The id there. */
  nextId: number;
  /** The block itself, while it is at hand and none was written that stands before it. */
  ids: Uint32Array | null;
}

/** host → priority → ids */
type IdsByHost = Map<number, Map<number, number[]>>;

interface BlockRow {
  priority: number;
  first_id: number;
  seq: number;
  ids: Buffer;
}

/** What the queue needs to know of a session. */
export type QueueScope = Pick<Session, 'db' | 'projectId' | 'nextBlock'>;

/** Blocks are numbered through the whole file. */
export function createBlockNumbers(db: Database): () => number {
  let last = (db.prepare('SELECT max(seq) FROM wait_block').pluck().get() as number | null) ?? 0;
  return () => ++last;
}

export function createWaitingPages({ db, projectId, nextBlock }: QueueScope): WaitingPages {
  const insert = db.prepare('INSERT INTO wait_block VALUES (?, ?, ?, ?, ?, ?)');
  const first = db.prepare(
    `SELECT priority, first_id, seq, ids FROM wait_block WHERE project_id = ? AND host_id = ?
     ORDER BY priority, first_id, seq LIMIT 1`,
  );
  const all = db.prepare('SELECT ids FROM wait_block WHERE project_id = ? AND host_id = ?').pluck();
  const remove = db.prepare(
    'DELETE FROM wait_block WHERE project_id = ? AND host_id = ? AND priority = ? AND first_id = ? AND seq = ?',
  );
  const removed = db
    .prepare(
      `DELETE FROM wait_block WHERE project_id = ? AND host_id = ? AND priority = ? AND first_id = ? AND seq = ?
       RETURNING ids`,
    )
    .pluck();
  const removeHost = db.prepare('DELETE FROM wait_block WHERE project_id = ? AND host_id = ?');
  const removeAll = db.prepare('DELETE FROM wait_block WHERE project_id = ?');
  /** New ids gathered since the last flush: they come in ascending order. */
  const gathered: IdsByHost = new Map();
  /** Ids that come back: apart, because a block must not reach over ids that stand in others. */
  const returned: IdsByHost = new Map();
  let highest = 0;
  /** Where the last claim left off, so that a block is not read from its start each time. */
  const cursors = new Map<number, Cursor>();
  let blocksRead = 0;

  function flushHost(hostId: number, byPriority: Map<number, number[]>): void {
    for (const [priority, ids] of byPriority) {
      if (!isAscending(ids)) ids.sort((a, b) => a - b);
      const earlier = makeWay(hostId, priority, ids);
      if (earlier > 0) insertBlocks(hostId, priority, ids.slice(0, earlier));
      insertBlocks(hostId, priority, earlier === 0 ? ids : ids.slice(earlier));
    }
  }

  function insertBlocks(hostId: number, priority: number, ids: ArrayLike<number>): void {
    for (let i = 0; i < ids.length; i += BLOCK_IDS) {
      const block = new Uint32Array(Math.min(BLOCK_IDS, ids.length - i));
      for (let at = 0; at < block.length; at++) block[at] = ids[i + at];
      insert.run(projectId, hostId, priority, block[0], nextBlock(), Buffer.from(block.buffer));
      const cursor = cursors.get(hostId);
      // Of two blocks with the same first id the one that was written first stands first.
      if (cursor !== undefined && isBefore(priority, block[0], cursor)) cursor.ids = null;
    }
  }

  /**
   * Ids that come back after they were claimed stand before what is left of the block they came from: the block is
   * cut where the claims have got to. Answers how many of the ids these are.
   */
  function makeWay(hostId: number, priority: number, ids: number[]): number {
    const cursor = cursors.get(hostId);
    if (cursor === undefined || cursor.priority !== priority || ids[0] > cursor.nextId) return 0;
    const block = removed.get(projectId, hostId, priority, cursor.firstId, cursor.seq) as Buffer;
    insertBlocks(hostId, priority, idsOf(block).subarray(cursor.at));
    cursors.delete(hostId);
    return ids.findLastIndex((id) => id < cursor.nextId) + 1;
  }

  /** The block to claim from, and where the last claim left off. Claims take a few ids each: it is read once for all of them. */
  function firstBlock(hostId: number): (Cursor & { ids: Uint32Array }) | null {
    const cursor = cursors.get(hostId);
    if (cursor !== undefined && isAtHand(cursor)) return cursor;
    const row = first.get(projectId, hostId) as BlockRow | undefined;
    if (row === undefined) return null;
    if (++blocksRead % MOST_AT_HAND === 0) for (const other of cursors.values()) other.ids = null;
    const { priority, first_id: firstId, seq } = row;
    const at = cursor?.seq === seq ? cursor.at : 0;
    return { seq, at, priority, firstId, nextId: 0, ids: idsOf(row.ids) };
  }

  return {
    add(hostId, priority, pageId) {
      const isNew = pageId > highest;
      if (isNew) highest = pageId;
      const byHost = isNew ? gathered : returned;
      let byPriority = byHost.get(hostId);
      if (byPriority === undefined) {
        byPriority = new Map();
        byHost.set(hostId, byPriority);
      }
      const ids = byPriority.get(priority);
      if (ids === undefined) byPriority.set(priority, [pageId]);
      else ids.push(pageId);
    },

    claim(hostId, count, take) {
      this.flush(hostId);
      let left = count;
      while (left > 0) {
        const block = firstBlock(hostId);
        if (block === null) {
          cursors.delete(hostId);
          return;
        }
        const { ids } = block;
        let { at } = block;
        while (at < ids.length && left > 0) if (take(ids[at++])) left--;
        if (at === ids.length) {
          remove.run(projectId, hostId, block.priority, block.firstId, block.seq);
          cursors.delete(hostId);
        } else {
          block.at = at;
          block.nextId = ids[at];
          cursors.set(hostId, block);
        }
      }
    },

    flush(hostId) {
      for (const byHost of [returned, gathered]) {
        if (hostId === undefined) {
          for (const [id, byPriority] of byHost) flushHost(id, byPriority);
          byHost.clear();
        } else {
          const byPriority = byHost.get(hostId);
          if (byPriority !== undefined) flushHost(hostId, byPriority);
          byHost.delete(hostId);
        }
      }
    },

    clear(hostId) {
      if (hostId === undefined) {
        gathered.clear();
        returned.clear();
        cursors.clear();
        removeAll.run(projectId);
      } else {
        gathered.delete(hostId);
        returned.delete(hostId);
        cursors.delete(hostId);
        removeHost.run(projectId, hostId);
      }
    },

    ids(hostId) {
      this.flush(hostId);
      return (all.all(projectId, hostId) as Buffer[]).flatMap((ids) => [...idsOf(ids)]);
    },
  };
}

function isAscending(ids: number[]): boolean {
  for (let i = 1; i < ids.length; i++) if (ids[i] < ids[i - 1]) return false;
  return true;
}

function isBefore(priority: number, firstId: number, block: Cursor): boolean {
  return priority === block.priority ? firstId < block.firstId : priority < block.priority;
}

function isAtHand(cursor: Cursor): cursor is Cursor & { ids: Uint32Array } {
  return cursor.ids !== null;
}

function idsOf(blob: Buffer): Uint32Array {
  // A copy, because the blob's memory need not be aligned to four bytes.
  return new Uint32Array(Uint8Array.from(blob).buffer);
}

/** Puts every waiting row of the project into blocks again, after states changed in bulk. */
export function rebuildWaiting(
  { db, projectId }: Pick<QueueScope, 'db' | 'projectId'>,
  waiting: WaitingPages,
): void {
  waiting.clear();
  const read = db
    .prepare(
      `SELECT id, host_id, priority FROM url WHERE project_id = ? AND id > ? AND state = ${PAGE_STATES.Queued}
         AND retry_at IS NULL ORDER BY id LIMIT ${ROWS_AT_ONCE}`,
    )
    .raw();
  let gathered = 0;
  for (let after = 0; ; ) {
    const rows = read.all(projectId, after) as [id: number, hostId: number, priority: number][];
    if (rows.length === 0) break;
    for (const [id, hostId, priority] of rows) waiting.add(hostId, priority, id);
    after = rows[rows.length - 1][0];
    gathered += rows.length;
    if (gathered >= MOST_GATHERED) {
      waiting.flush();
      gathered = 0;
    }
  }
  waiting.flush();
}
