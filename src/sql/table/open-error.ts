/** What DuckDB says when it cannot open a file, as an error with a code. Looks at the file's first bytes, writes nothing. */
import { closeSync, openSync, readSync } from 'node:fs';
import { basename, dirname, resolve } from 'node:path';
import { version } from '@duckdb/node-api';
import { SumiError, sumiError } from '../../errors.ts';
import { readDuckDbError } from '../thread/duckdb-errors.ts';

const SQLITE = 'SQLite format 3\0';
const PARQUET = 'PAR1';

export function toOpenError(file: string, isReadOnly: boolean, error: unknown): SumiError {
  if (error instanceof SumiError) return error;
  const { message } = readDuckDbError(error, '');
  const reason = message.replace(/^[A-Z][\w ]* Error:\s*/, '');
  if (/lock on file|being used by another process|already open in/i.test(reason))
    return sumiError('sql-file-locked', { file, holder: holderOf(reason) }, error);
  if (/not a valid DuckDB database file/.test(reason)) return notDuckDb(file, error);
  if (/newer version of DuckDB/i.test(reason))
    return sumiError('sql-file-newer', { file, version: version() }, error);
  const access = isReadOnly ? 'read' : 'read and write';
  return sumiError('sql-file-unusable', { file, reason: shortened(reason), access }, error);
}

/** ` (python3.11, PID 123)`. */
function holderOf(reason: string): string {
  const [, pid] = /\bPID:? (\d+)/.exec(reason) ?? [];
  if (pid === undefined) return '';
  const [, program] = /held in (.+?) \(PID/.exec(reason) ?? [];
  return program === undefined ? ` (PID ${pid})` : ` (${basename(program)}, PID ${pid})`;
}

function notDuckDb(file: string, error: unknown): SumiError {
  const start = firstBytes(file);
  if (start.startsWith(SQLITE)) {
    const advice = `Give another file. To query a store of sumi, run ATTACH '${file}' AS site (TYPE sumi) in a session.`;
    return sumiError('sql-not-duckdb', { file, found: 'an SQLite database', advice }, error);
  }
  const found = start.startsWith(PARQUET) ? 'a Parquet file' : start === '' ? 'empty' : 'no DuckDB file';
  const advice =
    found === 'a Parquet file'
      ? `Start without a file and query it: FROM '${file}'.`
      : 'Give another file. This file was not changed.';
  return sumiError('sql-not-duckdb', { file, found, advice }, error);
}

/** Nobody in this process has the file open at this point: closing a handle costs no one a lock. */
function firstBytes(file: string): string {
  const bytes = Buffer.alloc(SQLITE.length);
  try {
    const handle = openSync(file, 'r');
    try {
      return bytes.toString('latin1', 0, readSync(handle, bytes));
    } finally {
      closeSync(handle);
    }
  } catch {
    return '';
  }
}

/** Without the advice that concerns DuckDB's own shell. */
function shortened(reason: string): string {
  return reason.split(/\.? See also |\n/)[0];
}

export function noFolder(file: string): SumiError {
  return sumiError('sql-no-folder', { file, folder: dirname(resolve(file)) });
}
