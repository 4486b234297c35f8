#!/usr/bin/env node
/**
 * The `sumi` command. Only the file of the command that was named is loaded, because the start of the program is part
 * of every crawl. What goes wrong is printed once, here, and decides the exit code.
 */
import { Command, CommanderError } from 'commander';
import { PROGRAM_VERSION } from '../config/program.ts';
import { EXIT_CODES, exitCodeOf, formatError } from '../errors.ts';
import { hyphenateFlags, throwUsageErrors } from './options-to-flags.ts';

const COMMANDS: Record<string, { about: string; load: () => Promise<Command> }> = {
  crawl: {
    about: 'crawl sites politely into a database',
    load: async () => (await import('./crawl.ts')).crawlCommand(),
  },
  resume: {
    about: 'go on with the last unfinished run',
    load: async () => (await import('./resume.ts')).resumeCommand(),
  },
  stats: {
    about: 'print the figures of a database or project',
    load: async () => (await import('./stats.ts')).statsCommand(),
  },
  pages: {
    about: 'list known URLs: state, reason, status, title, …',
    load: async () => (await import('./pages.ts')).pagesCommand(),
  },
  links: {
    about: 'list links; with a URL those from it and to it',
    load: async () => (await import('./links.ts')).linksCommand(),
  },
  hosts: {
    about: 'list hosts: pages, pace, blocks, robots.txt',
    load: async () => (await import('./hosts.ts')).hostsCommand(),
  },
  runs: {
    about: 'list runs: when, how it ended, how much',
    load: async () => (await import('./runs.ts')).runsCommand(),
  },
  cat: {
    about: 'print the stored body of a page',
    load: async () => (await import('./cat.ts')).catCommand(),
  },
  why: {
    about: 'tell what became of a URL, and which rule decided',
    load: async () => (await import('./why.ts')).whyCommand(),
  },
  audit: {
    about: 'check the request log against the promises of politeness',
    load: async () => (await import('./audit.ts')).auditCommand(),
  },
  config: {
    about: 'print the effective options and where each came from',
    load: async () => (await import('./config.ts')).configCommand(),
  },
  demo: {
    about: 'crawl a small made-up site on this machine, for a first look',
    load: async () => (await import('./demo.ts')).demoCommand(),
  },
};

const EXAMPLES = `
Examples:
  sumi demo                                 a first look, without the internet
  sumi crawl https://example.com            a whole site into ./sumi.db
  sumi pages --state DeadLink               what is broken there
  sumi why https://example.com/some/page    what became of a URL
  sumi COMMAND --help                       all about one command
Exit codes: 0 done, 1 the crawl failed or the answer is no, 2 wrong usage, 3 interrupted (goes on later), 4 the store failed.`;

async function main(): Promise<void> {
  // Who reads through `| head` has seen enough. A crawl has its own way to end (watch-crawl.ts).
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', (error) => {
      if (stream.listenerCount('error') === 1 && isClosedPipe(error)) process.exit(EXIT_CODES.done);
    });
  }
  const args = hyphenateFlags(process.argv.slice(2));
  const program = new Command('sumi')
    .description('A polite web crawler that maps a piece of the web into one file.')
    .version(PROGRAM_VERSION, '-V, --version')
    .addHelpText('after', EXAMPLES);
  // `sumi help crawl` names its command second.
  const words = args.filter((arg) => !arg.startsWith('-'));
  const named = words[0] === 'help' ? words[1] : words[0];
  for (const [name, { about, load }] of Object.entries(COMMANDS)) {
    program.addCommand(name === named ? await load() : new Command(name).description(about));
  }
  throwUsageErrors(program);
  await program.parseAsync(args, { from: 'user' });
}

function isClosedPipe(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).code === 'EPIPE';
}

/** V8's background work (compiling what is hot) would hold a finished command for up to a tenth of a second. */
function leave(code: number): void {
  process.stdout.write('', () => process.stderr.write('', () => process.exit(code)));
}

function complain(error: unknown): number {
  if (error instanceof CommanderError) return error.exitCode;
  if (isClosedPipe(error)) return EXIT_CODES.done;
  process.stderr.write(`${formatError(error)}\n`);
  return exitCodeOf(error);
}

main().then(
  () => leave(Number(process.exitCode ?? EXIT_CODES.done)),
  (error: unknown) => leave(complain(error)),
);
