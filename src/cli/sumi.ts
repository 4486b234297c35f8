/**
 * The `sumi` command. Only the file of the command that was named is loaded, because the start of the program is part
 * of every crawl. What goes wrong is printed once, here, and decides the exit code.
 */
import { existsSync, statSync } from 'node:fs';
import { Command, CommanderError } from 'commander';
import { PROGRAM_VERSION } from '../config/program.ts';
import { EXIT_CODES, exitCodeOf, formatError, sumiError } from '../errors.ts';
import { NARROW_HELP } from './narrow-help.ts';
import { hyphenateFlags, throwUsageErrors } from './options-to-flags.ts';

const COMMANDS: Record<string, { about: string; load: () => Promise<Command> }> = {
  crawl: {
    about: 'crawl sites politely into a database',
    load: async () => (await import('./crawl.ts')).crawlCommand(),
  },
  map: {
    about: 'map the web around chosen domains, as a terrain file says',
    load: async () => (await import('./map.ts')).mapCommand(),
  },
  resume: {
    about: 'go on with the last unfinished run',
    load: async () => (await import('./resume.ts')).resumeCommand(),
  },
  reclassify: {
    about: 'apply changed lists and limits to a stored map',
    load: async () => (await import('./reclassify.ts')).reclassifyCommand(),
  },
  watch: {
    about: 'keep a project fresh within a budget, and tell what changed',
    load: async () => (await import('./watch.ts')).watchCommand(),
  },
  worker: {
    about: 'take part in the runs of a shared store',
    load: async () => (await import('./worker.ts')).workerCommand(),
  },
  stats: {
    about: 'print the figures of a database or project',
    load: async () => (await import('./stats.ts')).statsCommand(),
  },
  pages: {
    about: 'list known URLs: state, reason, status, title, …',
    load: async () => (await import('./pages.ts')).pagesCommand(),
  },
  changes: {
    about: 'tell what changed: pages new, changed and gone, word by word',
    load: async () => (await import('./changes.ts')).changesCommand(),
  },
  compare: {
    about: 'compare two runs of a project: pages added, removed, changed',
    load: async () => (await import('./compare.ts')).compareCommand(),
  },
  links: {
    about: 'list links; with a URL those from it and to it',
    load: async () => (await import('./links.ts')).linksCommand(),
  },
  export: {
    about: 'write the link graph of pages or domains for other programs',
    load: async () => (await import('./export.ts')).exportCommand(),
  },
  sitemap: {
    about: 'list what the sitemaps of a site name',
    load: async () => (await import('./sitemap.ts')).sitemapCommand(),
  },
  hosts: {
    about: 'list hosts: URLs, pace, blocks, robots.txt',
    load: async () => (await import('./hosts.ts')).hostsCommand(),
  },
  runs: {
    about: 'list runs: when, how it ended, how much',
    load: async () => (await import('./runs.ts')).runsCommand(),
  },
  report: {
    about: 'tell of one run: figures, hosts, errors, politeness',
    load: async () => (await import('./report.ts')).reportCommand(),
  },
  workers: {
    about: 'list workers: alive or not, hosts held, pages a second',
    load: async () => (await import('./workers.ts')).workersCommand(),
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
  copy: {
    about: 'copy projects to another store, and compare both',
    load: async () => (await import('./copy.ts')).copyCommand(),
  },
  forget: {
    about: 'clear old history: visits, changes, requests',
    load: async () => (await import('./forget.ts')).forgetCommand(),
  },
  project: {
    about: 'show and keep how a project is crawled',
    load: async () => (await import('./project.ts')).projectCommand(),
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
  sumi map terrain.toml                     the web around chosen domains
  sumi links --broken                       what is broken, and which pages link to it
  sumi changes                              what the last run found changed
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
  const args = withCommand(hyphenateFlags(process.argv.slice(2)));
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
  // What goes through a pipe is searched by line: there a flag and its text stay on one.
  if (process.stdout.isTTY) for (const one of [program, ...program.commands]) one.configureHelp(NARROW_HELP);
  await program.parseAsync(args, { from: 'user' });
}

/** `sumi-ripple terrain.toml` is `sumi map terrain.toml`, flags before the file included; a file may have any ending. */
function withCommand(args: string[]): string[] {
  const words = args.filter((arg) => !arg.startsWith('-'));
  const isMap =
    !Object.hasOwn(COMMANDS, words[0] ?? '') &&
    words[0] !== 'help' &&
    (words.some((word) => word.endsWith('.toml')) || isFile(words[0]));
  return isMap ? ['map', ...args] : args;
}

function isFile(path: string | undefined): boolean {
  // existsSync is first because statSync throws for what can be no path at all, such as a very long word.
  return path !== undefined && existsSync(path) && statSync(path).isFile();
}

function isClosedPipe(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).code === 'EPIPE';
}

/** Files are written by way of a descriptor that tells their path; what has none went to where the shell sent it. */
function isLostOutput(error: unknown): boolean {
  const { syscall, path } = error as NodeJS.ErrnoException;
  return syscall === 'write' && path === undefined;
}

function lostOutput(cause: Error): Error {
  return sumiError('export-unwritable', { file: 'standard output', reason: cause.message }, cause);
}

/** V8's background work (compiling what is hot) would hold a finished command for up to a tenth of a second. */
function leave(code: number): void {
  process.stdout.write('', () => process.stderr.write('', () => process.exit(code)));
}

function complain(error: unknown): number {
  if (error instanceof CommanderError) return error.exitCode;
  if (isClosedPipe(error)) return EXIT_CODES.done;
  const told = isLostOutput(error) ? lostOutput(error as Error) : error;
  process.stderr.write(`${formatError(told)}\n`);
  return exitCodeOf(told);
}

main().then(
  () => leave(Number(process.exitCode ?? EXIT_CODES.done)),
  (error: unknown) => leave(complain(error)),
);
