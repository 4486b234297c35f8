/**
 * `sumi mcp`: tools for agents over standard input and output (Model Context Protocol), on a store of its own; no port is opened. Standard output
 * carries the protocol and nothing else. The end of the input and a signal end it in good order: its runs go on at the next
 * start, exit code 0. A second signal leaves at once.
 */
import { Command } from 'commander';
import { type Config, loadConfig } from '../config/load-config.ts';
import { resolvedNames } from '../config/resolve-rules.ts';
import { OPERATOR_CRAWL_OPTIONS } from '../config/who-may-set.ts';
import { EXIT_CODES, SumiError, sumiError } from '../errors.ts';
import { systemClock } from '../primitives/clock.ts';
import { firstSignal } from './first-signal.ts';
import { type OpenAnswering, openAnswering, SHARED_CONCURRENCY } from './open-answering.ts';
import { addOptionFlags, flagsGiven } from './options-to-flags.ts';

const EXAMPLES = `
Examples:
  sumi mcp                                           tools for an agent, on ./sumi.db
  sumi mcp --db shop.db --egress-allow shop.internal

An agent starts it by itself; with Claude Code for example:
  claude mcp add sumi -- sumi mcp --db /home/me/sumi.db
A running \`sumi serve\` has the same tools at http://127.0.0.1:7864/mcp, also for several agents at once.
It connects to public addresses only, and to what --egress-allow names.
All crawls together have ${SHARED_CONCURRENCY} requests open, unless --concurrency says otherwise.`;

export function mcpCommand(): Command {
  const command = new Command('mcp').description('serve tools to an agent over standard input and output');
  addOptionFlags(command, [
    ...(['egress-allow', 'max-running', 'max-pages-limit', 'on-restart', 'key-file'] as const),
    ...OPERATOR_CRAWL_OPTIONS,
    ...(['concurrency', 'proxy', 'db', 'store', 'config', 'store-patience'] as const),
  ]);
  return command.addHelpText('after', EXAMPLES).action(async () => {
    const config = await loadConfig({
      env: process.env,
      flags: flagsGiven(command),
      defaults: { concurrency: SHARED_CONCURRENCY },
    });
    await serveAgent(config);
  });
}

async function serveAgent(config: Config): Promise<void> {
  const { serveAgentOnStdio } = await import('../mcp/serve-stdio.ts');
  const { createEgressGuard } = await import('../fetch/egress.ts');
  const log = (line: string) => void process.stderr.write(`${line}\n`);
  const signalled = firstSignal();
  const answering = await open(config, log);
  const stdio = serveAgentOnStdio(
    {
      ...answering,
      clock: systemClock,
      egress: createEgressGuard({ allow: config.egressAllow, ownPort: null, resolve: resolvedNames(config) }),
      limits: { maxPagesLimit: config.maxPagesLimit, allowsIgnoringRobots: !config.robots },
      log,
    },
    {
      input: process.stdin,
      output: process.stdout,
      after: (delayMs, callback) => systemClock.after(delayMs, callback),
    },
  );
  const failure = await Promise.race([signalled, stdio.ended.then(() => null), answering.ended]);
  await stdio.close();
  // Nothing more is read, so that the process can end.
  process.stdin.destroy();
  await answering.close();
  if (failure !== null) throw failure;
  process.exitCode = EXIT_CODES.done;
}

/** A store that a service has open is told with the way to its tools. */
async function open(config: Config, log: (line: string) => void): Promise<OpenAnswering> {
  try {
    return await openAnswering(config, {
      ownPort: null,
      onReport: (error) => log(error.stack ?? error.message),
    });
  } catch (error) {
    if (!(error instanceof SumiError) || !HELD.has(error.code)) throw error;
    throw sumiError('mcp-store-held', { file: config.storeLabel, reason: error.message }, error);
  }
}

/** Who crawls into a file holds it. */
const HELD: ReadonlySet<string> = new Set(['db-in-use', 'db-locked']);
