/**
 * DuckDB passes on only the text of what a function throws. The text gets a mark, by which whoever ran the statement finds
 * the error again, with its code and details.
 */

export interface FunctionErrors {
  /** What DuckDB is told. */
  textOf(error: unknown): string;
  /** The error whose text DuckDB passed on, perhaps inside of more text; null when it is none of ours. */
  find(text: string): Error | null;
  /** The last one since `forget`; for a failure of which DuckDB tells nothing. */
  readonly latest: Error | null;
  forget(): void;
}

/** Several threads of one statement may fail; more than these are never asked for. */
const MOST_REMEMBERED = 64;
const MARK = /\[sumi:(\d+)\]/;

export function createFunctionErrors(): FunctionErrors {
  const thrown = new Map<number, Error>();
  let last = 0;
  let latest: Error | null = null;
  return {
    textOf(error) {
      const known = error instanceof Error ? error : new Error(String(error));
      latest = known;
      thrown.set(++last, known);
      thrown.delete(last - MOST_REMEMBERED);
      return `${known.message} [sumi:${last}]`;
    },
    get latest() {
      return latest;
    },
    forget() {
      latest = null;
    },
    find(text) {
      const mark = MARK.exec(text);
      return mark === null ? null : (thrown.get(Number(mark[1])) ?? null);
    },
  };
}
