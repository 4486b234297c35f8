/**
 * What a crawl shows while it runs, and what Ctrl-C does to it. Standard output gets the result: with --json one event
 * a line and nothing else, otherwise the summary. Everything on the way goes to standard error: on a terminal a block
 * redrawn in place, elsewhere a line every few seconds. It only shows: the crawl does not know that it is watched.
 */
import type { Config } from '../config/load-config.ts';
import type { CrawlHandle } from '../crawl/run/crawl-handle.ts';
import { EXIT_CODES } from '../errors.ts';
import type { CrawlEvent, EventListener, ProgressEvent, SummaryEvent } from '../events/events.ts';
import { holdsSecrets } from '../primitives/store-address.ts';
import { createLiveBlock, type LiveBlock } from '../render/live-block.ts';
import {
  renderBlock,
  renderConfigChange,
  renderFault,
  renderHost,
  renderPage,
  renderProgressLine,
  renderSitemap,
  renderStart,
} from '../render/render-progress.ts';
import { renderSummary } from '../render/render-summary.ts';
import { type Paint, painterFor, printable, showMany } from '../render/terminal-text.ts';
import { type StoreChoice, storeFlag } from './store-flag.ts';
import { typedProgram } from './typed-program.ts';

const LINE_EVERY_MS = 5000;
const FRAME_EVERY_MS = 200;

type Shown = Pick<Config, 'json' | 'quiet' | 'verbose'> & StoreChoice;

export interface CrawlView {
  listeners: EventListener[];
  /** From now on Ctrl-C ends the crawl in good order. */
  started(handle: CrawlHandle): void;
  ended(summary: SummaryEvent): void;
  /** A line on standard error, above whatever is drawn there; nothing with --quiet. */
  say(line: string): void;
}

export function watchCrawl(config: Shown): CrawlView {
  const listeners: EventListener[] = [];
  if (config.json) listeners.push((event) => process.stdout.write(`${JSON.stringify(event)}\n`));
  const paint = painterFor(process.stderr, process.env);
  // Two streams on one terminal would write into each other's lines.
  const isShared = config.json && process.stdout.isTTY;
  const block = process.stderr.isTTY && !isShared ? createLiveBlock(process.stderr) : null;
  const say = (line: string) => {
    if (config.quiet) return;
    if (block === null) process.stderr.write(`${line}\n`);
    else block.print(line);
  };
  let isResumed = false;
  const noteStart: EventListener = (event) => {
    if (event.type === 'run') isResumed = event.resumed;
  };
  // Nobody listening lets the crawl spare itself the events.
  if (!config.quiet) listeners.push(createTeller(config.verbose, paint, block, say), noteStart);
  return {
    listeners,
    say,
    started: (handle) => endOnSignals(handle, say, () => block?.clear()),
    ended(summary) {
      block?.clear();
      const program = typedProgram(process.env);
      const at = storeFlag(config);
      if (!config.quiet && !config.json) {
        const paint = painterFor(process.stdout, process.env);
        const lines = renderSummary(summary, { isResumed, program, at, paint });
        process.stdout.write(`${lines.join('\n')}\n`);
      }
      if (summary.status === 'interrupted')
        say(`interrupted; the same command continues it, or ${program} resume${at}`);
      if (at !== '' && holdsSecrets(config.storeAddress) && !config.json)
        say(
          'The password is not repeated here: put the whole address into SUMI_STORE, or the password into PGPASSWORD.',
        );
    },
  };
}

function createTeller(
  verbose: number,
  paint: Paint,
  block: LiveBlock | null,
  say: (line: string) => void,
): EventListener {
  const startedAt = performance.now();
  let progress: ProgressEvent | null = null;
  let currentUrl: string | null = null;
  let shownAt = Number.NEGATIVE_INFINITY;
  let lineAt = startedAt;

  function showProgress(): void {
    const now = performance.now();
    if (progress === null) return;
    const seconds = (now - startedAt) / 1000;
    if (block !== null && now - shownAt >= FRAME_EVERY_MS) {
      shownAt = now;
      block.draw(renderBlock(progress, seconds, verbose > 0 ? null : currentUrl, paint));
    } else if (block === null && now - lineAt >= LINE_EVERY_MS) {
      lineAt = now;
      say(renderProgressLine(progress, seconds));
    }
  }

  return (event: CrawlEvent) => {
    switch (event.type) {
      case 'run': {
        say(renderStart(event, paint));
        const change = renderConfigChange(event, paint);
        if (change !== null) say(change);
        break;
      }
      case 'page':
        currentUrl = event.url;
        if (verbose >= 1) say(renderPage(event, paint));
        if (block !== null) showProgress();
        break;
      case 'host':
        // What a site says of itself turned out to be wrong, or there is no such site: that is for everybody.
        if (verbose >= 2 || event.what === 'distrusted' || event.what === 'unknown')
          say(renderHost(event, paint));
        break;
      case 'fault':
        say(renderFault(event, paint));
        break;
      case 'sitemap':
        // What the site or the operator names cannot be read as a whole: pages may be missing for that.
        if (verbose >= 1 || (event.trouble !== null && event.found_by !== 'index'))
          say(renderSitemap(event, paint));
        break;
      case 'mode':
        say(printable(event.reason));
        break;
      case 'progress':
        progress = event;
        showProgress();
        break;
    }
  };
}

/**
 * A reader that went away (`| head`) wants no more: the end is that of Ctrl-C, without a word to nobody. Of a disk that
 * is full he hears once.
 */
export function onLostOutput(
  say: (line: string) => void,
  stop: (error: NodeJS.ErrnoException) => void,
): (error: NodeJS.ErrnoException) => void {
  let isTold = false;
  return (error) => {
    if (error.code !== 'EPIPE' && !isTold) {
      isTold = true;
      say(`what is told cannot be written: ${error.message}`);
    }
    stop(error);
  };
}

function endOnSignals(handle: CrawlHandle, say: (line: string) => void, clear: () => void): void {
  let asked = 0;
  const leave = () => {
    clear();
    say('left at once; the same command continues from what was committed');
    void handle.flush().finally(() => process.exit(EXIT_CODES.interrupted));
  };
  const onSignal = () => {
    asked++;
    if (asked > 1) return leave();
    say(`finishing ${showMany(handle.inFlight, 'request')} in flight; Ctrl-C again to leave at once`);
    handle.stop();
  };
  const onLost = onLostOutput(say, () => handle.stop());
  process.on('SIGINT', onSignal).on('SIGTERM', onSignal);
  process.stdout.on('error', onLost);
  process.stderr.on('error', onLost);
  const done = () => {
    process.off('SIGINT', onSignal).off('SIGTERM', onSignal);
    clear();
  };
  handle.finished.then(done, done);
}
