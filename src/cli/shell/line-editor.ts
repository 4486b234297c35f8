/**
 * Where lines are typed: readline with a history of whole entries, completion that never disturbs who types on, and a
 * prompt that can be begun anew. It knows nothing of SQL. The arrow keys walk along what `entries` gives.
 */
import { clearScreenDown, createInterface, cursorTo } from 'node:readline';
import type { Completion } from './complete-line.ts';

const INDENT = '  ';

export interface LineEditorSurroundings {
  input: NodeJS.ReadStream;
  out: NodeJS.WriteStream;
  /** Whether lines can be edited: not on a terminal that is as dumb as it says. */
  isEditable: boolean;
  /** Newest first. */
  entries: () => readonly string[];
  complete: (line: string) => Promise<Completion>;
  /** Nothing is completed then. */
  isBusy: () => boolean;
  onLine: (line: string) => void;
  onCtrlC: () => void;
  /** Ctrl-D, or the terminal is gone. */
  onEnd: () => void;
}

export interface LineEditor {
  prompt(text: string): void;
  /** After each entry: readline remembers lines, and this makes it remember entries. */
  refreshHistory(): void;
  /** Drops what is typed; the prompt comes next. Tells what it was. */
  drop(): string;
  /** Writes something above what is being typed. */
  writeAbove(write: () => void): void;
  close(): void;
}

export function createLineEditor(surroundings: LineEditorSurroundings): LineEditor {
  const { out, isEditable, entries, complete, isBusy } = surroundings;
  /** readline's own array, which it tells with each line. */
  let walked: string[] = [];

  const lines = createInterface({
    input: surroundings.input,
    output: out,
    terminal: isEditable,
    historySize: Number.MAX_SAFE_INTEGER,
    history: [...entries()],
    completer(line: string, done: (error: null, completion: [string[], string]) => void) {
      const none: [string[], string] = [[], line];
      if (isBusy()) return done(null, none);
      // Tab at the beginning of a line is an indent.
      if (line.trim() === '') return done(null, [[`${line}${INDENT}`], line]);
      const isAsItWas = () => lines.line.slice(0, lines.cursor) === line;
      complete(line).then(
        (completion) => done(null, isAsItWas() ? completion : none),
        // Who types goes on: a word that cannot be completed is no mistake.
        () => done(null, none),
      );
    },
  });
  let isEnded = false;

  lines.on('history', (history) => {
    walked = history;
  });
  // Entries that come back have other line ends, from Node 24 on.
  lines.on('line', (line) => surroundings.onLine(line.replaceAll('\r', '\n')));
  lines.on('SIGINT', surroundings.onCtrlC);
  lines.on('close', () => {
    // By Ctrl-D: what comes next begins on a line of its own.
    if (!isEnded && isEditable) out.write('\n');
    isEnded = true;
    surroundings.onEnd();
  });

  return {
    prompt(text) {
      if (isEnded) return;
      lines.setPrompt(text);
      lines.prompt();
    },
    refreshHistory() {
      walked.splice(0, walked.length, ...entries());
    },
    drop() {
      const typed = lines.line;
      // As readline's own clearLine, which knows where it last drew.
      Object.assign(lines, { line: '', cursor: 0, prevRows: 0 });
      return typed;
    },
    writeAbove(write) {
      if (isEnded || !isEditable) return write();
      cursorTo(out, 0);
      clearScreenDown(out);
      write();
      lines.prompt(true);
    },
    close() {
      isEnded = true;
      lines.close();
    },
  };
}
