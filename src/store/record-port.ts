/**
 * The record port: what a service keeps beside the crawl data, such as tokens, webhooks, schedules and saved views. SQLite
 * keeps records in a file of their own (`FILE.service`), because the crawler holds the store's file locked all its life and
 * `sumi token create` must work beside it; PostgreSQL keeps them in a table of the store's database.
 *
 * Guarantees:
 *  - Each verb is durable before it resolves, and all or nothing; several processes may use the same records.
 *  - `put` and `remove` with `ifVersion` do nothing when the record has another version by now: one of several wins.
 *  - Records of a scope are listed in the order of their keys.
 *  - `sumi copy` never copies records.
 */

/** What a record is about. A new kind needs no new table. */
export type RecordKind =
  | 'token'
  | 'session'
  | 'view'
  | 'schedule'
  | 'webhook'
  | 'delivery'
  | 'idempotency'
  | 'queued-run'
  | 'run-note'
  | 'run-log'
  | 'counts'
  | 'service';

export interface StoredRecord<Value = unknown> {
  kind: RecordKind;
  /** The project's UUID, or '' for what belongs to the whole service. */
  scope: string;
  /** Unique in the kind and scope; it decides the order of lists (compared as bytes of UTF-8). */
  key: string;
  /** Any JSON value. */
  value: Value;
  /** 1 for a new record, then one more with each change. */
  version: number;
  /** Wall milliseconds of the last change. */
  changedAt: number;
  /** Wall milliseconds from which on the record counts as absent; null: it stays. */
  expiresAt: number | null;
}

export interface RecordQuery {
  kind: RecordKind;
  /** Unless said: all scopes, ordered by scope, then key. */
  scope?: string;
  /** Only keys after (desc: before) this one; only together with `scope`. */
  after?: string;
  /** Only records after (desc: before) this one, in the order of scope and key; only without `scope`. */
  afterRecord?: { scope: string; key: string };
  order?: 'asc' | 'desc';
  /** 1 to 1000. */
  limit?: number;
}

export interface PutOptions {
  /** The version that is expected; 0: there is no such record yet. */
  ifVersion?: number;
  /** Unless said, a record keeps the expiry that it has, and a new one stays. */
  expiresAt?: number | null;
}

export interface RecordPort {
  get<Value>(kind: RecordKind, scope: string, key: string): Promise<StoredRecord<Value> | null>;
  list<Value>(query: RecordQuery): Promise<StoredRecord<Value>[]>;
  /** The new version; null where `ifVersion` did not fit. */
  put(
    kind: RecordKind,
    scope: string,
    key: string,
    value: unknown,
    options?: PutOptions,
  ): Promise<number | null>;
  /** False where there was none, or `ifVersion` did not fit. */
  remove(kind: RecordKind, scope: string, key: string, ifVersion?: number): Promise<boolean>;
  /** Everything of a project, when it is purged. */
  removeScope(scope: string): Promise<void>;
  /** Deletes what has expired; a bounded number at a time. Answers how many. */
  removeExpired(): Promise<number>;
  close(): Promise<void>;
}
