/** The WHERE of a CRAWL: compiled where that is possible, else asked of DuckDB, many URLs at once. */
import type { ThreadClient } from '../thread/thread-client.ts';
import type { CrawlCondition } from './plan-crawl.ts';

export interface Where {
  /** Null without a condition. */
  readonly reason: string | null;
  /** Null: DuckDB is asked. Without a condition every URL passes. */
  readonly test: ((url: string) => boolean) | null;
  judge(urls: readonly string[]): Promise<boolean[]>;
}

const URLS_AT_ONCE = 1000;

export function createWhere(
  condition: CrawlCondition | null,
  { thread, crawl }: { thread: ThreadClient; crawl: number },
): Where {
  if (condition === null) {
    const test = () => true;
    return { reason: null, test, judge: async (urls) => urls.map(test) };
  }
  const { written, test: compiled } = condition;
  const reason = `where: ${written}`;
  if (compiled !== null) {
    const test = (url: string) => compiled(url) === true;
    return { reason, test, judge: async (urls) => urls.map(test) };
  }
  async function judge(urls: readonly string[]): Promise<boolean[]> {
    const answers: boolean[] = [];
    for (let from = 0; from < urls.length; from += URLS_AT_ONCE) {
      const some = urls.slice(from, from + URLS_AT_ONCE);
      const verdicts = await thread.workOnRows(crawl, 'judge', some);
      for (const verdict of verdicts) answers.push(verdict === true);
    }
    return answers;
  }
  return { reason, test: null, judge };
}
