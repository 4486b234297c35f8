/**
 * From settled visits to rows of the target table. A row commits before its page settles, so that a crash repeats pages
 * and never loses rows; a URL that has a row gets it replaced, so that none stands twice. Rows wait a moment for others,
 * because a transaction of many rows costs little more than one of one row.
 */
import type { BeforeSettle, SettlingVisit } from '../../crawl/parts.ts';
import type { CrawlRow } from '../table/crawl-row.ts';
import type { Written } from '../thread/messages.ts';
import type { BodyPlace } from './body-room.ts';
import type { KnownRows } from './known-rows.ts';
import { errorTypeOf, isPassing } from './row-of-visit.ts';

/** Rows wait for others as long as these come one after the other. */
const QUIET_MS = 10;
/** No row waits longer. */
const GATHER_MS = 200;

export interface RowCounts {
  new: number;
  updated: number;
  unchanged: number;
  failed: number;
  skipped: number;
}

export interface RowTarget {
  /** Where the bodies of a batch are copied to. */
  openPlace(): BodyPlace;
  /** `buffers`: those of the batch's place, which are gone afterwards. */
  append(rows: CrawlRow[], buffers: ArrayBuffer[]): Promise<Written>;
  replace(rows: CrawlRow[], buffers: ArrayBuffer[]): Promise<Written>;
  /** The content is as it was: only the time is new. */
  touch(urls: string[], at: number): Promise<void>;
}

export interface SinkRequest {
  target: RowTarget;
  known: KnownRows;
  toRow: (visit: SettlingVisit, copy: BodyPlace['copy']) => CrawlRow;
  /** Rows of a transaction at most. */
  batchSize: number;
  /** Rows of the statement at most; null: no limit. */
  limit: number | null;
  logsSkipped: boolean;
  onLimit: () => void;
  /** Hears of each URL whose row is new or was renewed. */
  onWritten?: (url: string) => void;
}

export interface RowSink {
  readonly counts: RowCounts;
  /** Rows written. */
  readonly written: number;
  /** Rows that the table did not take, with why; the first ones. */
  readonly refused: readonly { url: string; error: string }[];
  readonly refusedCount: number;
  keep: BeforeSettle;
  /** Writes a row that no visit made. */
  write(row: CrawlRow): Promise<'settle' | 'again'>;
  /** Resolves when all is written that was given. */
  flush(): Promise<void>;
}

interface Batch {
  waiting: Waiting[];
  place: BodyPlace;
}

interface Waiting {
  row: CrawlRow;
  resolve: (answer: 'settle' | 'again') => void;
  reject: (error: unknown) => void;
}

const MOST_REFUSED_TOLD = 20;

