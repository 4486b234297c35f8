/**
 * `sumi watch`: keeps a project fresh within a budget, and tells what changed. Standard output gets one line a page that
 * changed, came or went (with --json one event a line, ticks included); standard error what is going on. Ctrl-C ends
 * it in good order; the same command goes on where it was.
 */
import { Command } from 'commander';
import type { Config } from '../config/load-config.ts';
import { withoutCredentials } from '../config/url-credentials.ts';
import { EXIT_CODES, formatError, sumiError } from '../errors.ts';
import type { SummaryEvent } from '../events/events.ts';
import {
  type ChangeEvent,
  startWatching,
  type TickEvent,
  type Watch,
  type WatchEnd,
  type WatchEvent,
} from '../project/keep-watching.ts';
import { type WatchTarget, watchTarget } from '../project/watch-target.ts';
import { refusalError, refusedLines } from '../render/refused-starts.ts';
import { renderFault } from '../render/render-progress.ts';
import { painterFor, printable, showBytes, showMany } from '../render/terminal-text.ts';
import { onLostOutput } from './crawl-view.ts';
import { addOptionFlags, flagsGiven } from './options-to-flags.ts';
import { readUrlList } from './read-url-list.ts';
import { storeFlag } from './store-flag.ts';
import { warnUnusedSettings } from './warn-unused-settings.ts';

const EXAMPLES = `
Examples:
  sumi watch https://example.com                                 crawl it, then visit what has probably changed, for ever
  sumi watch --budget 500/day --host-budget 100/day --hours 22-6    the project of ./sumi.db, at night, within limits
  sumi watch --once --json                                       one tick, for cron
  sumi watch --feed https://example.com/news.atom                also what a feed names
  sumi watch --webhook https://hooks.example.com/sumi            every change as a signed POST
  sumi watch --on-change "notify-send 'It changed'"              a program for every change
The secret of webhooks is SUMI_WEBHOOK_SECRET or --webhook-secret-file.
docs/watch.md explains everything.`;

export function watchCommand(): Command {
  const command = new Command('watch')
    .description('visit a site again and again, and tell what changed')
    .argument('[url...]', 'where to start (default: the project in the database, with its own options)');
  addOptionFlags(
    command,
    [...(['watch', 'scope', 'politeness', 'fetch', 'page', 'sitemap', 'change', 'run', 'workers'] as const)],
    { formats: [] },
  );
  return command
    .option('--once', 'make one tick and end, for cron')
    .addHelpText('after', EXAMPLES)
    .action(async (urls: string[]) => {
      const sources = { env: process.env, flags: flagsGiven(command) };
      const target = await watchTarget(sources, urls, readUrlList);
      warnUnusedSettings(target.config);
      await watchToEnd(target, command.getOptionValue('once') === true);
    });
}

async function watchToEnd(target: WatchTarget, isOnce: boolean): Promise<void> {
  const { config, project, startUrls } = target;
  const voice = createVoice(config);
  const abort = new AbortController();
  const watching = await startWatching({
    ...{ target, isOnce, env: process.env, signal: abort.signal },
    runListeners: [
      (event) => {
        if (event.type === 'fault') voice.say(renderFault(event, painterFor(process.stderr, process.env)));
      },
    ],
    onEvent: voice.tell,
    onPrepared: voice.prepared,
    onMissed: (error) => voice.say(`not now: ${formatError(error)}`),
    onWait: (until) => voice.say(`next tick at ${new Date(until).toISOString()}`),
  });
  for (const warning of doubtsOf(config)) voice.say(`warning: ${warning}`);
  const { watch } = watching;
  const signals = endOnSignals(watch, abort, voice.say);
  voice.say(
    `watching ${printable(project)} in ${config.storeLabel}: ${budgetText(config.budget)}, by ${config.revisit}`,
  );
  let end: WatchEnd;
  try {
    end = await watching.live();
  } finally {
    // Whether the last lines could be written is known when these are through.
    await new Promise((resolve) => process.stdout.write('', resolve));
    signals.end();
  }
  // A run that was cut off for it says so, as one of `sumi crawl` does, and goes on the next time.
  if (signals.lost !== null && end !== 'interrupted') throw signals.lost;
  if (end === 'failed') {
    const refusal = watch.unanswered === null ? refusalError(watch.refused, storeFlag(config)) : null;
    if (refusal !== null) throw refusal;
    const first = {
      page: 'start URL',
      url: withoutCredentials(startUrls[0]),
      reason: 'no answer from any page',
    };
    throw sumiError('no-answer', { ...first, ...watch.unanswered, at: storeFlag(config) });
  }
  process.exitCode = end === 'interrupted' ? EXIT_CODES.interrupted : EXIT_CODES.done;
}

