import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { sqlCommand } from './sql.ts';

let said: string;
beforeEach(() => {
  said = '';
  vi.spyOn(process.stderr, 'write').mockImplementation((text) => {
    said += String(text);
    return true;
  });
});
afterEach(() => {
  vi.restoreAllMocks();
  process.exitCode = undefined;
});

async function sql(...args: string[]): Promise<{ code: unknown; said: string }> {
  await sqlCommand().parseAsync(args, { from: 'user' });
  return { code: process.exitCode, said };
}

describe('sumi sql, before any database is opened', () => {
  it('refuses two formats', async () => {
    const { code, said } = await sql('--csv', '--format', 'table', '-c', 'SELECT 1');
    expect(code).toBe(2);
    expect(said).toContain('results cannot be printed as table and as csv; expected one format');
  });

  it('refuses a script where the database stands', async () => {
    const { code, said } = await sql('nightly.sql');
    expect(code).toBe(2);
    expect(said).toContain('a script is given with -f');
  });

  it('refuses to read an empty database only', async () => {
    for (const flags of [['--readonly'], ['--read-only'], [':memory:', '--readonly']]) {
      const { code, said } = await sql(...flags, '-c', 'SELECT 1');
      expect(code).toBe(2);
      expect(said).toContain('--readonly is given without a database');
    }
  });

  it('reads all scripts first, and tells programs as JSON which one is missing', async () => {
    const { code, said } = await sql('-c', 'SELECT 1', '-f', '/no/such.sql', '--json');
    expect(code).toBe(2);
    expect(JSON.parse(said)).toMatchObject({ code: 'sql-file-unreadable', line: null, column: null });
    expect(said.trimEnd()).not.toContain('\n');
  });
});
