/**
 * Which functions of ours a condition calls in the end, also by way of macros and views. It is asked of the plan, so that
 * nothing of the condition runs.
 */
import type { DuckDBConnection } from '@duckdb/node-api';
import { FUNCTIONS } from '../functions/function-list.ts';

/** As they are registered; a table function stands there alone. */
const OURS = /\b(sumi_[a-z_]+)(?=\(|\\?")/gi;

const WRITTEN = new RegExp(`\\b(?:sumi_)?(${FUNCTIONS.map(({ name }) => name).join('|')})"?\\s*\\(`, 'gi');

/** Inner names in lower case, such as `sumi_surt`. A name in a text may count, too. */
export async function functionsOfOurs(connection: DuckDBConnection, condition: string): Promise<string[]> {
  const rows = "(SELECT unnest(['a', 'b']) AS url) AS found";
  const plan = await connection
    .runAndReadAll(`EXPLAIN (FORMAT json) SELECT (${condition}\n) FROM ${rows}`)
    // What cannot be planned is told by whoever prepares it.
    .catch(() => null);
  const text = plan === null ? '' : String(plan.getRowsJS()[0]?.[1] ?? '');
  const called = [...text.matchAll(OURS)].map(([, name]) => name);
  // A call with constants alone is worked out while it is planned, and is gone from the plan.
  const written = [...condition.matchAll(WRITTEN)].map(([, name]) => `sumi_${name}`);
  return [...new Set([...called, ...written].map((name) => name.toLowerCase()))];
}
