/**
 * What both stores say in SQL of records, with named values (`@key`). A record that has expired counts as absent: it is
 * neither read nor counted on, and the next `put` makes it anew with version 1.
 */
import { sumiError } from '../errors.ts';
import type { PutOptions, RecordKind, RecordQuery, StoredRecord } from './record-port.ts';

/** In SQLite `integer` and `text` stand for any whole number and text. */
export const recordTable = (integer: string, text: string) => `
CREATE TABLE service_record (
  kind ${text} NOT NULL,
  scope ${text} NOT NULL,
  key ${text} NOT NULL,
  value ${text} NOT NULL,
  version ${integer} NOT NULL,
  changed_at ${integer} NOT NULL,
  expires_at ${integer},
  -- Which call wrote it: whoever hears no answer can find out whether it was his own.
  written_by ${text} NOT NULL,
  PRIMARY KEY (kind, scope, key)
);
CREATE INDEX service_record_scope ON service_record (scope);
CREATE INDEX service_record_expires ON service_record (expires_at) WHERE expires_at IS NOT NULL;`;

const ITSELF = 'kind = @kind AND scope = @scope AND key = @key';
const IS_THERE = '(service_record.expires_at IS NULL OR service_record.expires_at > @now)';
const IS_EXPIRED = 'service_record.expires_at <= @now';
const COLUMNS = 'kind, scope, key, value, version, changed_at AS "changedAt", expires_at AS "expiresAt"';

const PUT = `
INSERT INTO service_record (kind, scope, key, value, version, changed_at, expires_at, written_by)
VALUES (@kind, @scope, @key, @value, 1, @now, @expiresAt, @call)
ON CONFLICT (kind, scope, key) DO UPDATE SET value = excluded.value, changed_at = excluded.changed_at,
  version = CASE WHEN ${IS_EXPIRED} THEN 1 ELSE service_record.version + 1 END,
  expires_at = CASE WHEN @keepsExpiry = 1 AND ${IS_THERE} THEN service_record.expires_at ELSE excluded.expires_at END,
  written_by = excluded.written_by`;

export const RECORD_STATEMENTS = {
  get: `SELECT ${COLUMNS} FROM service_record WHERE ${ITSELF} AND ${IS_THERE}`,
  put: `${PUT} RETURNING version`,
  putNew: `${PUT} WHERE ${IS_EXPIRED} RETURNING version`,
  putKnown: `
UPDATE service_record SET value = @value, version = version + 1, changed_at = @now, written_by = @call,
  expires_at = CASE WHEN @keepsExpiry = 1 THEN expires_at ELSE @expiresAt END
WHERE ${ITSELF} AND version = @ifVersion AND ${IS_THERE} RETURNING version`,
  writtenBy: `SELECT version FROM service_record WHERE ${ITSELF} AND written_by = @call`,
  remove: `DELETE FROM service_record WHERE ${ITSELF} AND ${IS_THERE} RETURNING version`,
  removeKnown: `DELETE FROM service_record WHERE ${ITSELF} AND version = @ifVersion AND ${IS_THERE} RETURNING version`,
  removeScope: 'DELETE FROM service_record WHERE scope = @scope',
  removeExpired: `
DELETE FROM service_record WHERE (kind, scope, key) IN
  (SELECT kind, scope, key FROM service_record WHERE ${IS_EXPIRED} ORDER BY expires_at LIMIT 1000) RETURNING version`,
} as const;

export type NamedValues = Readonly<Record<string, string | number | null>>;
export interface RecordStatement {
  sql: string;
  values: NamedValues;
}

const MOST_RECORDS = 1000;

export function listStatement(query: RecordQuery, now: number): RecordStatement {
  const { kind, scope, after, afterRecord, order = 'asc', limit = MOST_RECORDS } = query;
  if (!Number.isInteger(limit) || limit < 1 || limit > MOST_RECORDS)
    throw sumiError('list-limit', { limit, most: MOST_RECORDS });
  if (after !== undefined && scope === undefined) throw new TypeError('`after` needs a scope');
  const conditions = ['kind = @kind', IS_THERE];
  const values: Record<string, string | number | null> = { kind, now: Math.round(now), limit };
  if (scope !== undefined) {
    conditions.push('scope = @scope');
    values.scope = scope;
  }
  if (after !== undefined) {
    conditions.push(`key ${order === 'asc' ? '>' : '<'} @after`);
    values.after = after;
  }
  if (afterRecord !== undefined) {
    if (scope !== undefined) throw new TypeError('`afterRecord` is for all scopes');
    conditions.push(`(scope, key) ${order === 'asc' ? '>' : '<'} (@afterScope, @after)`);
    values.afterScope = afterRecord.scope;
    values.after = afterRecord.key;
  }
  return {
    sql: `SELECT ${COLUMNS} FROM service_record WHERE ${conditions.join(' AND ')}
      ORDER BY scope ${order}, key ${order} LIMIT @limit`,
    values,
  };
}

/** Names are kept as they are, byte for byte: what no store could give back is refused. */
export function namedRecord(kind: RecordKind, scope: string, key: string): NamedValues {
  for (const [part, text] of [
    ['scope', scope],
    ['key', key],
  ])
    if (/\0|\p{Surrogate}/u.test(text))
      throw sumiError('record-name', { kind, part, value: JSON.stringify(text) });
  return { kind, scope, key };
}

/** What belongs to the whole service is never forgotten at once. */
export function refuseNoScope(scope: string): void {
  if (scope === '') throw new TypeError('only a project can be forgotten');
}

/** All that the three ways to put a record take. */
export function putStatement(
  record: NamedValues,
  value: unknown,
  { ifVersion, expiresAt }: PutOptions,
  { now, call }: { now: number; call: string },
): RecordStatement {
  const json = JSON.stringify(value);
  if (json === undefined) throw new TypeError('a record needs a JSON value');
  const keepsExpiry = expiresAt === undefined ? 1 : 0;
  const common = {
    ...{ ...record, value: json, now: Math.round(now), call, keepsExpiry },
    expiresAt: expiresAt == null ? null : Math.round(expiresAt),
  };
  if (ifVersion === undefined) return { sql: RECORD_STATEMENTS.put, values: common };
  if (ifVersion === 0) return { sql: RECORD_STATEMENTS.putNew, values: common };
  return { sql: RECORD_STATEMENTS.putKnown, values: { ...common, ifVersion } };
}

export type RawRecord = Omit<StoredRecord, 'value'> & { value: string };

export const readRecord = <Value>(row: RawRecord): StoredRecord<Value> => ({
  ...row,
  value: JSON.parse(row.value) as Value,
});
