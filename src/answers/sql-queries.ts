/** Questions in SQL about one project, answered by the DuckDB of the SQL door; see src/sql/open-queries.ts. */
export interface SqlQuestion {
  /** The project's name: no other project is visible. */
  project: string;
  sql: string;
  params?: readonly unknown[] | Readonly<Record<string, unknown>>;
  /** Rows of the answer, at most; the rest is cut off and `truncated` says so. */
  limit: number;
  timeoutMs: number;
  /** Who asks: none holds up the others. */
  asker?: string;
  /** Aborted: the statement is stopped. */
  signal?: AbortSignal;
}

export interface SqlAnswer {
  columns: { name: string; type: string }[];
  /** Values as JSON has them; numbers that JSON cannot hold exactly as text. */
  rows: unknown[][];
  truncated: boolean;
  milliseconds: number;
}

export interface SqlQueries {
  ask(question: SqlQuestion): Promise<SqlAnswer>;
  close(): Promise<void>;
}
