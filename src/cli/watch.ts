/**
 * `sumi watch`: keeps a project fresh within a budget, and tells what changed. Standard output gets one line a page that
 * changed, came or went (with --json one event a line, ticks included); standard error what is going on. Ctrl-C ends
 * it in good order; the same command goes on where it was.
 */
import { Command } from 'commander';
import { type Config, type ConfigSources, loadConfig } from '../config/load-config.ts';
import { camelCase } from '../config/option-spec.ts';
import { OPTION_NAMES, type OptionName } from '../config/option-table.ts';
import { withoutCredentials } from '../config/url-credentials.ts';
import { refuseWithoutCredentials } from '../crawl/run/credentials.ts';
import { projectOf, readStartUrls } from '../crawl/run/prepare-run.ts';
import { wireNormalizer } from '../crawl/wire.ts';
import { EXIT_CODES, formatError, sumiError } from '../errors.ts';
import type { SummaryEvent } from '../events/events.ts';
import { systemClock } from '../primitives/clock.ts';
import { applyProjectSettings } from '../project/apply-project-settings.ts';
import { configOfRun } from '../project/config-of-run.ts';
import { openSideToCrawl } from '../project/open-side-to-crawl.ts';
import { requireProject } from '../project/reading.ts';
import { refusalError, refusedLines } from '../render/refused-starts.ts';
import { renderFault } from '../render/render-progress.ts';
import { painterFor, printable, showBytes, showMany } from '../render/terminal-text.ts';
import type { StoredRun } from '../store/read-side.ts';
import { createAnnouncer } from '../watch/announce.ts';
import { drain } from '../watch/delivery-queue.ts';
import { runWatch, type WatchEnd } from '../watch/run-watch.ts';
import type { ChangeEvent, TickEvent, WatchEvent } from '../watch/watch-event.ts';
import { openWatch, type Watch } from '../watch/watch-project.ts';
import { receiversOf, settingsOf } from '../watch/watch-settings.ts';
import { onLostOutput } from './crawl-view.ts';
import { addOptionFlags, flagsGiven } from './options-to-flags.ts';
import { readUrlList } from './read-url-list.ts';
import { storeFlag } from './store-flag.ts';
import { warnUnusedSettings } from './warn-unused-settings.ts';

