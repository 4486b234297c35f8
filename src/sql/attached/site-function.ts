/**
 * `sumi_site(number, table)`, the table function behind the views of attached stores: asks a store for the columns that
 * DuckDB wants, and writes them column by column. Rows come in the order of the store.
 */
import {
  BIGINT,
  DOUBLE,
  type DuckDBConnection,
  type DuckDBDataChunk,
  DuckDBTableFunction,
  VARCHAR,
} from '@duckdb/node-api';
import type { ColumnBatch, ColumnValue } from '../../store/column-port.ts';
import type { SiteScan, SiteSource } from './site-source.ts';
import { type Carried, SITE_TABLES, type SiteTable } from './site-tables.ts';
import { URL_COLUMNS, urlColumns } from './url-columns.ts';

/** A vector of DuckDB. */
const MOST_ROWS = 2048;
const TYPES = { DOUBLE, VARCHAR } satisfies Record<Carried, unknown>;

interface Bound {
  source: SiteSource;
  table: SiteTable;
  connectionId: number;
}

interface Scan {
  rows: SiteScan;
  names: readonly string[];
  /** What the store was asked for. */
  asked: readonly string[];
  batch: ColumnBatch | null;
  /** Rows of the batch that DuckDB has. */
  done: number;
}

export interface SiteFunctionParts {
  sourceOf(site: number): SiteSource | undefined;
  /** Told of each look at a table, and of its end. */
  onScan(scan: SiteScan, connectionId: number): void;
  onEnd(scan: SiteScan): void;
  /** DuckDB passes on only the text of an error. */
  textOf(error: unknown): string;
}

export function registerSiteFunction(connection: DuckDBConnection, parts: SiteFunctionParts): void {
  const explained = <T>(work: () => T): T => {
    try {
      return work();
    } catch (error) {
      throw new Error(parts.textOf(error), { cause: error });
    }
  };
  connection.registerTableFunction(
    DuckDBTableFunction.create({
      name: 'sumi_site',
      parameterTypes: [BIGINT, VARCHAR],
      supportsProjectionPushdown: true,
      bindFunction(info) {
        const source = parts.sourceOf(Number(info.getParameter(0)));
        const table = SITE_TABLES[String(info.getParameter(1))];
        if (source === undefined || table === undefined)
          throw new TypeError('sumi_site is for the views of attached stores only');
        for (const [name, carried] of Object.entries(table.columns))
          info.addResultColumn(name, TYPES[carried]);
        const { connectionId } = info.clientContext;
        info.setBindData({ source, table, connectionId } satisfies Bound);
      },
      initFunction(info) {
        const { source, table, connectionId } = info.getBindData() as Bound;
        const all = Object.keys(table.columns);
        const scan = explained(() =>
          begin(
            source,
            table,
            info.getColumnIndexes().map((at) => all[at]),
          ),
        );
        parts.onScan(scan.rows, connectionId);
        // One reader, so that rows stay in order.
        info.setMaxThreads(1);
        info.setInitData(scan);
      },
      mainFunction(info, chunk) {
        const scan = info.getInitData() as Scan;
        explained(() => write(scan, chunk));
        if (scan.batch === null) parts.onEnd(scan.rows);
      },
    }),
  );
}

function begin(source: SiteSource, { reads }: SiteTable, names: readonly string[]): Scan {
  const asked = [...new Set(names.map((name) => (name in URL_COLUMNS ? 'fetch_url' : name)))];
  return { rows: source.read({ table: reads, columns: asked }), names, asked, batch: null, done: 0 };
}

/** The next rows; none at the end. */
function write(scan: Scan, chunk: DuckDBDataChunk): void {
  if (scan.batch === null || scan.done >= scan.batch.rows) {
    scan.batch = scan.rows.next();
    scan.done = 0;
  }
  if (scan.batch === null) {
    chunk.rowCount = 0;
    return;
  }
  const { batch, names, asked, done } = scan;
  const end = Math.min(batch.rows, done + MOST_ROWS);
  const isWhole = end - done === batch.rows;
  const part = (name: string): ColumnValue[] => {
    const column = batch.columns[asked.indexOf(name)];
    return isWhole ? column : column.slice(done, end);
  };
  const ofUrls = names.filter((name) => name in URL_COLUMNS);
  const made = ofUrls.length === 0 ? [] : urlColumns(ofUrls, part('fetch_url'));
  chunk.rowCount = end - done;
  for (let at = 0; at < names.length; at++) {
    const place = ofUrls.indexOf(names[at]);
    chunk.setColumnValues(at, place < 0 ? part(names[at]) : made[place]);
  }
  scan.done = end;
}
