/** Runs a crawl under the eyes of the terminal, and turns how it ended into an exit code or an error. */
import type { Config } from '../config/load-config.ts';
import { PROGRAM_VERSION } from '../config/program.ts';
import { withoutCredentials } from '../config/url-credentials.ts';
import type { CrawlHandle } from '../crawl/run/crawl-handle.ts';
import { startCrawl } from '../crawl/start-crawl.ts';
import { EXIT_CODES, sumiError } from '../errors.ts';
import type { EventListener, SummaryEvent } from '../events/events.ts';
import type { LoopReading } from '../events/metrics.ts';
import { whyNoAnswer } from '../project/why-no-answer.ts';
import { refusalError, refusedLines } from '../render/refused-starts.ts';
import { watchCrawl } from './crawl-view.ts';
import { storeFlag } from './store-flag.ts';

export interface CrawlHooks {
  /** Called once the run is known; `say` writes a line that goes well with what the crawl shows. */
  started(handle: CrawlHandle, isResumed: boolean, say: (line: string) => void): void;
}

export async function crawlToEnd(
  config: Config,
  startUrls: readonly string[],
  hooks?: CrawlHooks,
): Promise<SummaryEvent> {
  const view = watchCrawl(config);
  let handle: CrawlHandle | null = null;
  const metrics = await metricsFor(config, () => (handle === null ? [] : [handle.read()]));
  let summary: SummaryEvent;
  try {
    let isResumed = false;
    const noteStart: EventListener = (event) => {
      if (event.type === 'run') isResumed = event.resumed;
    };
    handle = await startCrawl({ config, startUrls, listeners: view.listeners, runListeners: [noteStart] });
    view.started(handle);
    hooks?.started(handle, isResumed, view.say);
    summary = await handle.finished;
  } finally {
    await metrics?.close();
  }
  view.ended(summary);
  if (summary.status === 'failed')
    throw (
      refusalError(summary.refused_starts, storeFlag(config)) ??
      (await noAnswer(config, startUrls[0], summary.project))
    );
  for (const line of refusedLines(summary)) view.say(line);
  process.exitCode = summary.status === 'interrupted' ? EXIT_CODES.interrupted : EXIT_CODES.done;
  return summary;
}

/** Only who asks for figures loads the server. */
async function metricsFor(config: Config, loops: () => readonly LoopReading[]) {
  const { metricsPort: port, metricsHost: host } = config;
  if (port === null) return null;
  const { serveMetrics } = await import('../events/serve-metrics.ts');
  return serveMetrics({ version: PROGRAM_VERSION, port, host, loops });
}

async function noAnswer(config: Config, text: string, project: string): Promise<Error> {
  const reason = await whyNoAnswer(config.storeAddress, project, text);
  const url = withoutCredentials(text);
  return sumiError('no-answer', { page: 'start URL', url, reason, at: storeFlag(config) });
}
