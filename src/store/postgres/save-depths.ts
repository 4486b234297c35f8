/** Depths per origin (page_depth): the project's old ones are replaced in one transaction. */
import type { TransactionSql } from 'postgres';
import type { DepthBatch } from '../run-port.ts';
import { type Attempting, ask, transaction } from './session.ts';

const ADD_ORIGINS = `
INSERT INTO origin (project_id, number, name) SELECT $1, n - 1, t FROM unnest($2::text[]) WITH ORDINALITY AS o(t, n)`;
// The pages of a batch are a range of ids, so that each partition is read once, in order.
const ADD_DEPTHS = `
INSERT INTO page_depth (page_id, host_id, origin, depth)
SELECT u.id, u.host_id, r.o, r.d FROM unnest($1::int[], $2::int[], $3::int[]) AS r(i, o, d)
JOIN (SELECT id, host_id FROM url WHERE project_id = $4 AND id BETWEEN $5 AND $6) u ON u.id = r.i`;

/** `batches` may be asked for again: a transaction that failed is repeated whole. */
export async function saveDepths(
  database: Attempting,
  projectId: number,
  origins: readonly string[],
  batches: Iterable<DepthBatch>,
): Promise<void> {
  await transaction(database, async (tx) => {
    // Several workers may end a run at once.
    await ask(tx, 'SELECT id FROM project WHERE id = $1 FOR UPDATE', [projectId]);
    await ask(
      tx,
      'DELETE FROM page_depth d USING url u WHERE u.project_id = $1 AND d.page_id = u.id AND d.host_id = u.host_id',
      [projectId],
    );
    await ask(tx, 'DELETE FROM origin WHERE project_id = $1', [projectId]);
    await ask(tx, ADD_ORIGINS, [projectId, [...origins]]);
    for (const batch of batches) await addBatch(tx, projectId, batch);
  });
}

async function addBatch(tx: TransactionSql, projectId: number, batch: DepthBatch): Promise<void> {
  const { count, pageIds, origins, depths } = batch;
  if (count === 0) return;
  const values = [pageIds, origins, depths].map((each) => Array.from(each.subarray(0, count)));
  await ask(tx, ADD_DEPTHS, [...values, projectId, pageIds[0], pageIds[count - 1]]);
}