const EXAMPLES = `
Examples:
  sumi watch https://example.com                                 crawl it, then visit what has probably changed, for ever
  sumi watch --budget 500/day --host-budget 100/day --hours 22-6    the project of ./sumi.db, at night, within limits
  sumi watch --once --json                                       one look, for cron
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
    .option('--once', 'look once and end, for cron')
    .addHelpText('after', EXAMPLES)
    .action(async (urls: string[]) => {
      const sources = { env: process.env, flags: flagsGiven(command) };
      const asked = await loadConfig(sources);
      const listed = asked.urls === null ? [] : await readUrlList(asked.urls);
      const given = [...urls, ...asked.startUrls, ...listed];
      const isOnce = command.getOptionValue('once') === true;
      const target =
        given.length > 0
          ? withUrls(await applyProjectSettings(asked, { sources, startUrls: given }), given)
          : await withStored(asked, sources);
      warnUnusedSettings(target.config);
      await watchToEnd(target, isOnce);
    });
}

/** What to watch. */
interface Target {
  config: Config;
  startUrls: readonly string[];
  project: string;
}

function withUrls(config: Config, startUrls: readonly string[]): Target {
  const normalizer = wireNormalizer(config);
  const found = readStartUrls(startUrls, (text) => normalizer.normalize(text));
  return { config, startUrls, project: projectOf(config, found, systemClock.now()) };
}

/** A project of the store, with the options of its last run, what it keeps, and this command's own. */
async function withStored(told: Config, sources: ConfigSources): Promise<Target> {
  const run = await runToWatch(told);
  const asked = await applyProjectSettings({ ...told, project: run.project }, { sources, startUrls: [] });
  const given = OPTION_NAMES.filter((name) => isGiven(asked, name));
  const options: ConfigSources['options'] = {
    ...(asked.store === null ? { db: asked.db } : { store: asked.store }),
    ...Object.fromEntries(given.map((name) => [camelCase(name), asked.sources[name].value])),
    project: run.project,
  };
  const found = await configOfRun(run, { env: sources.env, options });
  refuseWithoutCredentials(found, run);
  // What is wrong with a value is told of the place where it was written.
  const places = Object.fromEntries(given.map((name) => [name, asked.sources[name]]));
  const { unusedSettings } = asked;
  const config = Object.freeze({ ...found, unusedSettings, sources: { ...found.sources, ...places } });
  return { config, startUrls: config.startUrls, project: run.project };
}

/** Where options are read from has been read by now. */
const READ: ReadonlySet<OptionName> = new Set<OptionName>(['config', 'urls', 'db', 'store']);

function isGiven({ sources }: Config, name: OptionName): boolean {
  const { from } = sources[name];
  return !READ.has(name) && from !== 'default' && !from.startsWith('profile ');
}

async function runToWatch(config: Config): Promise<StoredRun> {
  const { storeLabel: file, project } = config;
  const side = await openSideToCrawl(config);
  try {
    if (project !== null) await requireProject(side, project, file);
    const projects = (await side.projects()).filter((row) => project === null || row.project === project);
    if (projects.length > 1) {
      const known = projects.map((row) => `"${row.project}"`).join(', ');
      const reason = `there is more than one project in ${file} (${known}); expected one named by --project`;
      throw sumiError('usage', { reason, command: 'sumi watch' });
    }
    const run = projects.length === 0 ? null : await side.lastRun(projects[0].id);
    if (run === null) throw sumiError('no-url');
    return run;
  } finally {
    await side.close();
  }
}

async function watchToEnd({ config, startUrls, project }: Target, isOnce: boolean): Promise<void> {
  const settings = settingsOf(config);
  const receivers = await receiversOf(config);
  const voice = createVoice(config);
  for (const warning of doubtsOf(config)) voice.say(`warning: ${warning}`);
  const announcer = createAnnouncer({
    ...{ receivers, userAgent: config.userAgent, clock: systemClock, env: process.env },
    tell: voice.tell,
  });
  const watch = openWatch({
    ...{ config, startUrls, project, settings, outboxes: announcer.outboxes },
    runListeners: [
      (event) => {
        if (event.type === 'fault') voice.say(renderFault(event, painterFor(process.stderr, process.env)));
      },
    ],
    onEvent(event) {
      voice.tell(event);
      if (event.type === 'change') announcer.push(event);
    },
  });
  const hush = async () => {
    announcer.stop();
    // Nothing is waited for any more, but what was under way says that it did not arrive.
    await announcer.drained();
  };
  const abort = new AbortController();
  const signals = endOnSignals(watch, abort, voice.say);
  voice.say(
    `watching ${printable(project)} in ${config.storeLabel}: ${budgetText(config.budget)}, by ${config.revisit}`,
  );
  let end: WatchEnd;
  try {
    end = await runWatch({
      ...{ watch, settings, isOnce, clock: systemClock, signal: abort.signal },
      onPrepared: voice.prepared,
      onMissed: (error) => voice.say(`not now: ${formatError(error)}`),
      onWait: (until) => voice.say(`next look at ${new Date(until).toISOString()}`),
      async onEnd() {
        await drain(announcer, {
          drainMs: config.drainSeconds * 1000,
          clock: systemClock,
          signal: abort.signal,
        });
        await hush();
      },
    });
  } finally {
    await hush();
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
    say('left at once; the same command goes on with what was committed');
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
      const rest = status === 'interrupted' ? '; it goes on as the budget and the hours allow' : '';
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
  const rest = tick.status === 'interrupted' ? ' so far, the next look goes on with it' : '';
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
