/** What the service and the process that answers its queries say to each other. All of it is plain data. */
import type { TravellingError } from '../../primitives/travelling-error.ts';

export type QueryParameter = null | boolean | number | string | readonly QueryParameter[];

/** A question as the process gets it. */
export interface QueryTask {
  address: string;
  project: string;
  sql: string;
  params: readonly QueryParameter[] | Readonly<Record<string, QueryParameter>> | null;
  /** Rows, at most. */
  limit: number;
}

export interface QueryResult {
  columns: { name: string; type: string }[];
  rows: unknown[][];
  truncated: boolean;
}

export type FromQueryProcess =
  /** It can be asked. */
  { kind: 'ready' } | { kind: 'answer'; answer: QueryResult } | { kind: 'error'; error: TravellingError };
