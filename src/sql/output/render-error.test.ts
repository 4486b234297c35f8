import { describe, expect, it } from 'vitest';
import { sumiError } from '../../errors.ts';
import { errorForPrograms, renderError } from './render-error.ts';

const syntax = (details: { line?: number; column?: number } = {}) =>
  sumiError('sql-syntax', { problem: 'there is no INTO', advice: 'Add INTO and a table.', ...details });

describe('an error of SQL', () => {
  it('shows people the line and the place', () => {
    const script = 'SELECT 1;\nCRAWL (SELECT 1) TO t;';
    expect(renderError(syntax({ line: 2, column: 18 }), script)).toBe(
      [
        'sumi: The SQL statement cannot be read: there is no INTO.',
        '      line 2: CRAWL (SELECT 1) TO t;',
        '                               ^',
        '      Add INTO and a table.',
        '      code: sql-syntax',
        '',
      ].join('\n'),
    );
  });

  it('marks the place behind wide characters, and a place in a line without end', () => {
    const wide = renderError(syntax({ line: 1, column: 4 }), "'日' x").split('\n');
    expect(wide[2].indexOf('^') - wide[1].indexOf("'")).toBe(4);
    const ducks = renderError(syntax({ line: 1, column: 6 }), "'🦆🦆' x", 'q.sql').split('\n');
    expect(ducks[1].trim()).toBe("q.sql, line 1: '🦆🦆' x");
    expect(ducks[2].length - 1 - ducks[1].indexOf("'")).toBe(7);
    const long = renderError(
      syntax({ line: 1, column: 5001 }),
      `${'a'.repeat(5000)}!${'b'.repeat(5000)}`,
    ).split('\n');
    expect(long[1].length).toBeLessThan(150);
    expect(long[1][long[2].indexOf('^')]).toBe('!');
  });

  it('does without a place, and with one that the script does not have', () => {
    expect(renderError(syntax(), 'x')).not.toContain('^');
    expect(renderError(syntax({ line: 9, column: 1 }), 'x')).not.toContain('^');
    expect(renderError(syntax({ line: 1, column: 99 }), 'abc')).toContain('line 1: abc\n                 ^');
  });

  it('cannot control the terminal', () => {
    const error = sumiError('sql-failed', {
      problem: 'no table \u001b[31mx\nor view',
      advice: 'Look.',
      line: 1,
    });
    const text = renderError(error, 'SELECT \u001b[2J');
    expect(text).not.toContain('\u001b');
    expect(text).toContain('sumi: no table  [31mx\n      or view.\n');
  });

  it('is an object for programs', () => {
    expect(errorForPrograms(syntax({ line: 2, column: 18 }))).toEqual({
      code: 'sql-syntax',
      message: 'The SQL statement cannot be read: there is no INTO.',
      hint: 'Add INTO and a table.',
      line: 2,
      column: 18,
    });
    expect(errorForPrograms(syntax())).toMatchObject({ line: null, column: null });
    expect(errorForPrograms(new Error('oh'))).toMatchObject({ code: 'unexpected', message: 'oh' });
  });
});
