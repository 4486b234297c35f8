/** `sumi sql`: a DuckDB session that can crawl. Flags and input in; a script or the shell does the rest. */
import { text } from 'node:stream/consumers';
import { Command, Option } from 'commander';
import { PROGRAM_VERSION } from '../config/program.ts';
import { exitCodeOf, sumiError } from '../errors.ts';
import { RESULT_FORMATS, type ResultFormat } from '../sql/output/result-format.ts';
import type { SqlSession } from '../sql/sql-session.ts';
import type { Script } from './shell/run-scripts.ts';

const EXAMPLES = `
Examples:
  sumi sql                                        a shell on a database in memory
  sumi sql web.duckdb                             a shell on a file, which is made if missing
  sumi sql web.duckdb -c "CRAWL (SELECT 'https://example.com/') INTO pages"    one statement
  sumi sql web.duckdb -c "FROM pages" --json      results for programs, errors as JSON, too
  sumi sql web.duckdb -f nightly.sql              a script; also: sumi sql web.duckdb < nightly.sql
  sumi sql web.duckdb --readonly --csv -c "SELECT url FROM pages" > urls.csv
Ctrl-C in the shell stops the statement under way, not the shell.
A script stops at its first error; what ran before stays. docs/sql.md explains CRAWL.`;

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
const IN_MEMORY = ':memory:';
const STANDARD_INPUT = '-';

interface SqlFlags {
  readonly?: boolean;
  format?: ResultFormat;
  table?: boolean;
  json?: boolean;
  jsonl?: boolean;
  csv?: boolean;
  markdown?: boolean;
}

/** What -c and -f gave, in their order. */
type Given = { sql: string } | { file: string };

export function sqlCommand(): Command {
  const given: Given[] = [];
  const keep = (make: (text: string) => Given) => (text: string) => {
    given.push(make(text));
    return given;
  };
  const command = new Command('sql')
    .description('crawl and ask in SQL: a DuckDB session with CRAWL')
    .argument('[file]', 'the DuckDB database (default: in memory)')
    .addOption(
      new Option('-c, --command <SQL>', 'run these statements; may be repeated').argParser(
        keep((sql) => ({ sql })),
      ),
    )
    .addOption(
      new Option('-f, --file <FILE>', 'run the statements of this file; may be repeated').argParser(
        keep((file) => ({ file })),
      ),
    )
    .option('--readonly', 'change nothing in the database')
    .addOption(new Option('--read-only').hideHelp())
    .addOption(
      new Option('--format <FORMAT>', 'how to print results (default: table)').choices(RESULT_FORMATS),
    )
    .option('--json', 'the same as --format json: an array a result, on one line')
    .option('--jsonl', 'the same as --format jsonl: an object a line')
    .option('--csv', 'the same as --format csv')
    .option('--markdown', 'the same as --format markdown')
    .addOption(new Option('--table').hideHelp());
  return command.addHelpText('after', EXAMPLES).action(async (file: string | undefined) => {
    // Who asks for JSON is a program: it gets what goes wrong from the first moment on in the same way.
    const asked = command.opts<SqlFlags & { readOnly?: boolean }>();
    const format = formatOf(asked);
    try {
      const isReadOnly = asked.readonly === true || asked.readOnly === true;
      process.exitCode = await runSql({ file, isReadOnly, format: oneFormat(asked), given });
    } catch (error) {
      const { tellError } = await import('./shell/run-scripts.ts');
      tellError(process.stderr, format, error);
      process.exitCode = exitCodeOf(error);
    }
  });
}

function formatsAsked(flags: SqlFlags): ResultFormat[] {
  const asked = RESULT_FORMATS.filter((format) => flags[format] === true || flags.format === format);
  return asked.length === 0 ? ['table'] : asked;
}

const formatOf = (flags: SqlFlags) => formatsAsked(flags)[0];

function oneFormat(flags: SqlFlags): ResultFormat {
  const [format, other] = formatsAsked(flags);
  if (other === undefined) return format;
  throw usage(`results cannot be printed as ${format} and as ${other}; expected one format`);
}

interface SqlRequest {
  file: string | undefined;
  isReadOnly: boolean;
  format: ResultFormat;
  given: readonly Given[];
}

async function runSql({ file, isReadOnly, format, given }: SqlRequest): Promise<number> {
  checkFile(file, isReadOnly);
  const open = async (): Promise<SqlSession> => {
    const { openSql } = await import('../sql/open-sql.ts');
    return openSql({ file, isReadOnly });
  };
  const isInteractive = given.length === 0 && process.stdin.isTTY && process.stdout.isTTY;
  if (isInteractive) return openShell(open, file, format);
  const [{ runScripts }, scripts] = await Promise.all([import('./shell/run-scripts.ts'), readScripts(given)]);
  return runScripts({
    open,
    scripts,
    format,
    out: process.stdout,
    err: process.stderr,
    nowMs: () => performance.now(),
    onSignal: hearSignals,
    // An exit would wait for the DuckDB thread, and abort inside of a function of ours. What is committed stays.
    leaveAtOnce: () => void process.kill(process.pid, 'SIGKILL'),
  });
}

async function openShell(
  open: () => Promise<SqlSession>,
  file: string | undefined,
  format: ResultFormat,
): Promise<number> {
  const [{ startShell }, { historyPath, openHistory }, session] = await Promise.all([
    import('./shell/start-shell.ts'),
    import('./shell/history-file.ts'),
    open(),
  ]);
  const isInMemory = isMemory(file);
  const where = isInMemory ? 'a database in memory: nothing is kept' : file;
  return startShell({
    session,
    state: { format, isTimed: false },
    history: openHistory(historyPath(process.env)),
    isInMemory,
    greeting: `sumi ${PROGRAM_VERSION}, ${where}. A statement ends with a semicolon; .help tells more.`,
    input: process.stdin,
    out: process.stdout,
    err: process.stderr,
    isEditable: process.env.TERM !== 'dumb',
    nowMs: () => performance.now(),
    onSignal: hearSignals,
  });
}

/** All are read before the first is run: a file that is missing is not noticed half way. */
async function readScripts(given: readonly Given[]): Promise<Script[]> {
  const { readScript } = await import('./shell/dot-commands.ts');
  if (given.length > 0) {
    return Promise.all(
      given.map(async (one) => {
        if ('sql' in one) return { text: one.sql, source: null };
        if (one.file === STANDARD_INPUT) return { text: await readInput(), source: null };
        return { text: readScript(one.file), source: one.file };
      }),
    );
  }
  if (process.stdin.isTTY) process.stderr.write('Reading SQL from the terminal; Ctrl-D ends it.\n');
  return [{ text: await readInput(), source: null }];
}

async function readInput(): Promise<string> {
  return (await text(process.stdin)).replace(/^\uFEFF/, '');
}

function hearSignals(listener: (signal: NodeJS.Signals) => void): () => void {
  for (const signal of SIGNALS) process.on(signal, listener);
  return () => {
    for (const signal of SIGNALS) process.off(signal, listener);
  };
}

const isMemory = (file: string | undefined) => file === undefined || file === '' || file === IN_MEMORY;

function checkFile(file: string | undefined, isReadOnly: boolean): void {
  if (isReadOnly && isMemory(file))
    throw usage(
      '--readonly is given without a database; expected the file of one, because a new one is empty',
    );
  if (file !== undefined && /\.sql$/i.test(file))
    throw usage(
      `${file} has the name of a script, and a database is expected there; a script is given with -f`,
    );
}

function usage(reason: string): Error {
  return sumiError('usage', { reason, command: 'sumi sql' });
}
