/**
 * `sumi serve`: the service for programs. Standard error gets the address once it answers, with --json standard output as well.
 * SIGTERM and Ctrl-C end it: it accepts nothing more, its runs go on at the next start, exit code 0. A second one leaves at
 * once.
 */
import { isIP } from 'node:net';
import { Command } from 'commander';
import { type Config, loadConfig } from '../config/load-config.ts';
import { OPERATOR_CRAWL_OPTIONS } from '../config/who-may-set.ts';
import { EXIT_CODES, sumiError } from '../errors.ts';
import { firstSignal } from './first-signal.ts';
import { SHARED_CONCURRENCY } from './open-answering.ts';
import { addOptionFlags, flagsGiven } from './options-to-flags.ts';

const DEFAULT_PORT = 7864;

const EXAMPLES = `
Examples:
  sumi serve                                         http://127.0.0.1:7864 for programs of this machine, ./sumi.db
  sumi serve --db shop.db --port 0 --json            a free port, printed as JSON
  sumi serve --store postgres://db.example.com/crawl --max-running 8
  sumi token create --name reports && sumi serve --host 0.0.0.0      for other machines too

/api/openapi.json describes everything that it answers; docs/service.md explains it.
Without a token only this machine is served. Once a token was made, everybody needs one.
TLS is the business of a proxy before it: give its name with --allowed-host.
It connects to public addresses only, and to what --egress-allow names.
All crawls together have ${SHARED_CONCURRENCY} requests open, unless --concurrency says otherwise.`;

interface ServeFlags {
  host: string;
  port: string;
}

export function serveCommand(): Command {
  const command = new Command('serve')
    .description('serve projects and crawls to programs: REST, live events, MCP')
    .option('--host <ADDRESS>', 'the address to listen on; any but this machine needs a token', '127.0.0.1')
    .option('--port <PORT>', 'the port to listen on; 0 takes a free one', String(DEFAULT_PORT));
  addOptionFlags(command, [
    'service',
    ...OPERATOR_CRAWL_OPTIONS,
    'concurrency',
    'proxy',
    'db',
    'store',
    'config',
    'store-patience',
    'json',
    'quiet',
  ]);
  return command.addHelpText('after', EXAMPLES).action(async ({ host, port }: ServeFlags) => {
    const config = await loadConfig({
      env: process.env,
      flags: flagsGiven(command),
      defaults: { concurrency: SHARED_CONCURRENCY },
    });
    await serve(config, readHost(host), readPort(port));
  });
}

async function serve(config: Config, host: string, port: number): Promise<void> {
  const { startServing } = await import('./start-serving.ts');
  const say = (line: string) => {
    if (!config.quiet) process.stderr.write(`${line}\n`);
  };
  const signalled = firstSignal();
  const serving = await startServing(config, {
    host,
    port,
    log: (line) => process.stderr.write(`${line}\n`),
  });
  say(`sumi serves ${config.storeLabel} at ${serving.url}`);
  if (config.json)
    process.stdout.write(`${JSON.stringify({ type: 'serving', url: serving.url, pid: process.pid })}\n`);
  const failure = await Promise.race([signalled, serving.ended]);
  if (failure === null) say('ending: runs go on at the next start; once more to leave at once');
  await serving.close();
  if (failure !== null) throw failure;
  process.exitCode = EXIT_CODES.done;
}

function readPort(text: string): number {
  if (/^\d{1,5}$/.test(text) && Number(text) < 65_536) return Number(text);
  throw badFlag('--port', text, 'a port from 0 to 65535');
}

function readHost(text: string): string {
  const host = text.replace(/^\[(.*)\]$/, '$1');
  if (isIP(host) !== 0 || /^[a-z0-9.-]+$/i.test(host)) return host;
  throw badFlag('--host', text, 'an address or a name of this machine');
}

function badFlag(flag: string, value: string, expected: string): Error {
  return sumiError('bad-flag', { flag, value, expected, command: 'sumi serve' });
}
