/**
 * The link graph on SQLite: pages and packed links by growing page id, a statement a batch, so that a graph of any size
 * passes in flat memory and no batch pins the writer's log.
 */
import type { Database } from 'better-sqlite3';
import { inStates, type RawGraphPage, withStateName } from '../graph-rows.ts';
import type { GraphFilter, GraphLinks, GraphPage } from '../read-rows.ts';
import { NO_DEPTH } from '../settlement.ts';

const PAGES_A_BATCH = 1000;
/** A set of links may be a hundred kilobytes. */
const SETS_A_BATCH = 100;

interface PackedLinks {
  page_id: number;
  targets: string;
  flags: string | null;
}

export function createGraphReader(db: Database) {
  // CROSS JOIN pins the table of the keyset as the outer loop, as in read-side.ts.
  const ofProject = ({ project }: GraphFilter) =>
    project === undefined
      ? { where: '', values: [] }
      : { where: 'AND u.project_id = (SELECT id FROM project WHERE name = ?)', values: [project] };

  async function* graphPages(filter: GraphFilter): AsyncGenerator<readonly GraphPage[]> {
    const { where, values } = ofProject(filter);
    const read = db.prepare(
      `SELECT u.id, u.project_id, u.url, h.name AS host, u.state, f.title, f.status_code,
         NULLIF(u.depth, ${NO_DEPTH}) AS depth, u.discovered_run, f.redirect_to
       FROM url u CROSS JOIN host h ON h.id = u.host_id LEFT JOIN fetched f ON f.page_id = u.id
       WHERE u.id > ? ${where} ${inStates(filter)} ORDER BY u.id LIMIT ?`,
    );
    for (let after = 0; ; ) {
      const rows = read.all(after, ...values, PAGES_A_BATCH) as RawGraphPage[];
      if (rows.length > 0) yield rows.map(withStateName);
      if (rows.length < PAGES_A_BATCH) return;
      after = rows[rows.length - 1].id;
    }
  }

  async function* graphLinks(filter: GraphFilter): AsyncGenerator<GraphLinks> {
    const { where, values } = ofProject(filter);
    const owner = where === '' ? '' : 'CROSS JOIN url u ON u.id = l.page_id';
    const read = db.prepare(
      `SELECT l.page_id, l.targets, l.flags FROM link_set l ${owner}
       WHERE l.page_id > ? ${where} ORDER BY l.page_id LIMIT ?`,
    );
    for (let after = 0; ; ) {
      const sets = read.all(after, ...values, SETS_A_BATCH) as PackedLinks[];
      for (const { page_id, targets, flags } of sets) {
        const unpacked = JSON.parse(targets) as number[];
        // A page may have lost its last link.
        if (unpacked.length === 0) continue;
        yield { from: page_id, targets: unpacked, flags: flags === null ? null : JSON.parse(flags) };
      }
      if (sets.length < SETS_A_BATCH) return;
      after = sets[sets.length - 1].page_id;
    }
  }

  return { graphPages, graphLinks };
}