export function createRowSink(request: SinkRequest): RowSink {
  const { target, known, toRow, batchSize, limit, logsSkipped, onLimit, onWritten } = request;
  const counts: RowCounts = { new: 0, updated: 0, unchanged: 0, failed: 0, skipped: 0 };
  const refused: { url: string; error: string }[] = [];
  let refusedCount = 0;
  let accepted = 0;
  let written = 0;
  let timer: NodeJS.Timeout | null = null;
  let firstAt = 0;
  let lastAt = 0;
  const openBatch = (): Batch => ({ waiting: [], place: target.openPlace() });
  let fresh = openBatch();
  let replaced = openBatch();
  let touched: { url: string; at: number; waiting: Omit<Waiting, 'row'> }[] = [];
  const underWay = new Set<Promise<void>>();

  function schedule(): void {
    lastAt = performance.now();
    if (fresh.waiting.length >= batchSize || replaced.waiting.length >= batchSize) send();
    else if (timer === null) begin();
  }

  function begin(): void {
    firstAt = lastAt;
    timer = setTimeout(sendWhenQuiet, QUIET_MS);
  }

  function sendWhenQuiet(): void {
    const now = performance.now();
    const waitMs = Math.min(lastAt + QUIET_MS, firstAt + GATHER_MS) - now;
    if (waitMs < 1) send();
    else timer = setTimeout(sendWhenQuiet, waitMs);
  }

  function send(): void {
    if (timer !== null) clearTimeout(timer);
    timer = null;
    const [append, replace, touch] = [fresh, replaced, touched];
    [fresh, replaced, touched] = [openBatch(), openBatch(), []];
    if (append.waiting.length > 0) track(writeAll(append, target.append));
    if (replace.waiting.length > 0) track(writeAll(replace, target.replace));
    if (touch.length > 0) track(touchAll(touch));
  }

  function track(work: Promise<void>): void {
    underWay.add(work);
    void work.finally(() => underWay.delete(work));
  }

  async function writeAll({ waiting, place }: Batch, write: RowTarget['append']): Promise<void> {
    try {
      const answer = await write(
        waiting.map(({ row }) => row),
        place.buffers,
      );
      const lost = new Map(answer.refused.map(({ url, error }) => [url, error]));
      for (const { row, resolve } of waiting) {
        const error = lost.get(row.url);
        if (error === undefined) count(row);
        else refuse(row.url, error);
        resolve('settle');
      }
    } catch (error) {
      for (const { reject } of waiting) reject(error);
    }
  }

  async function touchAll(batch: typeof touched): Promise<void> {
    try {
      const at = batch.reduce((latest, one) => Math.max(latest, one.at), 0);
      await target.touch(
        batch.map(({ url }) => url),
        at,
      );
      for (const { url, at: time, waiting } of batch) {
        known.set(url, false, time);
        onWritten?.(url);
        counts.unchanged++;
        waiting.resolve('settle');
      }
    } catch (error) {
      for (const { waiting } of batch) waiting.reject(error);
    }
  }

  function count(row: CrawlRow): void {
    written++;
    const isNew = known.standing(row.url) === 'new';
    if (row.errorType === 'robots_disallowed') counts.skipped++;
    else if (row.errorType !== null) counts.failed++;
    else if (isNew) counts.new++;
    else counts.updated++;
    known.set(row.url, isPassing(row.errorType), row.crawlTime);
    onWritten?.(row.url);
  }

  function refuse(url: string, error: string): void {
    accepted--;
    refusedCount++;
    if (refused.length < MOST_REFUSED_TOLD) refused.push({ url, error });
  }

  const batchOf = (url: string) => (known.standing(url) === 'new' ? fresh : replaced);

  function write(row: CrawlRow, batch = batchOf(row.url)): Promise<'settle' | 'again'> {
    if (limit !== null && accepted >= limit) {
      onLimit();
      return Promise.resolve('again');
    }
    accepted++;
    if (accepted === limit) onLimit();
    return new Promise((resolve, reject) => {
      batch.waiting.push({ row, resolve, reject });
      schedule();
    });
  }

  const keep: BeforeSettle = (visit) => {
    const { state, reason, failure, statusCode: httpStatus } = visit;
    const errorType = errorTypeOf({ state, reason, failure, httpStatus });
    if (errorType === 'robots_disallowed' && !logsSkipped) {
      counts.skipped++;
      return 'settle';
    }
    // What was read before is worth more than a failure that may be over soon: the row stays, and its time.
    if (isPassing(errorType) && known.standing(visit.url) === 'known') {
      counts.failed++;
      return 'settle';
    }
    const isAsBefore = visit.outcome === 'unchanged' && !visit.hasFacts;
    const batch = batchOf(visit.url);
    if (!isAsBefore || batch === fresh) return write(toRow(visit, batch.place.copy), batch);
    return new Promise((resolve, reject) => {
      touched.push({ url: visit.url, at: visit.facts.visitedAt, waiting: { resolve, reject } });
      schedule();
    });
  };

  return {
    counts,
    get written() {
      return written;
    },
    refused,
    get refusedCount() {
      return refusedCount;
    },
    keep,
    write: (row) => write(row),
    async flush() {
      send();
      while (underWay.size > 0) await Promise.all(underWay);
    },
  };
}
