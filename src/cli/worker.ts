/**
 * `sumi worker`: takes part in every run of a shared store. Standard error gets short lines of what it does, with
 * --json standard output one event a line, each with its run. SIGTERM and Ctrl-C drain it; a second one leaves at once.
 */
import { Command } from 'commander';
import { type Config, loadConfig } from '../config/load-config.ts';
import { PROGRAM_VERSION } from '../config/program.ts';
import { OPERATOR_CRAWL_OPTIONS } from '../config/who-may-set.ts';
import { EXIT_CODES, formatError, sumiError } from '../errors.ts';
import type { CrawlEvent, EventListener } from '../events/events.ts';
import type { LoopReading } from '../events/metrics.ts';
import { serveMetrics } from '../events/serve-metrics.ts';
import { joinRuns, openSharedRuns, type RunList, type Worker } from '../project/join-runs.ts';
import { refusedLines } from '../render/refused-starts.ts';
import { renderFault, renderHost, renderPage } from '../render/render-progress.ts';
import { painterFor, printable, showMany } from '../render/terminal-text.ts';
import { addOptionFlags, flagsGiven } from './options-to-flags.ts';

const LINE_EVERY_MS = 10_000;
/** For leases and the last commit, when requests took all of the drain time. */
const GOODBYE_MS = 5_000;

const EXAMPLES = `
Examples:
  sumi worker --store postgres://db.example.com/crawl --bodies s3://bucket/raw    help with all its crawls
  sumi worker --store postgres://sumi@db.example.com/crawl --once      until no run is left
  sumi worker --metrics-port 9464 --metrics-host 0.0.0.0               with /healthz, /readyz and /metrics

\`sumi crawl --store …\` starts runs, and workers take their options from there.
Passwords (proxies, S3, sites) come from the worker's own flags and variables.
A worker leaves a run alone that was started with --auth, --cookie, --header,
--bodies, --resolve or --no-robots if the worker was not given the same. It sends them to the start URLs of every
such run: give them only where you trust everybody who can write to the store.
On SIGTERM a worker ends its running requests within --drain-seconds, gives its
hosts to others and leaves with exit code 0.`;

export function workerCommand(): Command {
  const command = new Command('worker').description('help with the crawls of a shared database');
  addOptionFlags(command, [
    'store',
    'config',
    ...OPERATOR_CRAWL_OPTIONS,
    'concurrency',
    'proxy',
    'auth',
    'cookie',
    'header',
    'workers',
    'json',
    'quiet',
    'verbose',
  ]);
  return command
    .option('--once', 'end when no run is left to work on')
    .addHelpText('after', EXAMPLES)
    .action(async () => {
      const config = await loadConfig({ env: process.env, flags: flagsGiven(command) });
      await work(config, command.getOptionValue('once') === true);
    });
}

async function work(config: Config, isOnce: boolean): Promise<void> {
  const runs = await openSharedRuns(config);
  if (runs === null) {
    const reason =
      'a worker needs --store postgres://…, which many can share; a file has room for one crawler';
    throw sumiError('usage', { reason, command: 'sumi worker' });
  }
  const voice = createVoice(config);
  // The server asks for readings once there is somebody to read.
  let worker: Worker | null = null;
  const metrics = await metricsFor(config, runs, () => worker?.read() ?? []);
  if (metrics !== null) voice.say(`metrics on ${metrics.origin}/metrics`);
  voice.say(`at work on ${config.storeLabel}, ${showMany(config.concurrency, 'request')} at once`);
  worker = joinRuns({
    worker: config,
    runs,
    env: process.env,
    isOnce,
    listenTo: voice.listenTo,
    listenToRun: voice.listenToRun,
    onJoined: ({ runId, project }) =>
      voice.tell('joined', runId, `joined run ${runId} of ${printable(project)}`),
    onLeft(summary) {
      const { run, status, pages } = summary;
      voice.tell('left', run, `left run ${run}: ${status}, ${showMany(pages, 'page')}`);
      for (const line of refusedLines(summary)) voice.say(`run ${run}: ${line}`);
    },
    onRefused: (run, error) => voice.tell('refused', run, `cannot work on run ${run}: ${formatError(error)}`),
    onIdle: () => voice.tell('idle', null, 'no run is under way; waiting for one'),
  });
  const endLines = voice.showProgress(worker);
  const endSignals = drainOnSignals(worker, config, voice);
  try {
    await worker.finished;
  } finally {
    endLines();
    endSignals();
    await metrics?.close();
  }
  process.exitCode = EXIT_CODES.done;
}

