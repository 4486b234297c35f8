/** Runs a crawl under the eyes of the terminal, and turns how it ended into an exit code or an error. */
import type { Config } from '../config/load-config.ts';
import { startCrawl } from '../crawl/start-crawl.ts';
import { EXIT_CODES, sumiError } from '../errors.ts';
import type { SummaryEvent } from '../report/events.ts';
import { openReadSide } from '../store/open-store.ts';
import { findPages } from './find-pages.ts';
import { watchCrawl } from './watch-crawl.ts';

export async function crawlToEnd(config: Config, startUrls: readonly string[]): Promise<SummaryEvent> {
  const view = watchCrawl(config);
  const handle = await startCrawl({ config, startUrls, listeners: view.listeners });
  view.started(handle);
  const summary = await handle.finished;
  view.ended(summary);
  if (summary.status === 'failed') throw await noAnswer(config, startUrls[0], summary.project);
  process.exitCode = summary.status === 'interrupted' ? EXIT_CODES.interrupted : EXIT_CODES.done;
  return summary;
}

async function noAnswer(config: Config, url: string, project: string): Promise<Error> {
  const side = await openReadSide(config.db);
  try {
    const [page] = await findPages(side, url, project);
    const reason = page?.error ?? page?.reason ?? 'no request was made';
    return sumiError('no-answer', { url, reason });
  } finally {
    await side.close();
  }
}