/** Options that do nothing beside others. */
function doubtsOf({ feed, discover }: Config): string[] {
  if (feed.length === 0 || discover.includes('sitemap')) return [];
  const names = feed.map((url) => printable(url)).join(', ');
  const given = discover.join(',');
  return [
    `the feed ${names} is not read, for --discover is ${given}; expected sitemap among it: --discover sitemap,${given}`,
  ];
}

interface Signals {
  /** Why what is told cannot be written; null where it can, or where its reader wants no more. */
  readonly lost: Error | null;
  end(): void;
}

function endOnSignals(watch: Watch, abort: AbortController, say: (line: string) => void): Signals {
  let lost: Error | null = null;
  const leave = () => {
    say('left at once; the same command continues from what was committed');
    const flushed = watch.handle?.flush() ?? Promise.resolve();
    void flushed.finally(() => process.exit(EXIT_CODES.interrupted));
  };
  const onSignal = () => {
    if (abort.signal.aborted) return leave();
    const { handle } = watch;
    if (handle !== null)
      say(`finishing ${showMany(handle.inFlight, 'request')} in flight; Ctrl-C again to leave at once`);
    abort.abort();
  };
  const onLost = onLostOutput(say, (error) => {
    if (error.code !== 'EPIPE') lost ??= error;
    abort.abort();
  });
  process.on('SIGINT', onSignal).on('SIGTERM', onSignal);
  process.stdout.on('error', onLost);
  process.stderr.on('error', onLost);
  return {
    get lost() {
      return lost;
    },
    end() {
      process.off('SIGINT', onSignal).off('SIGTERM', onSignal);
      process.stdout.off('error', onLost);
      process.stderr.off('error', onLost);
    },
  };
}

function createVoice({ json, quiet }: Config) {
  const paint = painterFor(process.stdout, process.env);
  const say = (line: string) => {
    if (!quiet) process.stderr.write(`${line}\n`);
  };
  const show = (event: WatchEvent) => {
    if (event.type === 'tick') say(tickLine(event));
    else if (event.type === 'delivery') say(`not delivered to ${event.to}: ${printable(event.error)}`);
    else if (!quiet) process.stdout.write(`${changeLine(event, paint)}\n`);
  };
  return {
    say,
    tell(event: WatchEvent) {
      if (json) process.stdout.write(`${JSON.stringify(event)}\n`);
      else show(event);
    },
    prepared(summary: SummaryEvent) {
      const { status, pages, project, run } = summary;
      const rest = status === 'interrupted' ? '; it continues as the budget and the hours allow' : '';
      say(`run ${run} of ${printable(project)}: ${status}, ${showMany(pages, 'page')}${rest}`);
      if (status !== 'failed') for (const line of refusedLines(summary)) say(line);
    },
  };
}

const COLOURS = { new: 'green', changed: 'yellow', gone: 'red' } as const;

function changeLine(event: ChangeEvent, paint: ReturnType<typeof painterFor>): string {
  const words = [
    ...event.parts,
    ...(event.links_added.length > 0 ? [`+${showMany(event.links_added.length, 'link')}`] : []),
    ...(event.links_removed.length > 0 ? [`-${showMany(event.links_removed.length, 'link')}`] : []),
    ...(event.words_added + event.words_removed > 0
      ? [`words +${event.words_added} -${event.words_removed}`]
      : []),
  ];
  const what = words.length === 0 ? '' : `  (${words.join(', ')})`;
  return `${event.visited_at}  ${paint(COLOURS[event.outcome], event.outcome.padEnd(7))}  ${printable(event.url)}${what}`;
}

function tickLine(tick: TickEvent): string {
  if (tick.skipped !== null) return `${tick.at}  nothing visited: ${REASONS[tick.skipped]}`;
  const found = (['new', 'changed', 'unchanged', 'gone', 'failed'] as const)
    .filter((outcome) => tick[outcome] > 0)
    .map((outcome) => `${tick[outcome]} ${outcome}`);
  const saved = tick.bytes_saved > 0 ? `, ${showBytes(tick.bytes_saved)} saved` : '';
  const rest = tick.status === 'interrupted' ? ' so far, the next tick continues it' : '';
  return `${tick.at}  run ${tick.run}: ${found.join(', ') || 'nothing found'}${saved}${rest}; ${showMany(tick.budget_left, 'visit')} left`;
}

const REASONS = {
  hours: 'outside of the hours',
  budget: 'the budget allows no visit yet',
  'nothing due': 'nothing is due yet',
  crawl: 'a crawl by hand is under way',
} as const;

/** A number alone is of a day. */
const budgetText = (budget: string) => (budget.includes('/') ? budget : `${budget.trim()}/day`);
