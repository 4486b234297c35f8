/**
 * Deletes all that is kept of a project, batch by batch, so that crawls of other projects go on between. Each batch leaves the
 * file in order: a page goes with all that is kept of it, because its id may be given to another, and requests go when a
 * mark on their host says so, because an audit must know what it cannot judge any more. Whoever goes on after a crash begins
 * at the front and finds less. Hosts, their clocks and robots.txt are everybody's and stay.
 */
import { REQUEST_KINDS } from '../host-port.ts';
import { PAGE_TABLES } from '../page-tables.ts';
import { hasPageWords } from './full-text.ts';
import type { OpenFile } from './session.ts';

const CLEARED = REQUEST_KINDS.indexOf('cleared');
/** Of no run: the runs of the project are deleted, too. */
const NO_RUN = 0;

/** Tables whose keys begin with project and host. */
const HOST_TABLES = ['host_queue', 'wait_block', 'discovery'];
const PROJECT_TABLES = ['origin', 'index_state', 'facet_count', 'section_count', 'reader_look', 'run'];

const nextTurn = () => new Promise<void>((resolve) => setImmediate(resolve));

export async function purgeProject(
  file: OpenFile,
  projectId: number,
  { batch, signal }: { batch: number; signal?: AbortSignal },
): Promise<void> {
  const { db, window } = file;
  const steps = [purgeRequests, purgeHistory, purgePages, purgeHosts];
  for (const step of steps) {
    for (const hasChanged of step(file, projectId, batch)) {
      if (hasChanged) window.commit();
      await nextTurn();
      if (file.guard.failure !== null) throw file.guard.failure;
      if (signal?.aborted) return;
    }
  }
  for (const table of PROJECT_TABLES) db.prepare(`DELETE FROM ${table} WHERE project_id = ?`).run(projectId);
  db.prepare('DELETE FROM meta WHERE key = ?').run(`unprepared:${projectId}`);
  db.prepare('DELETE FROM project WHERE id = ?').run(projectId);
  window.commit();
}

/** Says after each batch whether it has changed anything. */
type Step = Generator<boolean>;

/** Marks of earlier purges are taken up by the new ones, so that a host has one. */
function* purgeRequests({ db }: OpenFile, project: number, batch: number): Step {
  const own = `id > @after AND id <= @upTo AND (run_id IN (SELECT id FROM run WHERE project_id = @project)
    OR (run_id = ${NO_RUN} AND kind = ${CLEARED}))`;
  const hosts = db.prepare(
    `SELECT host_id AS host, max(ended_at) AS until FROM request WHERE ${own} GROUP BY host_id`,
  );
  const remove = db.prepare(`DELETE FROM request WHERE ${own}`);
  const mark = db.prepare(
    `INSERT INTO request (run_id, host_id, kind, slot_at, sent_at, ended_at, delay_ms, per_host, status_code, wire_bytes)
     VALUES (${NO_RUN}, ?, ${CLEARED}, 0, 0, ?, 0, 0, 0, 0)`,
  );
  const raise = db.prepare('UPDATE request SET ended_at = max(ended_at, ?) WHERE id = ?');
  const marks = new Map<number, number>();
  const end = (db.prepare('SELECT max(id) FROM request').pluck().get() as number | null) ?? 0;
  for (const { after, upTo } of windowsOf(db, 'request', batch, end)) {
    const found = hosts.all({ after, upTo, project }) as { host: number; until: number }[];
    if (found.length > 0) remove.run({ after, upTo, project });
    for (const { host, until } of found) {
      const known = marks.get(host);
      if (known === undefined) marks.set(host, Number(mark.run(host, until).lastInsertRowid));
      else raise.run(until, known);
    }
    yield found.length > 0;
  }
}

function* purgeHistory({ db }: OpenFile, project: number, batch: number): Step {
  const runs = db.prepare('SELECT id FROM run WHERE project_id = ?').pluck().all(project) as number[];
  for (const table of ['visit', 'page_change']) {
    const last = db
      .prepare(
        `SELECT max(page_id) FROM (SELECT page_id FROM ${table} WHERE run_id = ? AND page_id > ? ORDER BY page_id LIMIT ?)`,
      )
      .pluck();
    const remove = db.prepare(`DELETE FROM ${table} WHERE run_id = ? AND page_id > ? AND page_id <= ?`);
    for (const run of runs) {
      for (let after = 0; ; ) {
        const upTo = last.get(run, after, batch) as number | null;
        if (upTo === null) break;
        remove.run(run, after, upTo);
        after = upTo;
        yield true;
      }
    }
  }
}

function* purgePages({ db, rows }: OpenFile, project: number, batch: number): Step {
  const own = db.prepare('SELECT id FROM url WHERE id > ? AND id <= ? AND project_id = ?').pluck();
  const ofPages = (table: string, key: string) =>
    db.prepare(`DELETE FROM ${table} WHERE ${key} IN (SELECT value FROM json_each(?))`);
  const removals = [
    ...(hasPageWords(db) ? [ofPages('page_words', 'rowid')] : []),
    ...PAGE_TABLES.map((table) => ofPages(table, 'page_id')),
    ofPages('redirect_wait', 'target_id'),
    ofPages('url', 'id'),
  ];
  rows.flush();
  const end = (db.prepare('SELECT max(id) FROM url').pluck().get() as number | null) ?? 0;
  for (const { after, upTo } of windowsOf(db, 'url', batch, end)) {
    const ids = own.all(after, upTo, project);
    if (ids.length > 0) {
      for (const removal of removals) removal.run(JSON.stringify(ids));
      rows.followRows();
    }
    yield ids.length > 0;
  }
}

function* purgeHosts({ db }: OpenFile, project: number, batch: number): Step {
  for (const table of HOST_TABLES) {
    const remove = db.prepare(
      `DELETE FROM ${table} WHERE project_id = @project AND host_id <=
         (SELECT max(host_id) FROM (SELECT host_id FROM ${table} WHERE project_id = @project ORDER BY host_id LIMIT @batch))`,
    );
    while (remove.run({ project, batch }).changes > 0) yield true;
  }
}

/** Of a table's ids, so many rows each, whosever they are: no look is longer than one window. */
function* windowsOf(
  db: OpenFile['db'],
  table: string,
  rows: number,
  end: number,
): Generator<{ after: number; upTo: number }> {
  const last = db
    .prepare(`SELECT max(id) FROM (SELECT id FROM ${table} WHERE id > ? AND id <= ? ORDER BY id LIMIT ?)`)
    .pluck();
  for (let after = 0; ; ) {
    const upTo = last.get(after, end, rows) as number | null;
    if (upTo === null) return;
    yield { after, upTo };
    after = upTo;
  }
}
