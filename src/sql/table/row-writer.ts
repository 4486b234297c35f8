/**
 * Writes rows of a CRAWL into its table. A batch is a transaction: whole, or row by row without the refused ones, never in
 * part. All calls end before they return, so that rows are written also while the DuckDB thread waits for the main thread.
 * A URL has one row: `append` is for URLs without one, `replace` for the others. Nobody else uses the connection meanwhile.
 */
import type { DuckDBConnection, DuckDBPreparedStatement } from '@duckdb/node-api';
import { sumiError } from '../../errors.ts';
import type { CrawlRow } from './crawl-row.ts';
import { type PutRows, preparePutRows } from './put-rows.ts';
import { quoteText } from './quote-name.ts';
import type { ExtractValues } from './row-filler.ts';
import { createTransactions, runNow, type Transactions } from './run-now.ts';
import type { TargetPlan } from './target-plan.ts';
import { prepareUpdateRows, type RedirectEnd, type UpdateRows } from './update-rows.ts';
import { ALTERED, readWriteError } from './write-error.ts';
import { createWriteTools, type WriteTools } from './write-tools.ts';

export type { RedirectEnd } from './update-rows.ts';

export interface RefusedRow {
  url: string;
  error: string;
}

export interface RowsWritten {
  written: number;
  refused: RefusedRow[];
}

export interface RowWriter {
  append(rows: readonly CrawlRow[]): RowsWritten;
  /** Deletes every row of these URLs; columns that are not the crawl's keep their values. */
  replace(rows: readonly CrawlRow[]): RowsWritten;
  /** Only the time is new. */
  touch(urls: readonly string[], crawlTime: number): void;
  setChains(chains: readonly RedirectEnd[]): void;
  /** Leaves the connection open. */
  close(): void;
}

export async function createRowWriter(
  connection: DuckDBConnection,
  plan: TargetPlan,
  extract?: ExtractValues,
): Promise<RowWriter> {
  try {
    return createWriter(plan, await prepareWriter(connection, plan, extract));
  } catch (error) {
    const failure = readWriteError(plan.name, error);
    throw failure.isRefusal ? error : failure.error;
  }
}

interface Prepared {
  transactions: Transactions;
  /** Throws when the table was altered. */
  check: DuckDBPreparedStatement;
  put: PutRows;
  update: UpdateRows;
  tools: WriteTools;
}

async function prepareWriter(
  connection: DuckDBConnection,
  plan: TargetPlan,
  extract: ExtractValues | undefined,
): Promise<Prepared> {
  // One form of errors, whatever the connection was set to.
  await connection.run('SET errors_as_json = true');
  const tools = createWriteTools(connection, plan, extract);
  try {
    const check = await tools.prepare(
      `SELECT CASE WHEN typeof(any_value(t)) <> ${quoteText(plan.shape)} THEN error(${quoteText(ALTERED)}) END
       FROM ${plan.qualified} t WHERE false`,
    );
    return {
      ...{ check, tools },
      transactions: await createTransactions(tools.prepare),
      put: await preparePutRows(tools),
      update: await prepareUpdateRows(tools),
    };
  } catch (error) {
    tools.close();
    throw error;
  }
}

function createWriter(plan: TargetPlan, prepared: Prepared): RowWriter {
  const { transactions, check, put, update, tools } = prepared;

  function commit(work: () => void): void {
    try {
      transactions.run(() => {
        runNow(check);
        work();
      });
    } catch (error) {
      tools.clear();
      throw error;
    }
  }

  /** A batch that is refused goes again in halves, until the row is found that is to blame. */
  function write(rows: readonly CrawlRow[], putAll: PutRows['append']): RowsWritten {
    if (rows.length === 0) return { written: 0, refused: [] };
    try {
      commit(() => putAll(rows));
      return { written: rows.length, refused: [] };
    } catch (error) {
      const failure = readWriteError(plan.name, error);
      if (!failure.isRefusal) throw failure.error;
      if (rows.length === 1) return { written: 0, refused: [{ url: rows[0].url, error: failure.reason }] };
      const middle = rows.length >> 1;
      const [first, second] = [write(rows.slice(0, middle), putAll), write(rows.slice(middle), putAll)];
      return {
        written: first.written + second.written,
        refused: [...first.refused, ...second.refused],
      };
    }
  }

  function change(work: () => void): void {
    try {
      commit(work);
    } catch (error) {
      const failure = readWriteError(plan.name, error);
      throw failure.isRefusal
        ? sumiError('sql-target-unwritable', { table: plan.name, reason: failure.reason }, error)
        : failure.error;
    }
  }

  return {
    append: (rows) => write(lastOfEach(rows), put.append),
    replace: (rows) => write(lastOfEach(rows), put.replace),
    touch(urls, crawlTime) {
      if (urls.length > 0) change(() => update.touch(urls, crawlTime));
    },
    setChains(chains) {
      if (chains.length > 0) change(() => update.setChains(chains));
    },
    close: tools.close,
  };
}

/** Two rows of a URL in one batch: the later one counts. */
function lastOfEach(rows: readonly CrawlRow[]): readonly CrawlRow[] {
  const byUrl = new Map(rows.map((row) => [row.url, row]));
  return byUrl.size === rows.length ? rows : [...byUrl.values()];
}
