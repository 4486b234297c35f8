/**
 * The interactive shell: reads statements of many lines, runs them one after another, remembers them. Ctrl-C ends the
 * statement under way and never the shell; an error ends nothing. It knows the session by its type only, and writes
 * terminal codes to nothing but a terminal.
 */
import { EXIT_CODES } from '../../errors.ts';
import { printable, showMany } from '../../render/terminal-text.ts';
import { renderError } from '../../sql/output/render-error.ts';
import type { SqlSession } from '../../sql/sql-session.ts';
import { completeLine } from './complete-line.ts';
import { askRows, runDotCommand, type ShellState } from './dot-commands.ts';
import type { HistoryFile } from './history-file.ts';
import { createLineEditor } from './line-editor.ts';
import { createProgressView } from './progress-view.ts';
import { columnsOf, createResultOutput } from './result-output.ts';
import { isInterrupt } from './run-scripts.ts';

const PROMPT = 'sumi> ';
const CONTINUED = '   -> ';

export interface ShellSurroundings {
  session: SqlSession;
  state: ShellState;
  history: HistoryFile;
  /** Nothing is kept when the shell ends. */
  isInMemory: boolean;
  greeting: string;
  input: NodeJS.ReadStream;
  out: NodeJS.WriteStream;
  err: NodeJS.WriteStream;
  /** See line-editor.ts. */
  isEditable: boolean;
  nowMs: () => number;
  /** Calls back for signals to the process: those that ask for the end, and Ctrl-C where no line is read. */
  onSignal: (listener: (signal: NodeJS.Signals) => void) => () => void;
}

/** Resolves when the user has left, with the exit code; the session is closed then. */
export async function startShell(surroundings: ShellSurroundings): Promise<number> {
  const { session, state, history, out, err } = surroundings;
  const progress = createProgressView({ err, isQuiet: false, nowMs: surroundings.nowMs });
  const output = createResultOutput(out, progress.clear);
  /** The lines of the statement that is typed, each with its line end. */
  let buffer = '';
  let isRunning = false;
  let isLeaving = false;
  let exitCode: number = EXIT_CODES.done;
  const waiting: string[] = [];
  let wake: () => void = () => {};

  const editor = createLineEditor({
    input: surroundings.input,
    out,
    isEditable: surroundings.isEditable,
    entries: () => history.entries,
    complete: (line) => completeLine(session, buffer, line),
    isBusy: () => isRunning,
    onLine(line) {
      waiting.push(line);
      wake();
    },
    onCtrlC,
    onEnd: leave,
  });

  function complain(error: unknown, script: string, source: string | null): void {
    progress.clear();
    if (output.isClosed()) return;
    if (isInterrupt(error)) err.write('interrupted; what ran before stays\n');
    else err.write(renderError(error, script, source));
  }

  async function runScript(script: string, source: string | null): Promise<void> {
    const onStatement = ({ milliseconds }: { milliseconds: number }) => {
      // The next result hears of a terminal that is gone.
      if (state.isTimed) output.write(`${(milliseconds / 1000).toFixed(3)} s\n`).catch(() => {});
    };
    try {
      await session.run(script, { format: state.format, width: columnsOf(out), output, onStatement });
    } catch (error) {
      complain(error, script, source);
      // What was typed ahead may rest on what did not happen.
      if (isInterrupt(error)) waiting.length = 0;
    }
  }

  async function runEntry(entry: string): Promise<void> {
    isRunning = true;
    try {
      if (!entry.trimStart().startsWith('.')) return await runScript(entry, null);
      const width = () => columnsOf(out);
      await runDotCommand(entry, { session, state, print: output.write, width, runScript, leave: quit });
    } catch (error) {
      complain(error, entry, null);
    } finally {
      isRunning = false;
      progress.clear();
    }
  }

  /** One line that was typed. */
  async function take(line: string): Promise<void> {
    const isFirst = buffer === '';
    const word = line.trim().replace(/;$/, '').toLowerCase();
    if (isFirst && (word === 'exit' || word === 'quit')) return quit();
    const isWhole = isFirst && (line.trimStart().startsWith('.') || word === 'help');
    const entry = buffer + line;
    if (!isWhole && !session.isComplete(entry)) {
      buffer = `${entry}\n`;
      return editor.refreshHistory();
    }
    buffer = '';
    if (entry.trim() !== '') history.add(entry.trim());
    editor.refreshHistory();
    if (entry.trim() !== '') await runEntry(isWhole && word === 'help' ? '.help' : entry);
  }

  function leave(): void {
    isLeaving = true;
    wake();
  }

  /** Unlike the end of the input, also what was typed behind it is dropped. */
  function quit(): void {
    waiting.length = 0;
    leave();
  }

  /** A line for the user, who may be typing. */
  function say(line: string): void {
    if (isRunning) progress.say(line);
    else editor.writeAbove(() => progress.say(line));
  }

  function onCtrlC(): void {
    if (isRunning) session.interrupt();
    if (isRunning || isLeaving) return;
    waiting.length = 0;
    buffer = '';
    // Behind what was typed, so that it stays to be read.
    out.write(editor.drop() === '' ? '\n(Ctrl-D or .exit leaves)\n' : '^C\n');
    editor.prompt(PROMPT);
  }

  const stopHearing = surroundings.onSignal((signal) => {
    if (signal === 'SIGINT') return onCtrlC();
    exitCode = EXIT_CODES.interrupted;
    waiting.length = 0;
    session.interrupt();
    leave();
  });
  output.onClosed(leave);
  session.onProgress((told) => {
    if (isRunning || told === null) progress.show(told);
  });
  session.onNotice?.(say);

  err.write(`${surroundings.greeting}\n`);
  while (!isLeaving || waiting.length > 0) {
    const line = waiting.shift();
    if (line !== undefined) {
      await take(line);
      continue;
    }
    editor.prompt(buffer === '' ? PROMPT : CONTINUED);
    await new Promise<void>((resolve) => {
      wake = resolve;
      if (waiting.length > 0 || isLeaving) resolve();
    });
  }
  stopHearing();
  editor.close();
  if (!output.isClosed()) for (const line of await lastWords(surroundings)) err.write(`${line}\n`);
  await session.close();
  output.end();
  return exitCode;
}

interface UnfinishedCrawl {
  target: string;
  statement: string;
}

/** Which background crawls end with the shell, and how they go on. */
async function lastWords({ session, isInMemory }: ShellSurroundings): Promise<string[]> {
  let crawls: UnfinishedCrawl[];
  try {
    crawls = await askRows(
      session,
      'SELECT target, statement FROM crawls() WHERE finished_at IS NULL ORDER BY id',
    );
  } catch {
    // Of a session that answers nothing more there is nothing to say.
    return [];
  }
  if (crawls.length === 0) return [];
  const are = crawls.length === 1 ? 'is' : 'are';
  const ended = `${showMany(crawls.length, 'background crawl')} ${are} ended in good order.`;
  if (isInMemory) return [`${ended} The database is in memory: nothing is kept.`];
  const statements = crawls.map(({ statement }) => `  ${printable(statement.replace(/\s+/g, ' ').trim())}`);
  return [`${ended} What is written stays; the same statement goes on:`, ...statements];
}
