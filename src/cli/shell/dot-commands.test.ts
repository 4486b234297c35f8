import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import { describe, expect, it } from 'vitest';
import { fakeSession } from '../../../test/sql/shell/fakes.ts';
import { createResultWriter } from '../../sql/output/create-result-writer.ts';
import type { SqlSession } from '../../sql/sql-session.ts';
import { DOT_COMMANDS, runDotCommand, type ShellState } from './dot-commands.ts';

/** A session of which `run` is real: dot commands ask DuckDB about its tables. */
async function withSession(
  use: (ask: (line: string) => Promise<string>, state: ShellState, ran: string[]) => Promise<void>,
): Promise<void> {
  const instance = await DuckDBInstance.create(':memory:');
  const connection = await instance.connect();
  await connection.run(`CREATE TABLE pages (url VARCHAR, n INTEGER); INSERT INTO pages VALUES ('a', 1), ('b', 2);
    CREATE VIEW good AS SELECT * FROM pages; CREATE SCHEMA other; CREATE TABLE other.links (x INTEGER);
    ATTACH ':memory:' AS site; CREATE TABLE site.hosts (h VARCHAR); CREATE INDEX by_url ON pages (url)`);
  const run: SqlSession['run'] = async (script, { format, width, output }) => {
    const result = await connection.stream(script);
    const types = result.columnTypes();
    const columns = result.columnNames().map((name, i) => ({ name, type: types[i] }));
    const writer = createResultWriter({ format, columns, width });
    for (let chunk = await result.fetchChunk(); chunk?.rowCount; chunk = await result.fetchChunk())
      for (const text of writer.chunk(chunk)) await output.write(text);
    await output.write(writer.end());
  };
  const state: ShellState = { format: 'table', isTimed: false };
  const ran: string[] = [];
  const session = { ...fakeSession(), run };
  const ask = async (line: string) => {
    let text = '';
    await runDotCommand(line, {
      session,
      state,
      width: () => 80,
      print: async (piece) => {
        text += piece;
      },
      runScript: async (script, source) => void ran.push(`${source}: ${script}`),
      leave: () => void ran.push('left'),
    });
    return text;
  };
  try {
    await use(ask, state, ran);
  } finally {
    connection.closeSync();
    instance.closeSync();
  }
}

describe('dot commands', () => {
  it('list tables and views, those elsewhere with their place', () =>
    withSession(async (ask) => {
      const text = await ask('.tables');
      for (const line of ['│ pages ', '│ good ', '│ other.links ', '│ site.hosts '])
        expect(text).toContain(line);
      expect(text).toMatch(/│ pages +│ table +│ +2 │ +2 │/);
    }));

  it('print the statements that make tables, or one of them', () =>
    withSession(async (ask) => {
      const all = await ask('.schema');
      expect(all).toContain('CREATE TABLE pages(url VARCHAR, n INTEGER);\n');
      expect(all).toContain('CREATE TABLE other.links');
      const one = await ask('.schema PAGES;');
      expect(one).toBe('CREATE TABLE pages(url VARCHAR, n INTEGER);\nCREATE INDEX by_url ON pages(url);\n');
      expect(await ask('.schema "other.links"')).toContain('links');
      await expect(ask('.schema page')).rejects.toMatchObject({
        hint: 'Try .schema pages; .tables lists all.',
      });
    }));

  it('take a format, on and off, and say what was expected', () =>
    withSession(async (ask, state) => {
      await ask('.mode JSONL');
      await ask('.TIMER on');
      expect(state).toEqual({ format: 'jsonl', isTimed: true });
      await ask('.timer off;');
      expect(state.isTimed).toBe(false);
      await expect(ask('.mode xml')).rejects.toThrow('.mode cannot be xml; expected one of table, json');
      await expect(ask('.timer')).rejects.toThrow('.timer needs on or off');
      await expect(ask('.tabls')).rejects.toMatchObject({ hint: 'Try .tables; .help lists all commands.' });
    }));

  it('read files, also those with spaces in their names', () =>
    withSession(async (ask, _, ran) => {
      const folder = mkdtempSync(join(tmpdir(), 'sumi-read-'));
      const file = join(folder, 'my script.sql');
      writeFileSync(file, '\uFEFFSELECT 1;');
      await ask(`.read '${file}'`);
      await ask(`.read ${file}`);
      expect(ran).toEqual([`${file}: SELECT 1;`, `${file}: SELECT 1;`]);
      await expect(ask('.read /no/such/file')).rejects.toMatchObject({ code: 'sql-file-unreadable' });
      rmSync(folder, { recursive: true });
    }));

  it('are all in the help, but for second names', () =>
    withSession(async (ask, _, ran) => {
      const help = await ask('.help');
      for (const { name, isHidden } of DOT_COMMANDS)
        expect(help.includes(`  ${name} `), name).toBe(!isHidden);
      await ask('.exit');
      expect(ran).toEqual(['left']);
    }));
});
