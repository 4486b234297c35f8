/**
 * Rows of new pages, written several to a statement, what they share bound once: every value bound costs as much as a
 * tenth of the row. Rows of one statement have one run, host, referrer, state, reason, priority and depth, as the new
 * links of a page mostly do.
 *
 * One for the whole file: ids are not bound, SQLite gives the next one, which is the one that was given out here. That
 * is checked. So rows of all sessions are written in the order in which they got their ids.
 */
import type { Database, Statement } from 'better-sqlite3';
import type { Candidate } from '../../frontier/candidate.ts';

export interface RowOwner {
  readonly projectId: number;
  readonly runId: number;
}

export interface PageRows {
  /** The last id that was given out. */
  readonly lastId: number;
  /** Answers the page's id; its row is written later. */
  add(
    owner: RowOwner,
    hostId: number,
    candidate: Candidate,
    depth: number,
    referrerId: number | null,
  ): number;
  /** Writes the rows that are not written yet: before anybody reads them. */
  flush(): void;
  /** Call when rows were taken away: ids go on after the last that is left. */
  followRows(): void;
}

/** So many rows to a statement, as many as there are: the more, the less each costs. */
const SIZES = [96, 24, 6, 1];

export function createPageRows(db: Database, now: () => number): PageRows {
  // The plain form serves pages under their own identity: queued, or all kept out by one reason.
  const plain = createForm(db, '?, NULL, @reason', 1);
  const full = createForm(db, '?, ?, @reason', 2);
  const maxId = db.prepare('SELECT max(id) FROM url').pluck();
  let form = plain;
  let gathered: unknown[] = [];
  const common = {
    host: 0,
    state: 0,
    priority: 0,
    depth: 0,
    project: 0,
    run: 0,
    now: 0,
    referrer: null as number | null,
    reason: null as string | null,
  };
  let lastId = 0;

  function flush(): void {
    if (gathered.length === 0) return;
    common.now = now();
    const { columns } = form;
    let written: number | bigint = 0;
    let from = 0;
    for (const size of SIZES) {
      for (; from + size * columns <= gathered.length; from += size * columns) {
        const values =
          size * columns === gathered.length ? gathered : gathered.slice(from, from + size * columns);
        written = form.statement(size).run(values, common).lastInsertRowid;
      }
    }
    gathered = [];
    if (written !== lastId) throw new Error(`page ${lastId} was written as ${written}`);
  }

  function followRows(): void {
    flush();
    lastId = (maxId.get() as number | null) ?? 0;
  }

  followRows();
  return {
    get lastId() {
      return lastId;
    },
    flush,
    followRows,
    add(owner, hostId, candidate, depth, referrerId) {
      const { state, priority, url, fetchUrl, reason } = candidate;
      const wanted = fetchUrl === url ? plain : full;
      if (
        wanted !== form ||
        common.host !== hostId ||
        common.referrer !== referrerId ||
        common.state !== state ||
        common.priority !== priority ||
        common.depth !== depth ||
        common.reason !== reason ||
        common.run !== owner.runId
      ) {
        flush();
        form = wanted;
        common.host = hostId;
        common.referrer = referrerId;
        common.state = state;
        common.priority = priority;
        common.depth = depth;
        common.reason = reason;
        common.run = owner.runId;
        common.project = owner.projectId;
      }
      if (form === plain) gathered.push(url);
      else gathered.push(url, fetchUrl);
      const id = ++lastId;
      if (gathered.length === SIZES[0] * form.columns) flush();
      return id;
    },
  };
}

/** Rows with so many values of their own, by the number of rows; prepared when first used. */
function createForm(db: Database, own: string, columns: number) {
  const row = `(@host, ${own}, @state, @priority, @depth, @project, @run, @now, @referrer, 0)`;
  const statements = new Map<number, Statement>();
  return {
    columns,
    statement(rows: number): Statement {
      let statement = statements.get(rows);
      if (statement === undefined) {
        statement = db.prepare(
          `INSERT INTO url (host_id, url, fetch_url, reason, state, priority, depth, project_id, discovered_run, discovered_at,
             referrer_id, attempts) VALUES ${Array(rows).fill(row).join(', ')}`,
        );
        statements.set(rows, statement);
      }
      return statement;
    },
  };
}
