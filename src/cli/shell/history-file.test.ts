import { chmodSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { historyPath, MOST_ENTRIES, openHistory } from './history-file.ts';

let folder: string;
let path: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'sumi-history-'));
  path = join(folder, 'state', 'sumi', 'sql_history');
});
afterEach(() => rmSync(folder, { recursive: true }));

describe('the history of the shell', () => {
  it('keeps whole entries for the next time, newest first, for this user only', () => {
    const first = openHistory(path);
    first.add('SELECT 1;');
    first.add('SELECT\n  2;');
    first.add('SELECT\n  2;');
    expect(openHistory(path).entries).toEqual(['SELECT\n  2;', 'SELECT 1;']);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    chmodSync(path, 0o644);
    openHistory(path);
    expect(statSync(path).mode & 0o777).toBe(0o600);
  });

  it('keeps no more than its thousand newest entries', () => {
    const history = openHistory(path);
    for (let i = 0; i < MOST_ENTRIES + 5; i++) history.add(`SELECT ${i};`);
    expect(history.entries.length).toBe(MOST_ENTRIES);
    const { entries } = openHistory(path);
    expect([entries.length, entries[0], entries.at(-1)]).toEqual([MOST_ENTRIES, 'SELECT 1004;', 'SELECT 5;']);
    expect(readFileSync(path, 'utf8').trimEnd().split('\n').length).toBe(MOST_ENTRIES);
  });

  it('writes no passwords, but has them until the end', () => {
    const history = openHistory(path);
    history.add("ATTACH 'postgres://sumi:geheim@db/x' AS site (TYPE sumi);");
    history.add("SET http_proxy_password = 'geheim';");
    history.add('SELECT 1;');
    expect(history.entries.length).toBe(3);
    expect(readFileSync(path, 'utf8')).not.toContain('geheim');
  });

  it('is shared by several shells, and passes over lines that are no entries', () => {
    const [one, other] = [openHistory(path), openHistory(path)];
    one.add('a;');
    other.add('b;');
    writeFileSync(path, `${readFileSync(path, 'utf8')}{"broken\n17\n`);
    expect(openHistory(path).entries).toEqual(['b;', 'a;']);
  });

  it('does without a file that it cannot write', () => {
    writeFileSync(join(folder, 'state'), 'a file where the folder should be');
    const history = openHistory(path);
    history.add('a;');
    expect(history.entries).toEqual(['a;']);
  });

  it('is where the system keeps state', () => {
    expect(historyPath({ XDG_STATE_HOME: '/state' })).toBe('/state/sumi/sql_history');
    expect(historyPath({ XDG_STATE_HOME: 'relative' })).toMatch(/\/\.local\/state\/sumi\/sql_history$/);
  });
});
