/** What becomes of each kind of statement. One entry a kind; a statement that gives rows gives them through DuckDB. */
import { sumiError } from '../errors.ts';
import type { Crawls, StartedCrawl } from './crawls/crawls.ts';
import { noticesOfPlan, noticesOfRows } from './crawls/notices.ts';
import { usesWeb } from './functions/uses-web.ts';
import { firstWords, type Statement } from './language/read-statement.ts';
import { rewriteSettings } from './language/rewrite-settings.ts';
import type { CrawlProgress, RunScript, SqlParameters, SqlProgress } from './sql-session.ts';
import { withPlace } from './thread/duckdb-errors.ts';
import type { ThreadClient } from './thread/thread-client.ts';

/** One statement under way. */
export interface StatementRun {
  options: RunScript;
  /** As it stands in the script. */
  text: string;
  /** Of the statement in the DuckDB thread. */
  number: number;
  isInterrupted: boolean;
  onInterrupt: () => void;
}

export interface RunnerSurroundings {
  thread: ThreadClient;
  crawls: Crawls;
  tell: (progress: SqlProgress) => void;
  /** A line for people. */
  notify: (line: string) => void;
  readSettings: () => Promise<unknown>;
}

type Of<Kind extends Statement['kind']> = Extract<Statement, { kind: Kind }>;
export type Runners = {
  readonly [Kind in Statement['kind']]: (statement: Of<Kind>, run: StatementRun) => Promise<void>;
};

const CRAWL_RESULT = `SELECT $1::BIGINT AS "Count", $2::BIGINT AS "new", $3::BIGINT AS updated, $4::BIGINT AS unchanged,
  $5::BIGINT AS failed, $6::BIGINT AS skipped, round($7::DOUBLE, 3) AS seconds`;
const EXPLAINED = `SELECT line[1] AS topic, line[2] AS name, line[3] AS value, line[4] AS source
FROM (SELECT unnest(from_json($1::JSON, '[["VARCHAR"]]')) AS line)`;
const LISTED = 'FROM crawls() WHERE id IN (SELECT unnest(from_json($1::JSON, \'["BIGINT"]\')))';

/** Words that begin and end transactions, which a CRAWL may not be part of. */
const TRANSACTIONS: Readonly<Record<string, boolean>> = {
  BEGIN: true,
  START: true,
  COMMIT: false,
  END: false,
  ROLLBACK: false,
  ABORT: false,
};

const SETTINGS: ReadonlySet<string | undefined> = new Set(['SET', 'RESET', 'PRAGMA']);

export function createRunners({ thread, crawls, tell, notify, readSettings }: RunnerSurroundings): Runners {
  let isInTransaction = false;

  async function inDuckDb(
    text: string,
    { options, number }: StatementRun,
    parameters?: SqlParameters,
  ): Promise<void> {
    const { format, width, output } = options;
    const isWeb = usesWeb(text);
    // A function that asks the web holds the thread: what it needs of the session is read before.
    if (isWeb) await readSettings();
    const request = { statement: number, text, parameters, format, width, usesWeb: isWeb, isInTransaction };
    await thread.askForPieces<string, unknown>('run', request, (piece) => output.write(piece));
  }

  async function duckdb({ text }: Of<'duckdb'>, run: StatementRun): Promise<void> {
    const rewritten = rewriteSettings(text);
    try {
      await inDuckDb(rewritten.text, run, run.options.parameters);
      // Read now: that a view or a macro asks the web cannot be seen in the statement that uses it.
      if (SETTINGS.has(firstWords(text)[0])) await readSettings();
    } catch (error) {
      throw withPlace(error, text, rewritten.toOriginal);
    } finally {
      const begins = TRANSACTIONS[firstWords(text)[0] ?? ''];
      if (begins !== undefined) isInTransaction = begins;
    }
  }

  const orderOf = (statement: Of<'crawl'>, run: StatementRun) => ({
    ...{ statement, text: run.text, parameters: run.options.parameters, number: run.number, isInTransaction },
    isInterrupted: () => run.isInterrupted,
    onProgress: (progress: CrawlProgress) => tell({ crawl: progress }),
  });

  async function crawl(statement: Of<'crawl'>, run: StatementRun): Promise<void> {
    if (statement.isExplain) {
      const lines = await crawls.explain(orderOf(statement, run));
      return inDuckDb(EXPLAINED, run, [JSON.stringify(lines)]);
    }
    const started = await crawls.start(orderOf(statement, run));
    for (const line of noticesOfPlan(started.plan)) notify(line);
    void started.ended.then(
      ({ sink }) => noticesOfRows(started.plan, sink).forEach(notify),
      () => {},
    );
    if (started.isBackground) return inDuckDb(LISTED, run, [JSON.stringify([started.listed.id])]);
    await waitForEnd(started, run);
  }

  async function waitForEnd({ listed, ended }: StartedCrawl, run: StatementRun): Promise<void> {
    run.onInterrupt = () => listed.stop();
    // It may have come while the crawl was being begun.
    if (run.isInterrupted) listed.stop();
    const { sink, seconds } = await ended;
    if (run.isInterrupted) throw sumiError('sql-interrupted');
    const { counts, written } = sink;
    const row = [
      written,
      counts.new,
      counts.updated,
      counts.unchanged,
      counts.failed,
      counts.skipped,
      seconds,
    ];
    await inDuckDb(CRAWL_RESULT, run, row);
  }

  return {
    duckdb,
    crawl,
    'show-crawls': (_, run) => inDuckDb('FROM crawls()', run),
    async 'stop-crawl'({ target }, run) {
      const stopped = await crawls.list.stop(target === null ? null : await thread.ask('nameOf', { target }));
      await inDuckDb(LISTED, run, [JSON.stringify(stopped.map(({ id }) => id))]);
    },
    'attach-site': ({ name, address, project, whenThere }) =>
      thread.ask('attach', { name, address, project, whenThere }),
  };
}
