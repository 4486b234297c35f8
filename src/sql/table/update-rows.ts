/** Changes rows that a table has, inside of a transaction: the time of an answer, the end of a redirect chain. */
import { DuckDBTimestampTZValue } from '@duckdb/node-api';
import { type ColumnName, toTimestamp } from './columns.ts';
import { quoteName } from './quote-name.ts';
import { runNow } from './run-now.ts';
import { findColumn } from './target-plan.ts';
import { createTextTable, type WriteTools } from './write-tools.ts';

/** How the redirect chain of a URL that has a row ended. */
export interface RedirectEnd {
  url: string;
  finalUrl: string | null;
  redirectCount: number;
  /** Null where it led to a page. */
  error: string | null;
}

export interface UpdateRows {
  touch(urls: readonly string[], crawlTime: number): void;
  setChains(chains: readonly RedirectEnd[]): void;
}

export async function prepareUpdateRows(tools: WriteTools): Promise<UpdateRows> {
  return { touch: await prepareTouch(tools), setChains: await prepareChains(tools) };
}

async function prepareTouch(tools: WriteTools): Promise<UpdateRows['touch']> {
  const { plan } = tools;
  const time = findColumn(plan, 'crawl_time');
  if (time === undefined) return () => {};
  const url = quoteName(findColumn(plan, 'url')!.name);
  const keys = await createTextTable(tools, 'sumi_touched', ['url']);
  const touched = await tools.prepare(
    `UPDATE ${plan.qualified} SET ${quoteName(time.name)} = $1 WHERE ${url} IN (SELECT url FROM ${keys.name})`,
  );
  return (urls, crawlTime) => {
    const at = toTimestamp(crawlTime);
    // As a TIMESTAMP it would be read in the session's zone.
    if (time.type.endsWith('TIME ZONE')) touched.bindTimestampTZ(1, new DuckDBTimestampTZValue(at.micros));
    else touched.bindTimestamp(1, at);
    keys.fill(urls.map((one) => [one]));
    runNow(touched);
    keys.empty();
  };
}

/** Of a table with all of them; `t` is the target, `c` the chains. */
const CHAIN_VALUES: readonly [ColumnName, string][] = [
  ['final_url', 'c.final_url'],
  ['redirect_count', 'CAST(c.redirect_count AS INTEGER)'],
  ['error', 'coalesce(c.error, t.error)'],
  ['error_type', `CASE WHEN c.error IS NULL THEN t.error_type ELSE 'redirect_error' END`],
];

async function prepareChains(tools: WriteTools): Promise<UpdateRows['setChains']> {
  const { plan } = tools;
  const set = CHAIN_VALUES.flatMap(([name, value]) => {
    const column = findColumn(plan, name);
    return column === undefined ? [] : [`${quoteName(column.name)} = ${value}`];
  });
  if (set.length === 0) return () => {};
  const url = quoteName(findColumn(plan, 'url')!.name);
  const ends = await createTextTable(tools, 'sumi_chains', ['url', 'final_url', 'redirect_count', 'error']);
  const chained = await tools.prepareToRead(
    `UPDATE ${plan.qualified} t SET ${set.join(', ')} FROM ${ends.name} c WHERE t.${url} = c.url AND $1`,
  );
  return (chains) => {
    ends.fill(chains.map((one) => [one.url, one.finalUrl, String(one.redirectCount), one.error]));
    runNow(chained);
    ends.empty();
  };
}
