/**
 * The `sumi` command. Only the file of the command that was named is loaded, because the start of the program is part
 * of every crawl. What goes wrong is printed once, here, and decides the exit code.
 */
import { existsSync, statSync } from 'node:fs';
import { Command, CommanderError } from 'commander';
import { PROGRAM_VERSION } from '../config/program.ts';
import { EXIT_CODES, exitCodeOf, formatError, sumiError } from '../errors.ts';
import { fitHelp } from './fit-help.ts';
import { NARROW_HELP } from './narrow-help.ts';
import { hyphenateFlags, throwUsageErrors } from './options-to-flags.ts';

interface CommandEntry {
  about: string;
  load: () => Promise<Command>;
}

/** Commands by the group under which help lists them; README.md has the same groups. */
const GROUPS: Record<string, Record<string, CommandEntry>> = {
  Crawl: {
    crawl: {
      about: 'crawl sites into a database',
      load: async () => (await import('./crawl.ts')).crawlCommand(),
    },
    map: {
      about: 'map the web around chosen domains (terrain file)',
      load: async () => (await import('./map.ts')).mapCommand(),
    },
    resume: {
      about: 'continue the last unfinished crawl',
      load: async () => (await import('./resume.ts')).resumeCommand(),
    },
    sitemap: {
      about: 'list the URLs in the sitemaps of a site',
      load: async () => (await import('./sitemap.ts')).sitemapCommand(),
    },
    demo: {
      about: 'crawl a small made-up site on this machine',
      load: async () => (await import('./demo.ts')).demoCommand(),
    },
  },
  Look: {
    pages: {
      about: 'list known URLs: state, reason, status, title, …',
      load: async () => (await import('./pages.ts')).pagesCommand(),
    },
    links: {
      about: 'list links; with --broken, links to broken pages',
      load: async () => (await import('./links.ts')).linksCommand(),
    },
    why: {
      about: 'explain what happened to a URL, and which rule decided',
      load: async () => (await import('./why.ts')).whyCommand(),
    },
    cat: {
      about: 'print the stored body of a page, or its text',
      load: async () => (await import('./cat.ts')).catCommand(),
    },
    sql: {
      about: 'crawl and ask in SQL: a DuckDB session with CRAWL',
      load: async () => (await import('./sql.ts')).sqlCommand(),
    },
    stats: {
      about: 'print the numbers of a database or project',
      load: async () => (await import('./stats.ts')).statsCommand(),
    },
    report: {
      about: 'describe one run: numbers, hosts, errors, politeness',
      load: async () => (await import('./report.ts')).reportCommand(),
    },
    hosts: {
      about: 'list hosts: URLs, pace, blocks, robots.txt',
      load: async () => (await import('./hosts.ts')).hostsCommand(),
    },
    runs: {
      about: 'list crawls (runs): when, how they ended, how much',
      load: async () => (await import('./runs.ts')).runsCommand(),
    },
    audit: {
      about: 'check that all requests kept the rules of politeness',
      load: async () => (await import('./audit.ts')).auditCommand(),
    },
  },
  Compare: {
    changes: {
      about: 'show what changed: new, changed and gone pages',
      load: async () => (await import('./changes.ts')).changesCommand(),
    },
    compare: {
      about: 'compare two runs of a project: pages added, removed, changed',
      load: async () => (await import('./compare.ts')).compareCommand(),
    },
  },
  Export: {
    export: {
      about: 'write the link graph of pages or domains for other programs',
      load: async () => (await import('./export.ts')).exportCommand(),
    },
  },
  'Keep fresh': {
    watch: {
      about: 'visit a site again and again, and tell what changed',
      load: async () => (await import('./watch.ts')).watchCommand(),
    },
  },
  Serve: {
    serve: {
      about: 'serve projects and crawls to programs: REST, live events, MCP',
      load: async () => (await import('./serve.ts')).serveCommand(),
    },
    mcp: {
      about: 'serve tools to an agent over standard input and output',
      load: async () => (await import('./mcp.ts')).mcpCommand(),
    },
    token: {
      about: 'make, list or revoke tokens of the service',
      load: async () => (await import('./token.ts')).tokenCommand(),
    },
  },
  Operate: {
    project: {
      about: 'show or set the options that a project keeps',
      load: async () => (await import('./project.ts')).projectCommand(),
    },
    config: {
      about: 'print all options, and where each value came from',
      load: async () => (await import('./config.ts')).configCommand(),
    },
    reclassify: {
      about: 'apply a changed terrain file to a stored map',
      load: async () => (await import('./reclassify.ts')).reclassifyCommand(),
    },
    index: {
      about: 'build indexes for lists and searches of programs',
      load: async () => (await import('./build-index.ts')).indexCommand(),
    },
    copy: {
      about: 'copy projects to another database, and compare both',
      load: async () => (await import('./copy.ts')).copyCommand(),
    },
    forget: {
      about: 'delete old history: visits, changes, requests',
      load: async () => (await import('./forget.ts')).forgetCommand(),
    },
    worker: {
      about: 'help with the crawls of a shared database',
      load: async () => (await import('./worker.ts')).workerCommand(),
    },
    workers: {
      about: 'list workers: alive or not, hosts, pages per second',
      load: async () => (await import('./workers.ts')).workersCommand(),
    },
  },
};

const COMMANDS: Record<string, CommandEntry> = Object.assign({}, ...Object.values(GROUPS));

/** Of what goes through a pipe. */
const HELP_WIDTH = 80;

const EXAMPLES = `
Examples:
  sumi demo                                 a first look, without the internet
  sumi crawl https://example.com            a whole site into ./sumi.db
  sumi map terrain.toml                     the web around chosen domains
  sumi links --broken                       broken pages, and who links to them
  sumi changes                              what the last run found changed
  sumi why https://example.com/some/page    what became of a URL
  sumi crawl --help                         all about one command
Exit codes: 0 done, 1 the crawl failed or the answer is no, 2 wrong usage,
3 interrupted (the same command continues), 4 the database failed.`;

async function main(): Promise<void> {
  // A reader such as `| head` has seen enough. A crawl ends itself then (crawl-view.ts).
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', (error) => {
      if (stream.listenerCount('error') === 1 && isClosedPipe(error)) process.exit(EXIT_CODES.done);
    });
  }
  const args = withCommand(hyphenateFlags(process.argv.slice(2)));
  const program = new Command('sumi')
    .description('A polite web crawler that maps a piece of the web into one file.')
    .version(PROGRAM_VERSION, '-V, --version', 'print the version')
    .commandsGroup('Help:')
    .helpCommand('help [command]', 'show the help of a command')
    .addHelpText('after', EXAMPLES);
  // `sumi help crawl` names its command second.
  const words = args.filter((arg) => !arg.startsWith('-'));
  const named = words[0] === 'help' ? words[1] : words[0];
  for (const [group, commands] of Object.entries(GROUPS)) {
    for (const [name, { about, load }] of Object.entries(commands)) {
      const command = name === named ? await load() : new Command(name).description(about);
      program.addCommand(command.helpGroup(`${group}:`));
    }
  }
  throwUsageErrors(program);
  const width = process.stdout.isTTY ? process.stdout.columns : HELP_WIDTH;
  for (const one of [program, ...program.commands]) {
    one
      .configureHelp(NARROW_HELP)
      .helpOption('-h, --help', 'show this help')
      .configureOutput({
        writeOut: (text) => void process.stdout.write(fitHelp(text, width)),
        writeErr: (text) => void process.stderr.write(fitHelp(text, width)),
      });
  }
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
