// A fresh folder with DuckDB files for each test, and a DuckDB with stock settings in a process of its own, which is how
// any other program would see a file.
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { DuckDBConnection } from '@duckdb/node-api';
import { afterEach } from 'vitest';
import { type OpenDatabase, openDatabase } from '../../src/sql/table/open-database.ts';

const ROOT = resolve(import.meta.dirname, '../..');

export interface DuckFolder {
  path(name: string): string;
  /** Closed after the test, unless the test does. */
  open(name: string | null, isReadOnly?: boolean): Promise<OpenDatabase>;
}

export type Cell = unknown;

/** Rows as plain values: BIGINT as bigint, TIMESTAMP as Date. */
export async function rowsOf(connection: DuckDBConnection, sql: string): Promise<Cell[][]> {
  return (await connection.runAndReadAll(sql)).getRowsJS();
}

export function useDuckFolder(): DuckFolder {
  const closers: (() => Promise<void>)[] = [];
  let folder: string | null = null;
  const path = (name: string) => {
    folder ??= mkdtempSync(join(tmpdir(), 'sumi-duck-'));
    return join(folder, name);
  };
  afterEach(async () => {
    for (const close of closers.splice(0)) await close();
    if (folder !== null) rmSync(folder, { recursive: true, force: true });
    folder = null;
  });
  return {
    path,
    async open(name, isReadOnly = false) {
      const database = await openDatabase({ file: name === null ? null : path(name), isReadOnly });
      let isOpen = true;
      const close = async () => {
        if (isOpen) await database.close();
        isOpen = false;
      };
      closers.push(close);
      return { ...database, close };
    },
  };
}

export interface Child {
  /** The next line that it prints. */
  line(): Promise<string>;
  /** Closes its input, which ends it; resolves with what it printed. */
  end(): Promise<string>;
  kill(): Promise<void>;
}

/** Runs TypeScript of the tests in a process of its own. Words before `node` set limits, such as `ulimit -f 100;`. */
export function startChild(file: string, args: readonly string[], limits = ''): Child {
  const program = [process.execPath, '--import', 'tsx', join(ROOT, file), ...args];
  const child =
    limits === ''
      ? spawn(program[0], program.slice(1), { cwd: ROOT, stdio: ['pipe', 'pipe', 'inherit'] })
      : spawn('bash', ['-c', `${limits} exec "$@"`, 'bash', ...program], {
          cwd: ROOT,
          stdio: ['pipe', 'pipe', 'inherit'],
        });
  let printed = '';
  let taken = 0;
  const waiting = new Set<() => void>();
  const wake = () => {
    for (const one of waiting) one();
  };
  child.stdout.on('data', (data: Buffer) => {
    printed += data.toString();
    wake();
  });
  const exited = new Promise<void>((done) => {
    child.once('close', () => {
      done();
      wake();
    });
  });
  return {
    line: () =>
      new Promise((done, fail) => {
        const look = () => {
          const end = printed.indexOf('\n', taken);
          if (end === -1 && child.exitCode === null && child.signalCode === null) return;
          waiting.delete(look);
          if (end === -1) return fail(new Error(`the child ended: ${printed}`));
          done(printed.slice(taken, end));
          taken = end + 1;
        };
        waiting.add(look);
        look();
      }),
    async end() {
      child.stdin.end();
      await exited;
      return printed;
    },
    async kill() {
      child.kill('SIGKILL');
      await exited;
    },
  };
}

/** What a DuckDB with stock settings finds in a file, as JSON; it opens the file as its main database. */
export async function askStock(file: string, sql: string): Promise<unknown> {
  const printed = await startChild('test/sql/stock-duck.ts', [file, sql]).end();
  return JSON.parse(printed);
}
