/**
 * A table function inside DuckDB whose rows come from a feed, batch by batch as they are made. A batch that DuckDB has
 * taken is the request for the next one. Nothing is asked for before the first row is wanted.
 */
import {
  ANY,
  type DuckDBDataChunk,
  DuckDBTableFunction,
  type DuckDBTableFunctionBindInfo,
  type DuckDBValue,
} from '@duckdb/node-api';
import type { Feed, FeedRequest } from '../thread/feed.ts';
import { orNull } from './arguments.ts';
import type { RowColumn } from './crawl-columns.ts';
import type { FunctionErrors } from './function-errors.ts';
import type { OpenFeeds } from './open-feeds.ts';

export interface TableRequest<Row> {
  /** Of all arguments, the first one is given by place, the others by name. */
  parameters: readonly [string, ...string[]];
  columns: readonly RowColumn<Row>[];
  /** Reads the arguments, before anything runs. The answer is asked when the first row is wanted. */
  bind: (argument: (name: string) => DuckDBValue) => (columns: ReadonlySet<string>) => FeedRequest;
  /** What a batch of the feed gives. */
  rowsOf: (batch: unknown[]) => Row[];
}

/** What one scan is at. */
interface Scan<Row> {
  columns: readonly RowColumn<Row>[];
  rows: Row[];
  at: number;
  feed: Feed | null;
  open: () => Feed;
}

/** DuckDB's vectors are of this size. */
const MOST_ROWS = 2048;

export function makeTable<Row>(
  name: string,
  request: TableRequest<Row>,
  { errors, feeds }: { errors: FunctionErrors; feeds: OpenFeeds },
): DuckDBTableFunction {
  const [first, ...named] = request.parameters;

  function guarded(info: { setError(text: string): void }, work: () => void): void {
    try {
      work();
    } catch (error) {
      info.setError(errors.textOf(error));
    }
  }

  return DuckDBTableFunction.create({
    name,
    parameterTypes: [ANY],
    namedParameterTypes: Object.fromEntries(named.map((parameter) => [parameter, ANY])),
    supportsProjectionPushdown: true,
    bindFunction: (info) =>
      guarded(info, () => {
        for (const column of request.columns) info.addResultColumn(column.name, column.type);
        const ask = request.bind((parameter) => readArgument(info, parameter, first));
        const { connectionId } = info.clientContext;
        info.setBindData({ ask, connectionId });
      }),
    initFunction: (info) =>
      guarded(info, () => {
        const { ask, connectionId } = info.bindData as {
          ask: (columns: ReadonlySet<string>) => FeedRequest;
          connectionId: number;
        };
        const columns = info.getColumnIndexes().map((index) => request.columns[index]);
        // Without a column only the number of rows is wanted.
        const names = new Set(columns.flatMap((column) => column?.name ?? []));
        const open = () => feeds.open(connectionId, ask(names));
        info.setInitData({ columns, rows: [], at: 0, feed: null, open } satisfies Scan<Row>);
        info.setMaxThreads(1);
      }),
    mainFunction(info, chunk) {
      chunk.rowCount = 0;
      guarded(info, () => fill(chunk, info.initData as Scan<Row>));
    },
  });

  function fill(chunk: DuckDBDataChunk, scan: Scan<Row>): void {
    scan.feed ??= scan.open();
    while (scan.at >= scan.rows.length) {
      const batch = scan.feed.next();
      if (batch === null) return;
      scan.rows = request.rowsOf(batch);
      scan.at = 0;
    }
    const { columns, rows, at } = scan;
    const count = Math.min(rows.length - at, MOST_ROWS);
    chunk.rowCount = count;
    for (const [index, column] of columns.entries()) {
      if (column === undefined) continue;
      const vector = chunk.getColumnVector(index);
      for (let row = 0; row < count; row++) vector.setItem(row, column.of(rows[at + row]));
      vector.flush();
    }
    scan.at += count;
    // What is written is not kept until the next batch comes.
    if (scan.at >= rows.length) scan.rows = [];
    if (scan.rows.length === 0) scan.at = 0;
  }
}

function readArgument(info: DuckDBTableFunctionBindInfo, parameter: string, first: string): DuckDBValue {
  return orNull(() => (parameter === first ? info.getParameter(0) : info.getNamedParameter(parameter)));
}
