// Sessions of the SQL door for tests, with a fake web to crawl: each test has a folder of its own, and what it opens is
// closed after it.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach } from 'vitest';
import { SumiError } from '../../src/errors.ts';
import { openSql } from '../../src/sql/open-sql.ts';
import type { SqlParameters, SqlSession } from '../../src/sql/sql-session.ts';
import { type FakeWeb, type FakeWebOptions, startFakeWeb } from '../web/fake-web.ts';

export type Row = Record<string, unknown>;

export interface TestSession extends SqlSession {
  /** The rows of all results of the script. */
  rows(script: string, parameters?: SqlParameters): Promise<Row[]>;
  /** What the script prints as JSON. */
  json(script: string): Promise<string>;
  /** The error that the script ends with. */
  error(script: string): Promise<SumiError>;
}

export interface SqlBench {
  web(options?: FakeWebOptions): Promise<FakeWeb>;
  folder(): string;
  /** A new file unless one is named; null: in memory. */
  open(file?: string | null, isReadOnly?: boolean): Promise<TestSession>;
}

/** Options of every CRAWL in tests: fast and steady. */
export const QUICK = 'default_crawl_delay 0, adaptive_delay false, retry_delay 0.02';

export function useSqlBench(): SqlBench {
  const webs: FakeWeb[] = [];
  const folders: string[] = [];
  const sessions: SqlSession[] = [];
  afterEach(async () => {
    for (const session of sessions.splice(0)) await session.close();
    for (const web of webs.splice(0)) await web.close();
    for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
  });
  const bench: SqlBench = {
    async web(options) {
      const web = await startFakeWeb(options);
      webs.push(web);
      return web;
    },
    folder() {
      const folder = mkdtempSync(join(tmpdir(), 'sumi-sql-'));
      folders.push(folder);
      return folder;
    },
    async open(file, isReadOnly = false) {
      const path = file === null ? undefined : (file ?? join(bench.folder(), 'web.duckdb'));
      const session = await openSql({ file: path, isReadOnly });
      const close = session.close.bind(session);
      sessions.push(session);
      session.close = async () => {
        sessions.splice(sessions.indexOf(session), 1);
        await close();
      };
      return withShortcuts(session);
    },
  };
  return bench;
}

function withShortcuts(session: SqlSession): TestSession {
  async function text(script: string, format: 'json' | 'jsonl', parameters?: SqlParameters): Promise<string> {
    let written = '';
    const output = {
      write(piece: string) {
        written += piece;
      },
    };
    await session.run(script, { format, output, parameters });
    return written;
  }
  return Object.assign(session, {
    async rows(script: string, parameters?: SqlParameters) {
      const lines = (await text(script, 'jsonl', parameters)).split('\n').filter((line) => line !== '');
      return lines.map((line) => JSON.parse(line) as Row);
    },
    json: (script: string) => text(script, 'json'),
    async error(script: string) {
      try {
        await text(script, 'jsonl');
      } catch (error) {
        if (error instanceof SumiError) return error;
        throw error;
      }
      throw new Error(`there was no error: ${script}`);
    },
  });
}
