/**
 * The SQL door: a session of a real DuckDB in which CRAWL is a statement. DuckDB lives in a thread of its own; crawls, and
 * whoever asks, live here. A statement of ours becomes a crawl, all else is DuckDB's.
 */
import { resolve } from 'node:path';
import { sumiError } from '../errors.ts';
import { systemClock } from '../primitives/clock.ts';
import { siteFeeds } from './attached/site-feeds.ts';
import { createCrawlList } from './crawls/crawl-list.ts';
import { createCrawls } from './crawls/crawls.ts';
import { createSidecar } from './crawls/sidecar.ts';
import { crawlsFeed } from './feeds/crawls-feed.ts';
import { createFeeds } from './feeds/create-feeds.ts';
import type { SessionSettings } from './language/crawl-options.ts';
import { errorInScript } from './language/place.ts';
import { readStatement } from './language/read-statement.ts';
import { isComplete, splitScript } from './language/split-script.ts';
import { createRunners, type StatementRun } from './run-statements.ts';
import type { RunScript, SqlProgress, SqlSession } from './sql-session.ts';
import { claimFile } from './table/claim-file.ts';
import { startDuckThread } from './thread/thread-client.ts';

export interface OpenSqlRequest {
  /** Absent or `:memory:`: nothing is kept. */
  file?: string;
  isReadOnly?: boolean;
}

const IN_MEMORY = ':memory:';
const SIDECAR_ENDING = '.sumi';

export async function openSql({ file, isReadOnly = false }: OpenSqlRequest = {}): Promise<SqlSession> {
  const path = file === undefined || file === '' || file === IN_MEMORY ? null : resolve(file);
  // Here, and not in the thread alone: two sessions may be opened in the same moment.
  const release = path === null ? () => {} : claimFile(path);
  let listener: (progress: SqlProgress) => void = () => {};
  const tell = (progress: SqlProgress) => listener(progress);
  let noticeListener: (line: string) => void = () => {};
  const notify = (line: string) => noticeListener(line);
  const list = createCrawlList();
  // A failure that no call can answer for is met by the crawl's next call.
  const sidecar = createSidecar(path === null || isReadOnly ? null : `${path}${SIDECAR_ENDING}`, () => {});
  let settings: SessionSettings = {};
  const readSettings = async () => {
    settings = {
      ...(await thread.ask<SessionSettings>('settings')),
      defaultThreads: settings.defaultThreads,
    };
    return settings;
  };
  const feeds = createFeeds({
    openStore: sidecar.open,
    settings: async () => settings,
  });
  const thread = startDuckThread({
    makers: { ...feeds.makers, crawls: crawlsFeed(list), ...siteFeeds() },
    onProgress: (percent) => percent !== null && tell({ query: percent }),
  });
  try {
    await thread.ask('open', { file: path, isReadOnly });
    settings = { defaultThreads: (await readSettings()).threads as number };
  } catch (error) {
    await thread.close().finally(release);
    throw error;
  }
  const crawls = createCrawls({
    thread,
    list,
    openStore: sidecar.open,
    readSettings,
    now: () => systemClock.now(),
  });
  const runners = createRunners({ thread, crawls, tell, notify, readSettings });
  let last = 0;
  let current: StatementRun | null = null;

  let isInterrupted = false;
  let isClosing = false;
  /** Scripts run one after another: a second statement on DuckDB's connection would cut off the result of the first. */
  let before: Promise<unknown> = Promise.resolve();
  let waiting = 0;
  let closed: Promise<void> | null = null;

  async function runOne(text: string, run: Pick<StatementRun, 'options'>): Promise<void> {
    const statementRun: StatementRun = {
      ...{ ...run, text, number: ++last, isInterrupted: false, onInterrupt: () => {} },
    };
    current = statementRun;
    try {
      const statement = readStatement(text);
      await runners[statement.kind](statement as never, statementRun);
    } finally {
      current = null;
      tell(null);
    }
  }

  async function runScript(script: string, options: RunScript): Promise<void> {
    isInterrupted = isClosing;
    for (const { text, line, column } of splitScript(script)) {
      // The interrupt of a statement that had ended already.
      if (isInterrupted) throw sumiError('sql-interrupted');
      const begunAt = performance.now();
      try {
        await runOne(text, { options });
      } catch (error) {
        throw errorInScript(error, { line, column });
      }
      options.onStatement?.({ text, milliseconds: performance.now() - begunAt });
    }
  }

  const session: SqlSession = {
    run(script, options) {
      // The first one begins now, so that an interrupt that follows finds it.
      const turn = waiting === 0 ? runScript(script, options) : before.then(() => runScript(script, options));
      waiting++;
      before = turn.then(
        () => void waiting--,
        () => void waiting--,
      );
      return turn;
    },
    isComplete,
    async complete(text) {
      // On the connection that a statement uses, a question would cut off its result.
      if (waiting > 0) return { words: [], start: text.length };
      return thread.ask('complete', { text });
    },
    interrupt() {
      isInterrupted = true;
      if (current === null) return;
      current.isInterrupted = true;
      thread.interrupt(current.number);
      current.onInterrupt();
    },
    onProgress(given) {
      listener = given;
    },
    onNotice(given) {
      noticeListener = given;
    },
    rest: () => crawls.rest(),
    close() {
      closed ??= close();
      return closed;
    },
  };

  async function close(): Promise<void> {
    isClosing = true;
    session.interrupt();
    try {
      await crawls.close();
      // A connection that is closed in the middle of a query waits for it, and the interrupt is never heard.
      await before;
      // A CRAWL that was being planned meanwhile.
      await crawls.close();
      await thread.close();
    } finally {
      try {
        await feeds.rest();
      } finally {
        await sidecar.close().finally(release);
      }
    }
  }
  return session;
}
