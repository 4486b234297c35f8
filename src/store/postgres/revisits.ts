/** What a plan of revisits learned, kept beside the pages; the plan itself stands in the project's row, of one commit. */
import type { TransactionSql } from 'postgres';
import type { KeptPlan, RevisitBatch } from '../revisit-batch.ts';
import { type Attempting, ask, transaction } from './session.ts';

const BATCH = 10_000;

// The pages of a batch lie close together, so that each partition is read once, in order.
const PUT_REVISITS = `
INSERT INTO revisit (page_id, host_id, learned_at, rate_shape, rate_days, signals, signals_in_all, flags)
SELECT u.id, u.host_id, r.l, r.a, r.b, r.s, r.t, r.f
FROM unnest($1::int[], $2::bigint[], $3::float8[], $4::float8[], $5::int[], $6::int[], $7::int[])
  AS r(i, l, a, b, s, t, f)
JOIN (SELECT id, host_id FROM url WHERE project_id = $8 AND id BETWEEN $9 AND $10) u ON u.id = r.i
ORDER BY u.host_id, u.id
ON CONFLICT (page_id, host_id) DO UPDATE SET learned_at = excluded.learned_at, rate_shape = excluded.rate_shape,
  rate_days = excluded.rate_days, signals = excluded.signals, signals_in_all = excluded.signals_in_all,
  flags = excluded.flags`;
const PUT_PLAN = `UPDATE project SET revisit_plan = $2, learned_run = $3
WHERE name = $1 AND ($4::boolean OR revisit_plan IS NOT DISTINCT FROM $5::text) RETURNING id`;

export function saveRevisits(
  database: Attempting,
  project: string,
  batch: RevisitBatch,
  { plan, learnedRun, before }: KeptPlan,
): Promise<boolean> {
  return transaction(database, async (tx) => {
    const isAny = before === undefined;
    const [found] = await ask<{ id: number }>(tx, PUT_PLAN, [
      project,
      plan,
      learnedRun,
      isAny,
      before ?? null,
    ]);
    if (found === undefined) return false;
    for (let at = 0; at < batch.pageIds.length; at += BATCH) await putBatch(tx, found.id, batch, at);
    return true;
  });
}

async function putBatch(
  tx: TransactionSql,
  projectId: number,
  batch: RevisitBatch,
  from: number,
): Promise<void> {
  const ids = batch.pageIds.slice(from, from + BATCH);
  const column = (values: ArrayLike<number>) => ids.map((_, i) => values[from + i]);
  const learnedAt = column(batch.learnedAt).map((time) => (Number.isNaN(time) ? null : Math.round(time)));
  let [first, last] = [ids[0], ids[0]];
  for (const id of ids) {
    first = Math.min(first, id);
    last = Math.max(last, id);
  }
  await ask(tx, PUT_REVISITS, [
    ids,
    learnedAt,
    column(batch.rateShape),
    column(batch.rateDays),
    column(batch.signals),
    column(batch.signalsInAll),
    column(batch.flags),
    projectId,
    first,
    last,
  ]);
}
