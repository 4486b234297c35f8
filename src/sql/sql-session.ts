/**
 * What the SQL door offers to its users: the command `sumi sql` and `openSql()` of the library. One session is one DuckDB
 * with one file; statements run one after another, background crawls beside them.
 */
import type { ResultFormat } from './output/result-format.ts';

/** A value that a program gives for $1, $name or ?. */
export type SqlParameter =
  | null
  | boolean
  | number
  | bigint
  | string
  | Uint8Array
  | Date
  | readonly SqlParameter[];
export type SqlParameters = readonly SqlParameter[] | Readonly<Record<string, SqlParameter>>;

/** Where results go. Chunks of one result come in order; the session waits for the promise before it makes the next. */
export interface SqlOutput {
  /** Text in the format that was asked for. A statement without rows writes nothing in the formats of programs. */
  write(text: string): void | Promise<void>;
}

export interface CrawlProgress {
  /** Of `crawls()`. */
  crawl: number;
  target: string;
  pages: number;
  rows: number;
  waiting: number;
  errors: number;
  percent: number;
  secondsLeft: number | null;
}

/** Percent of a DuckDB query (0 to 100), or the progress of a CRAWL in the foreground; null when a statement has ended. */
export type SqlProgress = { query: number } | { crawl: CrawlProgress } | null;

export interface RunScript {
  format: ResultFormat;
  output: SqlOutput;
  parameters?: SqlParameters;
  /** Characters of a line, for tables. Without it lines are as long as their values. */
  width?: number;
  /** After each statement: how long it took. */
  onStatement?: (statement: { text: string; milliseconds: number }) => void;
}

export interface SqlSession {
  /**
   * Runs the statements of a script in order and stops at the first error, which is thrown as a SumiError whose details have
   * `line` and `column` where a place is known; what ran before stays. Resolves when the last statement has ended. Scripts
   * run one after another: one that is given meanwhile waits, and must not be waited for by the output of the first.
   */
  run(script: string, options: RunScript): Promise<void>;
  /** True when the text needs no more lines: it ends with a semicolon outside of quotes, or has no statement. */
  isComplete(text: string): boolean;
  /** What may stand at the end of the text: whole words, best first, and where in the text the word that they replace begins. */
  complete(text: string): Promise<{ words: string[]; start: number }>;
  /** Ends the statement under way; `run` throws `sql-interrupted`. Without one nothing happens. */
  interrupt(): void;
  onProgress(listener: (progress: SqlProgress) => void): void;
  /** What a person should hear, a line each, never part of a result: for example which columns a target table lacks. */
  onNotice(listener: (line: string) => void): void;
  /** Waits for background crawls. */
  rest(): Promise<void>;
  /** Ends background crawls in good order (their runs go on later) and closes the file. */
  close(): Promise<void>;
}
