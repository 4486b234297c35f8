import { describe, expect, it } from 'vitest';
import { OPTION_NAMES, OPTIONS } from './config/option-table.ts';
import { ERRORS, type ErrorCode, exitCodeOf, formatError, SumiError, sumiError } from './errors.ts';

describe('errors', () => {
  it('fills message and hint from the details and carries the exit code', () => {
    const error = sumiError('url-scheme', { url: 'ftp://example.com/', scheme: 'ftp' });
    expect(error.message).toBe('The URL "ftp://example.com/" has the scheme ftp; expected http or https.');
    expect(error).toBeInstanceOf(SumiError);
    expect(error).toMatchObject({ code: 'url-scheme', exitCode: 2, httpStatus: 400 });
    expect(error.details.scheme).toBe('ftp');
  });

  it('keeps the cause', () => {
    const cause = new Error('SQLITE_FULL');
    const error = sumiError('disk-full', { file: 'sumi.db' }, cause);
    expect(error.cause).toBe(cause);
    expect(exitCodeOf(error)).toBe(4);
  });

  it('does not end a sentence with two full stops when the reason has one', () => {
    const error = sumiError('config-unreadable', { file: 'a.toml', reason: 'Permission denied.' });
    expect(error.message).toBe('The configuration file a.toml cannot be read: Permission denied.');
  });

  it('does not fill placeholders that come in with a value', () => {
    const error = sumiError('url-no-host', { url: 'https://{url}' });
    expect(error.message).toContain('"https://{url}"');
  });

  it('prints message, hint and code on three lines', () => {
    const lines = formatError(sumiError('no-url')).split('\n');
    expect(lines).toHaveLength(3);
    expect(lines[0]).toBe('sumi: There is no URL to crawl; expected at least one start URL.');
    expect(lines[2]).toContain('no-url');
  });

  it('names both ways to a database where there is none yet', () => {
    for (const code of ['db-missing', 'nothing-to-resume'] as const)
      expect(ERRORS[code].hint).toMatch(/`sumi crawl URL` or `sumi map FILE`/);
  });

  it('speak plain words, as the sentences of options do, and name no specification', () => {
    const dialect =
      /\b(ask(s|ed|ing)?|told|tells?|ticks?|errands?|anew|begun|began|whoever|nobody|somebody|goes on|look(s|ed)? for|RFC \d|00[0-4])\b/i;
    const sentences = [
      ...Object.entries(ERRORS).flatMap(([code, { message, hint }]) => [
        `${code}: ${message}`,
        `${code}: ${hint}`,
      ]),
      ...OPTION_NAMES.flatMap((name) => {
        const { doc, offDoc = '', expected = '' } = OPTIONS[name];
        return [`${name}: ${doc}`, `${name}: ${offDoc}`, `${name}: ${expected}`];
      }),
    ];
    expect(sentences.filter((text) => dialect.test(text))).toEqual([]);
  });

  it('calls anything else a defect, with its stack, and exits 1', () => {
    const error = new TypeError('x is not a function');
    expect(formatError(error)).toContain('TypeError: x is not a function');
    expect(formatError('text')).toContain('text');
    expect(exitCodeOf(error)).toBe(1);
  });

  it('has a full message and hint for every code', () => {
    const codes = Object.keys(ERRORS) as ErrorCode[];
    expect(codes.length).toBeGreaterThan(25);
    for (const code of codes) {
      const { message, hint, exitCode, httpStatus } = ERRORS[code];
      expect(code).toMatch(/^[a-z][a-z0-9]*(-[a-z0-9]+)*$/);
      expect(message, code).toMatch(/\.$/);
      expect(hint, code).toMatch(/\.$/);
      expect([1, 2, 4], code).toContain(exitCode);
      expect(httpStatus, code).toBeGreaterThanOrEqual(400);
    }
  });
});