function metricsFor(config: Config, runs: RunList, loops: () => readonly LoopReading[]) {
  if (config.metricsPort === null) return null;
  return serveMetrics({
    version: PROGRAM_VERSION,
    port: config.metricsPort,
    host: config.metricsHost,
    loops,
    storeSilentMs: () => runs.silentMs,
    hostsWaiting: () => runs.hostsWaiting(),
  });
}

interface Voice {
  say(line: string): void;
  tell(what: string, run: number | null, line: string): void;
  listenTo(runId: number): EventListener[];
  listenToRun(runId: number): EventListener[];
  /** A line every few seconds while something is done. The answer ends it. */
  showProgress(worker: Worker): () => void;
}

function createVoice({ json, quiet, verbose }: Config): Voice {
  const paint = painterFor(process.stderr, process.env);
  const say = (line: string) => {
    if (!quiet) process.stderr.write(`${line}\n`);
  };
  const write = (event: object) => process.stdout.write(`${JSON.stringify(event)}\n`);
  return {
    say,
    tell(what, run, line) {
      say(line);
      if (json) write({ type: 'worker', what, run });
    },
    listenTo(run) {
      const listeners: EventListener[] = [];
      if (json) listeners.push((event) => write(event));
      const show = (event: CrawlEvent) => {
        if (event.type === 'page') say(`run ${run}: ${renderPage(event, paint)}`);
        if (event.type === 'host' && verbose > 1) say(`run ${run}: ${renderHost(event, paint)}`);
      };
      // Nobody listening lets the crawl spare itself the events.
      if (verbose > 0 && !quiet) listeners.push(show);
      return listeners;
    },
    listenToRun: (run) => [
      (event) => {
        if (event.type === 'fault') say(`run ${run}: ${renderFault(event, paint)}`);
      },
    ],
    showProgress(worker) {
      let before = new Map<number, number>();
      const timer = setInterval(() => {
        const readings = worker.read();
        for (const { run, pages, hosts, inFlight, waiting } of readings) {
          const perSecond = ((pages - (before.get(run) ?? 0)) * 1000) / LINE_EVERY_MS;
          say(
            `run ${run}: ${showMany(pages, 'page')}, ${perSecond.toFixed(1)}/s, ${showMany(hosts, 'host')}, ` +
              `${showMany(inFlight, 'request')} in flight, ${waiting} waiting`,
          );
        }
        before = new Map(readings.map(({ run, pages }) => [run, pages]));
      }, LINE_EVERY_MS);
      return () => clearInterval(timer);
    },
  };
}

function drainOnSignals(worker: Worker, config: Config, voice: Voice): () => void {
  let hardLimit: NodeJS.Timeout | null = null;
  const leave = (code: number, line: string) => {
    voice.say(line);
    void worker.flush().finally(() => process.exit(code));
    // A store that does not answer must not hold the process either.
    setTimeout(() => process.exit(code), 1000);
  };
  const onSignal = () => {
    if (hardLimit !== null)
      return leave(EXIT_CODES.interrupted, 'left at once; others take the hosts when their leases end');
    voice.tell(
      'draining',
      null,
      `draining: ${showMany(worker.inFlight, 'request')} in flight; once more to leave at once`,
    );
    worker.stop();
    hardLimit = setTimeout(
      () => leave(EXIT_CODES.store, 'the store does not answer; others take the hosts when their leases end'),
      config.drainSeconds * 1000 + GOODBYE_MS,
    );
  };
  process.on('SIGINT', onSignal).on('SIGTERM', onSignal);
  return () => {
    process.off('SIGINT', onSignal).off('SIGTERM', onSignal);
    if (hardLimit !== null) clearTimeout(hardLimit);
  };
}
