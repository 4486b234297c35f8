/**
 * Puts rows into a table inside of a transaction, in one of two ways. The Appender writes every column of the table and works
 * out a default only once; it is the fast way. Defaults that differ from row to row, and values that a replaced row keeps,
 * come by way of a temporary table.
 */
import type { DuckDBAppender } from '@duckdb/node-api';
import type { CrawlRow } from './crawl-row.ts';
import { createChunkFiller } from './fill-chunk.ts';
import { quoteName } from './quote-name.ts';
import { createRowFiller, type FillRow, fallsBack, hasConstantDefault } from './row-filler.ts';
import { runNow } from './run-now.ts';
import { findColumn } from './target-plan.ts';
import { createTextTable, TEMPORARY, type WriteTools } from './write-tools.ts';

export interface PutRows {
  append(rows: readonly CrawlRow[]): void;
  /** First deletes every row of these URLs. */
  replace(rows: readonly CrawlRow[]): void;
}

export async function preparePutRows(tools: WriteTools): Promise<PutRows> {
  const { columns } = tools.plan;
  const isOther = columns.some(({ source }) => source.from === 'other');
  const needsDefault = columns.filter((column) => column.source.from === 'other' || fallsBack(column));
  const isDirect = needsDefault.every(hasConstantDefault);
  const direct = isDirect ? await prepareDirect(tools) : null;
  const staged = isOther || !isDirect ? await prepareStaged(tools) : null;
  return {
    append: (direct ?? staged)!.append,
    replace: (staged ?? direct)!.replace,
  };
}

async function prepareDirect(tools: WriteTools): Promise<PutRows> {
  const { catalog, schema, table, qualified, columns } = tools.plan;
  const appender = await tools.openAppender(table, schema, catalog);
  const fillChunks = createChunkFiller(columns);
  const fill = createRowFiller(columns, true, tools.extract);
  const keys = await createTextTable(tools, 'sumi_keys', ['url']);
  const url = quoteName(findColumn(tools.plan, 'url')!.name);
  const deleted = await tools.prepareToRead(
    `DELETE FROM ${qualified} WHERE ${url} IN (SELECT url FROM ${keys.name}) AND $1`,
  );
  const append = (rows: readonly CrawlRow[]) =>
    fillChunks === null ? fillAll(appender, fill, rows) : fillChunks(appender, rows);
  return {
    append,
    replace(rows) {
      keys.fill(rows.map((row) => [row.url]));
      runNow(deleted);
      append(rows);
      keys.empty();
    },
  };
}

function fillAll(appender: DuckDBAppender, fill: FillRow, rows: readonly CrawlRow[]): void {
  for (const row of rows) fill(appender, row);
  appender.flushSync();
}

async function prepareStaged({
  connection,
  plan,
  extract,
  prepare,
  prepareToRead,
  openAppender,
}: WriteTools): Promise<PutRows> {
  const { qualified, columns } = plan;
  const own = columns.filter(({ source }) => source.from !== 'other');
  const others = columns.filter(({ source }) => source.from === 'other');
  const url = quoteName(findColumn(plan, 'url')!.name);
  const listed = (list: typeof columns, from = '') =>
    list.map(({ name }) => `${from}${quoteName(name)}`).join(', ');
  const [stage, kept] = ['sumi_rows', 'sumi_kept'].map((name) => quoteName(TEMPORARY, 'main', name));
  const create = (table: string, list: string) =>
    connection.run(`CREATE OR REPLACE TEMP TABLE ${table} AS SELECT ${list} FROM ${qualified} WHERE false`);
  await create('sumi_rows', listed(own));
  await create('sumi_kept', [url, ...others.map(({ name }) => quoteName(name))].join(', '));
  const values = own.map((column) => {
    const value = `s.${quoteName(column.name)}`;
    return fallsBack(column) ? `coalesce(${value}, ${column.defaultExpression})` : value;
  });
  const again = others.map(
    ({ name, defaultExpression }) =>
      `CASE WHEN k.${url} IS NULL THEN ${defaultExpression ?? 'NULL'} ELSE k.${quoteName(name)} END`,
  );
  const inserted = await prepareToRead(
    `INSERT INTO ${qualified} (${listed(own)}) SELECT ${values.join(', ')} FROM ${stage} s WHERE $1`,
  );
  const insertedAgain = await prepareToRead(
    `INSERT INTO ${qualified} (${listed([...own, ...others])})
     SELECT ${[...values, ...again].join(', ')} FROM ${stage} s LEFT JOIN ${kept} k ON s.${url} = k.${url} WHERE $1`,
  );
  const isStaged = `${url} IN (SELECT ${url} FROM ${stage})`;
  const remembered = await prepareToRead(
    `INSERT INTO ${kept} SELECT DISTINCT ON (${url}) * FROM
     (SELECT ${[url, ...others.map(({ name }) => quoteName(name))].join(', ')} FROM ${qualified} WHERE ${isStaged} AND $1)`,
  );
  const deleted = await prepareToRead(`DELETE FROM ${qualified} WHERE ${isStaged} AND $1`);
  const emptied = [await prepare(`DELETE FROM ${stage}`), await prepare(`DELETE FROM ${kept}`)];
  const appender = await openAppender('sumi_rows', null, TEMPORARY);
  const fill = createRowFiller(own, false, extract);
  return {
    append(rows) {
      fillAll(appender, fill, rows);
      runNow(inserted);
      runNow(emptied[0]);
    },
    replace(rows) {
      fillAll(appender, fill, rows);
      for (const statement of [remembered, deleted, insertedAgain, ...emptied]) runNow(statement);
    },
  };
}
