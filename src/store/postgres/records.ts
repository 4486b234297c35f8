/**
 * Records in a table of the store's database, made with its other tables. Every verb is a statement of its own and waits for
 * a while when the database is away. A put whose answer was lost is found again by its call, and not done twice.
 */
import { randomUUID } from 'node:crypto';
import { sumiError } from '../../errors.ts';
import type { Clock } from '../../primitives/clock.ts';
import type { RecordPort } from '../record-port.ts';
import {
  listStatement,
  namedRecord,
  putStatement,
  type RawRecord,
  RECORD_STATEMENTS,
  type RecordStatement,
  readRecord,
  refuseNoScope,
} from '../record-statements.ts';
import { createAttempts } from './attempts.ts';
import { disconnect, storeLabel } from './connection.ts';
import { openForWriting } from './open-database.ts';
import { ask } from './session.ts';

const CONNECTIONS = 2;
/** Somebody waits for the answer. */
const PATIENCE_MS = 10_000;

export async function openPostgresRecords(address: string, clock: Clock): Promise<RecordPort> {
  const { sql } = await openForWriting(address, { applicationName: 'sumi records', max: CONNECTIONS });
  let isClosed = false;
  const all = async <Row>(statement: RecordStatement): Promise<Row[]> => {
    if (isClosed) throw sumiError('store-closed', { store: storeLabel(address) });
    const { text, values } = numbered(statement);
    // A long absence of the database ends this verb only.
    const { attempt } = createAttempts({ sql, address, patienceMs: PATIENCE_MS, clock });
    return attempt((runner) => ask<Row>(runner, text, values));
  };
  const now = () => Math.round(clock.now());

  return {
    async get<Value>(...name: Parameters<RecordPort['get']>) {
      const values = { ...namedRecord(...name), now: now() };
      const [row] = await all<RawRecord>({ sql: RECORD_STATEMENTS.get, values });
      return row === undefined ? null : readRecord<Value>(row);
    },
    async list<Value>(query: Parameters<RecordPort['list']>[0]) {
      return (await all<RawRecord>(listStatement(query, now()))).map((row) => readRecord<Value>(row));
    },
    async put(kind, scope, key, value, options = {}) {
      const record = namedRecord(kind, scope, key);
      const call = randomUUID();
      const [row] = await all<{ version: number }>(
        putStatement(record, value, options, { now: now(), call }),
      );
      if (row !== undefined || options.ifVersion === undefined) return row?.version ?? null;
      const values = { ...record, call };
      const [own] = await all<{ version: number }>({ sql: RECORD_STATEMENTS.writtenBy, values });
      return own?.version ?? null;
    },
    async remove(kind, scope, key, ifVersion) {
      const values = { ...namedRecord(kind, scope, key), now: now() };
      const { remove, removeKnown } = RECORD_STATEMENTS;
      const statement =
        ifVersion === undefined
          ? { sql: remove, values }
          : { sql: removeKnown, values: { ...values, ifVersion } };
      return (await all(statement)).length > 0;
    },
    async removeScope(scope) {
      refuseNoScope(scope);
      await all({ sql: RECORD_STATEMENTS.removeScope, values: { scope } });
    },
    async removeExpired() {
      return (await all({ sql: RECORD_STATEMENTS.removeExpired, values: { now: now() } })).length;
    },
    async close() {
      isClosed = true;
      await disconnect(sql);
    },
  };
}

/** PostgreSQL counts its values. */
function numbered({ sql, values }: RecordStatement): { text: string; values: unknown[] } {
  const names: string[] = [];
  const text = sql.replace(/@(\w+)/g, (_, name: string) => {
    if (!names.includes(name)) names.push(name);
    return `$${names.indexOf(name) + 1}`;
  });
  return { text, values: names.map((name) => values[name]) };
}
