/**
 * A CRAWL statement as a crawl: what the table does not know yet is requested, each settled visit becomes a row. No crawl
 * logic is here: the statement becomes options of `startCrawl`, a sink and rules of scope. The same statement goes on
 * after a stop or a crash; another one into the same table ends what waits and begins with what the table lacks.
 */
import type { CrawlHandle } from '../../crawl/run/crawl-handle.ts';
import { type CrawlRequest, startCrawl } from '../../crawl/start-crawl.ts';
import { SumiError } from '../../errors.ts';
import type { ProgressEvent } from '../../events/events.ts';
import type { ReadSide } from '../../store/read-side.ts';
import type { Store } from '../../store/store-port.ts';
import { isUnfinished } from '../../store/unfinished-run.ts';
import type { SqlParameters } from '../sql-session.ts';
import type { CrawlRow } from '../table/crawl-row.ts';
import type { ThreadClient } from '../thread/thread-client.ts';
import { createDue } from './choose-due.ts';
import { findStale } from './choose-stale.ts';
import {
  fingerprintOf,
  newPages,
  STATEMENT_NOTE,
  type StatementParts,
  stalePages,
} from './crawl-requests.ts';
import { findChains, findGivenUp } from './find-rest.ts';
import { createWhere, type Where } from './judge-where.ts';
import { KnownRows } from './known-rows.ts';
import type { CrawlPlan } from './plan-crawl.ts';
import { inputOf } from './read-input.ts';
import { readKnownRows, rowTarget } from './read-table.ts';
import { failedRow } from './row-of-page.ts';
import { rowOfVisit, type VisitRowRules } from './row-of-visit.ts';
import { createRowSink, type RowSink, type RowTarget } from './row-sink.ts';

export interface CrawlRun {
  plan: CrawlPlan;
  parameters: SqlParameters | undefined;
  crawl: number;
  limit: number | null;
  thread: ThreadClient;
  openStore: () => Promise<Store>;
  onProgress: (progress: ProgressEvent, sink: RowSink) => void;
}

export interface CrawlResult {
  sink: RowSink;
  /** It ended before its end, by its limit or by somebody. */
  isStopped: boolean;
  pages: number;
  waiting: number;
  seconds: number;
}

export interface RunningCrawl {
  stop(): void;
  readonly ended: Promise<CrawlResult>;
}

export function runCrawlStatement(run: CrawlRun): RunningCrawl {
  const { plan, thread, crawl, limit } = run;
  let handle: CrawlHandle | null = null;
  // LIMIT 0: nothing is requested for nothing.
  let isStopped = limit === 0;
  const totals = { pages: 0, waiting: 0 };
  /** What this statement has written: it is up to date. */
  const renewed = new KnownRows();
  const runIds = new Set<number>();
  const stop = () => {
    isStopped = true;
    handle?.stop();
  };

  async function request(work: CrawlRequest, sink: RowSink): Promise<void> {
    if (isStopped) return;
    handle = await startCrawl(work);
    runIds.add(handle.runId);
    handle.subscribe((event) => event.type === 'progress' && run.onProgress(event, sink), ['progress']);
    if (isStopped) handle.stop();
    const { pages, waiting } = await handle.finished;
    totals.pages += pages;
    totals.waiting = waiting;
    handle = null;
  }

  async function work(side: ReadSide, parts: StatementParts): Promise<void> {
    const { sink, known, project, store } = parts;
    const hosts = hostsOf(plan);
    const named = await namedBySitemaps(parts, side);
    const due = createDue({
      known,
      isInput: (url) => inputOf(plan.input, url) !== undefined,
      isSite: (url) => inputOf(plan.input, url)?.meaning === 'site',
      followsLinks: plan.own.followLinks,
      isNamedBySitemap: (url) => named.standing(url) === 'known',
    });
    await request(await newPages(parts, due), sink);
    if (plan.own.updateStale && !isStopped) {
      const stale = await findStale({
        side,
        project,
        known,
        renewed,
        hosts,
        where: parts.where,
        now: store.clock.now(),
      });
      if (stale.size > 0) await request(await stalePages(parts, stale), sink);
    }
    await sink.flush();
    const rest = {
      side,
      project,
      runIds,
      known,
      hosts,
      inputUrlOf: inputUrlsOf(plan),
      now: store.clock.now(),
    };
    if (!isStopped) await writeWithoutVisit(findGivenUp(rest), sink);
    for await (const chains of findChains(rest)) await thread.ask('setChains', { crawl, chains });
  }

  async function toItsEnd(): Promise<CrawlResult> {
    const begunAt = performance.now();
    try {
      const known = await readKnownRows(run);
      const inputUrlOf = inputUrlsOf(plan);
      const { wantsBody, wantsText } = plan.target;
      const rules: VisitRowRules = {
        inputUrlOf,
        respectsNoindex: plan.config.respectNoindex,
        wants: { body: wantsBody, text: wantsText },
      };
      const sink = createRowSink({
        known,
        limit,
        target: plan.own.followLinks ? afterFlush(rowTarget(run), () => handle?.flush()) : rowTarget(run),
        toRow: (visit, copy) => rowOfVisit(visit, { ...rules, copy }),
        batchSize: plan.own.batchSize,
        logsSkipped: plan.own.logSkipped,
        onLimit: stop,
        onWritten: plan.own.updateStale ? (url) => renewed.set(url, false, 0) : undefined,
      });
      const store = await run.openStore();
      await writeInvalid(plan, sink, known, store.clock.now());
      const side = await store.openSide();
      try {
        const project = plan.target.name;
        const fingerprint = fingerprintOf(plan, run.parameters);
        await endOtherStatement(store, side, project, fingerprint);
        const where = createWhere(plan.condition, { thread, crawl });
        const refused = await refusedInput(plan, where);
        await work(side, { plan, store, sink, known, where, refused, project, fingerprint });
      } finally {
        await side.close();
      }
      return { sink, isStopped, ...totals, seconds: (performance.now() - begunAt) / 1000 };
    } catch (error) {
      throw ownCause(error);
    } finally {
      await thread.ask('closeCrawl', { crawl });
    }
  }

  return { stop, ended: toItsEnd() };
}

