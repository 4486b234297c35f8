/** The CRAWL statements of a session: each is planned, listed while it is under way, and ends in good order. */
import { sumiError } from '../../errors.ts';
import type { Store } from '../../store/store-port.ts';
import type { SessionSettings } from '../language/crawl-options.ts';
import { hideSecrets } from '../language/hide-secrets.ts';
import type { CrawlStatement } from '../language/read-crawl.ts';
import type { CrawlProgress, SqlParameters } from '../sql-session.ts';
import type { ThreadClient } from '../thread/thread-client.ts';
import type { CrawlList, ListedCrawl } from './crawl-list.ts';
import type { ExplainedLine } from './explain-crawl.ts';
import type { CrawlPlan } from './plan-crawl.ts';
import { readKnownRows } from './read-table.ts';
import type { CrawlResult, CrawlRun, RunningCrawl } from './run-crawl-statement.ts';

export interface CrawlOrder {
  statement: CrawlStatement;
  /** As it stands in the script. */
  text: string;
  parameters: SqlParameters | undefined;
  /** Of the statement in the DuckDB thread. */
  number: number;
  isInTransaction: boolean;
  /** Somebody has ended it before its first request. */
  isInterrupted: () => boolean;
  onProgress: (progress: CrawlProgress) => void;
}

interface Planned {
  crawl: number;
  planned: CrawlPlan;
  runCrawlStatement: (run: CrawlRun) => RunningCrawl;
}

/** What is under way; `ended` is the result of a CRAWL that one waits for. */
export interface StartedCrawl {
  readonly listed: ListedCrawl;
  readonly plan: CrawlPlan;
  readonly isBackground: boolean;
  readonly ended: Promise<CrawlResult>;
}

export interface Crawls {
  readonly list: CrawlList;
  start(order: CrawlOrder): Promise<StartedCrawl>;
  explain(order: CrawlOrder): Promise<ExplainedLine[]>;
  /** Waits for those in the background; throws the first failure of one that nobody has heard of. */
  rest(): Promise<void>;
  /** Ends all in good order. */
  close(): Promise<void>;
}

/** Crawls need most of the program: it is loaded by the first statement that crawls. */
const loadCrawling = async () => ({
  ...(await import('./plan-crawl.ts')),
  ...(await import('./run-crawl-statement.ts')),
});

export interface CrawlsSurroundings {
  thread: ThreadClient;
  list: CrawlList;
  openStore: () => Promise<Store>;
  readSettings: () => Promise<SessionSettings>;
  now: () => number;
}

export function createCrawls({ thread, list, openStore, readSettings, now }: CrawlsSurroundings): Crawls {
  const failures: unknown[] = [];

  async function plan(order: CrawlOrder, isDry: boolean): Promise<Planned> {
    const { statement, text, parameters, number, isInTransaction } = order;
    const { planCrawl, runCrawlStatement } = await loadCrawling();
    const crawl = list.nextId();
    const settings = await readSettings();
    try {
      const planned = await planCrawl(thread, {
        ...{ statement, text, parameters, number, crawl, isDry, isInTransaction, settings },
      });
      return { crawl, planned, runCrawlStatement };
    } catch (error) {
      await thread.ask('closeCrawl', { crawl });
      throw error;
    }
  }

  function follow({ crawl, planned, runCrawlStatement }: Planned, order: CrawlOrder): StartedCrawl {
    const target = planned.target.name;
    const running: RunningCrawl = runCrawlStatement({
      ...{
        plan: planned,
        parameters: order.parameters,
        crawl,
        limit: order.statement.limit,
        thread,
        openStore,
      },
      onProgress({ pages, waiting, errors, percent, seconds_left: secondsLeft }, sink) {
        Object.assign(listed, { rows: sink.written, pages, waiting, errors });
        order.onProgress({ crawl, target, pages, rows: sink.written, waiting, errors, percent, secondsLeft });
      },
    });
    const listed: ListedCrawl = {
      ...{
        id: crawl,
        target,
        statement: hideSecrets(order.statement.text),
        startedAt: now(),
        finishedAt: null,
      },
      ...{ status: 'running', rows: 0, pages: 0, errors: 0, waiting: 0 },
      stop() {
        if (listed.status === 'running') listed.status = 'stopping';
        running.stop();
      },
      ended: running.ended.then(
        ({ sink, isStopped, pages, waiting }) => {
          const status = isStopped ? 'stopped' : 'completed';
          const rows = sink.written;
          Object.assign(listed, {
            status,
            rows,
            pages,
            waiting,
            errors: sink.counts.failed,
            finishedAt: now(),
          });
        },
        () => void Object.assign(listed, { status: 'failed', finishedAt: now() }),
      ),
    };
    list.add(listed);
    const { background: isBackground } = planned.own;
    if (isBackground) running.ended.catch((error) => failures.push(error));
    return { listed, plan: planned, isBackground, ended: running.ended };
  }

  return {
    list,
    async start(order) {
      // Before it is planned: EXTRACT would add columns to the table of the crawl under way, and so end it.
      if (list.underWay().length > 0) {
        const target = await thread.ask<string>('nameOf', { target: order.statement.target });
        const [other] = list.underWay(target);
        if (other !== undefined) throw sumiError('sql-crawl-under-way', { target, crawl: other.id });
      }
      const made = await plan(order, false);
      const { crawl } = made;
      if (order.isInterrupted()) {
        await thread.ask('closeCrawl', { crawl });
        throw sumiError('sql-interrupted');
      }
      return follow(made, order);
    },
    async explain(order) {
      const { crawl, planned } = await plan(order, true);
      try {
        const { explainCrawl } = await import('./explain-crawl.ts');
        return explainCrawl(planned, await readKnownRows({ thread, crawl }));
      } finally {
        await thread.ask('closeCrawl', { crawl });
      }
    },
    async rest() {
      await Promise.all(list.underWay().map(({ ended }) => ended));
      const [failure] = failures.splice(0);
      if (failure !== undefined) throw failure;
    },
    async close() {
      await list.stop(null);
    },
  };
}
