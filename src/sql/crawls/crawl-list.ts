/** The CRAWL statements of this session: what SHOW CRAWLS and crawls() tell. */
import { sumiError } from '../../errors.ts';

export type CrawlStatus = 'running' | 'stopping' | 'completed' | 'stopped' | 'failed';

export interface ListedCrawl {
  readonly id: number;
  /** Qualified, as it is shown. */
  readonly target: string;
  readonly statement: string;
  readonly startedAt: number;
  status: CrawlStatus;
  finishedAt: number | null;
  rows: number;
  pages: number;
  errors: number;
  waiting: number;
  /** Ends it in good order; the same statement goes on. */
  stop(): void;
  /** Resolves when it has ended, however. */
  ended: Promise<void>;
}

/** As the columns of crawls(). */
export type CrawlListRow = [
  id: number,
  target: string,
  status: CrawlStatus,
  rows: number,
  pages: number,
  errors: number,
  waiting: number,
  startedAt: number,
  finishedAt: number | null,
  statement: string,
];

export interface CrawlList {
  nextId(): number;
  add(crawl: ListedCrawl): void;
  rows(): CrawlListRow[];
  /** Those under way, into this table or all. */
  underWay(target?: string): ListedCrawl[];
  /** Stops them and waits for their end. Answers which were stopped. */
  stop(target: string | null): Promise<ListedCrawl[]>;
}

const isUnderWay = ({ status }: ListedCrawl) => status === 'running' || status === 'stopping';

export function createCrawlList(): CrawlList {
  const crawls: ListedCrawl[] = [];
  let last = 0;
  const underWay = (target?: string) =>
    crawls.filter((crawl) => isUnderWay(crawl) && (target === undefined || crawl.target === target));
  return {
    nextId: () => ++last,
    add: (crawl) => void crawls.push(crawl),
    underWay,
    rows: () =>
      crawls.map(({ id, target, status, rows, pages, errors, waiting, startedAt, finishedAt, statement }) => [
        ...([id, target, status, rows, pages, errors, waiting] as const),
        ...([startedAt, finishedAt, statement] as const),
      ]),
    async stop(target) {
      const stopped = underWay(target ?? undefined);
      if (stopped.length === 0 && target !== null) throw sumiError('sql-no-crawl', { target });
      for (const crawl of stopped) crawl.stop();
      await Promise.all(stopped.map(({ ended }) => ended));
      return stopped;
    },
  };
}