/**
 * A page with a row is not requested again when it is found. So the store must know of it before: after a crash it is visited
 * again for its links, or whatever only they lead to would never be found.
 */
function afterFlush(target: RowTarget, flush: () => Promise<void> | undefined): RowTarget {
  const after =
    (write: RowTarget['append']): RowTarget['append'] =>
    async (rows, buffers) => {
      await flush();
      return write(rows, buffers);
    };
  return { ...target, append: after(target.append), replace: after(target.replace) };
}

function inputUrlsOf({ input }: CrawlPlan): (url: string) => string | null {
  return (url) => inputOf(input, url)?.given ?? null;
}

function hostsOf({ input }: CrawlPlan): Set<string> {
  return new Set([...input.urls.values()].map(({ identity }) => new URL(identity.url).host));
}

/** Text that is no URL has a row, too. */
async function writeInvalid(
  { input }: CrawlPlan,
  sink: RowSink,
  known: KnownRows,
  now: number,
): Promise<void> {
  function* rows(): Iterable<CrawlRow> {
    for (const { text, given, problem } of input.invalid) {
      if (known.standing(text) !== 'new') continue;
      const page = { url: text, state: 'Failed' as const, error: problem, errorType: 'invalid_url' as const };
      yield failedRow(page, { surtKey: null, crawlTime: now, inputUrl: given });
    }
  }
  await writeWithoutVisit(rows(), sink);
}

/** No page waits for these rows: the statement itself hears what becomes of them. */
async function writeWithoutVisit(
  rows: Iterable<CrawlRow> | AsyncIterable<CrawlRow>,
  sink: RowSink,
): Promise<void> {
  const failures: unknown[] = [];
  for await (const row of rows) {
    if (failures.length > 0) break;
    sink.write(row).catch((error) => failures.push(error));
  }
  await sink.flush();
  if (failures.length > 0) throw failures[0];
}

/** Ends what another statement left waiting in this table. */
async function endOtherStatement(
  store: Store,
  side: ReadSide,
  project: string,
  fingerprint: string,
): Promise<void> {
  const found = (await side.projects()).find((row) => row.project === project);
  if (found === undefined) return;
  const run = await side.lastRun(found.id);
  if (run === null || !isUnfinished(run)) return;
  const notes = JSON.parse(run.metadata ?? '{}') as Record<string, unknown>;
  if (notes[STATEMENT_NOTE] !== fingerprint) await store.projects.steer(run.run, 'stop', store.clock.now());
}

/** Pages of the statement's sites that their sitemaps named before: found otherwise, a page is not asked for again. */
async function namedBySitemaps({ plan, project }: StatementParts, side: ReadSide): Promise<KnownRows> {
  const named = new KnownRows();
  if (plan.own.followLinks || plan.own.sitemaps === 'never') return named;
  const hosts = hostsOf(plan);
  if (!(await side.projects()).some((row) => row.project === project)) return named;
  for await (const entries of side.sitemapEntries({ project }))
    for (const { url } of entries) if (hosts.has(new URL(url).host)) named.set(url, false, 0);
  return named;
}

/** Input that the condition refuses, where only DuckDB understands it. */
async function refusedInput({ input }: CrawlPlan, where: Where): Promise<Set<string>> {
  if (where.test !== null) return new Set();
  const urls = [...input.urls.keys()];
  const isWanted = await where.judge(urls);
  return new Set(urls.filter((_, at) => !isWanted[at]));
}

/** What ended the crawl is told as what it is, not as a failure of an extension. */
function ownCause(error: unknown): unknown {
  for (let cause = error; cause instanceof Error; cause = cause.cause)
    if (cause instanceof SumiError && cause.code.startsWith('sql-')) return cause;
  return error;
}
