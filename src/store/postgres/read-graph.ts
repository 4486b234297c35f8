/**
 * The link graph on PostgreSQL: the answers of sqlite/read-graph.ts, row for row. The partitions are merged by page id,
 * a statement a batch, so that no transaction stays open while a graph is built.
 */
import { inStates, type RawGraphPage, withStateName } from '../graph-rows.ts';
import type { GraphFilter, GraphLinks, GraphPage } from '../read-rows.ts';
import { NO_DEPTH } from '../settlement.ts';
import type { Sql } from './connection.ts';
import { ask } from './session.ts';

/** Journeys cost more here than rows. */
const PAGES_A_BATCH = 5000;
/** A set of links may be a hundred kilobytes. */
const SETS_A_BATCH = 500;

interface PackedLinks {
  page_id: number;
  targets: number[];
  flags: number[] | null;
}

export function createGraphReader(sql: Sql) {
  const ofProject = ({ project }: GraphFilter) =>
    project === undefined
      ? { where: '', values: [] }
      : { where: 'AND u.project_id = (SELECT id FROM project WHERE name = $3)', values: [project] };

  async function* graphPages(filter: GraphFilter): AsyncGenerator<readonly GraphPage[]> {
    const { where, values } = ofProject(filter);
    // The batch is cut from url alone, so that the joins see no more than its rows.
    const text = `SELECT u.id, u.project_id, u.url, h.name AS host, u.state, f.title, f.status_code,
        NULLIF(u.depth, ${NO_DEPTH}) AS depth, u.discovered_run, f.redirect_to
      FROM (SELECT u.* FROM url u WHERE u.id > $1 ${where} ${inStates(filter)} ORDER BY u.id LIMIT $2) u
        JOIN host h ON h.id = u.host_id
        LEFT JOIN fetched f ON f.page_id = u.id AND f.host_id = u.host_id
      ORDER BY u.id`;
    for (let after = 0; ; ) {
      const rows = await ask<RawGraphPage>(sql, text, [after, PAGES_A_BATCH, ...values]);
      if (rows.length > 0) yield rows.map(withStateName);
      if (rows.length < PAGES_A_BATCH) return;
      after = rows[rows.length - 1].id;
    }
  }

  async function* graphLinks(filter: GraphFilter): AsyncGenerator<GraphLinks> {
    const { where, values } = ofProject(filter);
    const owner = where === '' ? '' : 'JOIN url u ON u.id = l.page_id AND u.host_id = l.host_id';
    const text = `SELECT l.page_id, l.targets, l.flags FROM link_set l ${owner}
      WHERE l.page_id > $1 ${where} ORDER BY l.page_id LIMIT $2`;
    for (let after = 0; ; ) {
      const sets = await ask<PackedLinks>(sql, text, [after, SETS_A_BATCH, ...values]);
      for (const { page_id, targets, flags } of sets) {
        // A page may have lost its last link.
        if (targets.length > 0) yield { from: page_id, targets, flags };
      }
      if (sets.length < SETS_A_BATCH) return;
      after = sets[sets.length - 1].page_id;
    }
  }

  return { graphPages, graphLinks };
}
