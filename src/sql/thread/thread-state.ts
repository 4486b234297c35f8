/** What the DuckDB thread holds: the database, the user's connection, and what each CRAWL under way needs of them. */
import type { DuckDBConnection } from '@duckdb/node-api';
import type { RegisteredFunctions } from '../functions/register-functions.ts';
import type { OpenDatabase } from '../table/open-database.ts';
import type { RowWriter } from '../table/row-writer.ts';
import type { TargetPlan } from '../table/target-plan.ts';
import type { ConditionAsker } from '../where/ask-condition.ts';
import type { MainThread } from './feed.ts';
import type { RowFlow } from './run-statement.ts';

export interface ThreadCrawl {
  /** Its own, so that a batch is a transaction whatever the user does. */
  connection: DuckDBConnection;
  plan: TargetPlan;
  /** Null where the table is only looked at and not there yet. */
  writer: RowWriter | null;
  /** Where the condition is asked: on the user's connection, unless that goes on with other statements meanwhile. */
  asks: DuckDBConnection;
  /** Null where no condition is asked of DuckDB. */
  condition: ConditionAsker | null;
}

export interface ThreadState {
  readonly main: MainThread;
  readonly flow: RowFlow;
  /** Null before `open`. */
  database: OpenDatabase | null;
  user: DuckDBConnection;
  functions: RegisteredFunctions;
  readonly crawls: Map<number, ThreadCrawl>;
  readonly isInterrupted: (statement: number) => boolean;
  readonly begins: (statement: number) => void;
  readonly onProgress: (percent: number | null) => void;
  writerOf(crawl: number): RowWriter;
  crawlOf(crawl: number): ThreadCrawl;
}

export type ThreadSurroundings = Pick<ThreadState, 'main' | 'isInterrupted' | 'begins' | 'onProgress'>;

export function createThreadState(around: ThreadSurroundings): ThreadState {
  const crawls = new Map<number, ThreadCrawl>();
  const crawlOf = (crawl: number): ThreadCrawl => {
    const found = crawls.get(crawl);
    if (found === undefined) throw new TypeError(`crawl ${crawl} has no table open`);
    return found;
  };
  return {
    ...around,
    flow: { asTheyCome: false, timeZone: null },
    database: null,
    user: null as never,
    functions: null as never,
    crawls,
    crawlOf,
    writerOf: (crawl) => crawlOf(crawl).writer!,
  };
}
