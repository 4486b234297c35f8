/**
 * Runs scripts without a person beside them: results to standard output, all else to standard error, an exit code
 * at the end. The first error ends it; what ran before stays. A signal ends the statement under way and waits for
 * it. A reader that goes away ends it without a word.
 */
import { EXIT_CODES, exitCodeOf, SumiError, sumiError } from '../../errors.ts';
import { errorForPrograms, renderError } from '../../sql/output/render-error.ts';
import type { ResultFormat } from '../../sql/output/result-format.ts';
import type { SqlSession } from '../../sql/sql-session.ts';
import { createProgressView } from './progress-view.ts';
import { columnsOf, createResultOutput, ReaderGone } from './result-output.ts';

export interface Script {
  text: string;
  /** The file that it is from. */
  source: string | null;
}

export interface ScriptSurroundings {
  open: () => Promise<SqlSession>;
  scripts: readonly Script[];
  format: ResultFormat;
  out: NodeJS.WriteStream;
  err: NodeJS.WriteStream;
  nowMs: () => number;
  /** Calls back for each signal that asks for the end; gives back how not to hear them any more. */
  onSignal: (listener: () => void) => () => void;
  /** Ends the process in the middle of things, whatever holds it. */
  leaveAtOnce: () => void;
}

/** Programs that ask for JSON get errors as JSON. */
export const isForPrograms = (format: ResultFormat) => format === 'json' || format === 'jsonl';

/** An error on standard error, for the reader of this format. */
export function tellError(
  err: NodeJS.WriteStream,
  format: ResultFormat,
  error: unknown,
  script?: Script,
): void {
  const text = isForPrograms(format)
    ? `${JSON.stringify(errorForPrograms(error))}\n`
    : renderError(error, script?.text ?? '', script?.source ?? null);
  err.write(text);
}

export async function runScripts(surroundings: ScriptSurroundings): Promise<number> {
  const { scripts, format, out, err, nowMs } = surroundings;
  const progress = createProgressView({ err, isQuiet: isForPrograms(format), nowMs });
  const output = createResultOutput(out, progress.clear);
  let session: SqlSession | null = null;
  let asked = 0;
  let wake: () => void = () => {};
  const stopped = new Promise<void>((resolve) => {
    wake = resolve;
  });
  const end = () => {
    session?.interrupt();
    wake();
  };
  const stopHearing = surroundings.onSignal(() => {
    asked++;
    if (asked === 1) progress.say('stopping in good order; once more to leave at once');
    if (asked > 1) surroundings.leaveAtOnce();
    else end();
  });
  output.onClosed(end);
  const isOver = () => asked > 0 || output.isClosed();
  let current: Script | undefined;
  try {
    session = await surroundings.open();
    session.onProgress(progress.show);
    session.onNotice?.(progress.say);
    const width = out.isTTY ? columnsOf(out) : undefined;
    for (const script of scripts) {
      if (isOver()) break;
      current = script;
      await session.run(script.text, { format, width, output });
    }
    current = undefined;
    if (!isOver()) await Promise.race([session.rest(), stopped]);
    progress.clear();
  } catch (error) {
    progress.clear();
    if (error instanceof ReaderGone || (output.isClosed() && isInterrupt(error))) return EXIT_CODES.done;
    tellError(err, format, error, current);
    return asked > 0 && isInterrupt(error) ? EXIT_CODES.interrupted : exitCodeOf(error);
  } finally {
    // Also after an error: background crawls end in good order.
    await session?.close();
    stopHearing();
    output.end();
  }
  if (asked === 0) return EXIT_CODES.done;
  // Between two statements, or while background crawls were waited for: programs hear it in the same way.
  tellError(err, format, sumiError('sql-interrupted'));
  return EXIT_CODES.interrupted;
}

export function isInterrupt(error: unknown): boolean {
  return error instanceof SumiError && error.code === 'sql-interrupted';
}
