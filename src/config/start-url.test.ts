import { describe, expect, it } from 'vitest';
import { SumiError } from '../errors.ts';
import { isBareAddress, readStartUrl } from './start-url.ts';

function codeOf(text: string): string {
  try {
    return readStartUrl(text).href;
  } catch (error) {
    if (error instanceof SumiError) return error.code;
    throw error;
  }
}

describe('readStartUrl', () => {
  it.each([
    ['https://example.com', 'https://example.com/'],
    [' HTTP://Example.com:8080/a?b#c ', 'http://example.com:8080/a?b#c'],
    ['https://user@example.com/', 'https://user@example.com/'],
    ['http://[::1]:8080/', 'http://[::1]:8080/'],
    ['ftp://example.com/', 'url-scheme'],
    ['mailto:a@example.com', 'url-scheme'],
    ['file:///tmp/x', 'url-scheme'],
    ['https://', 'url-no-host'],
    ['https:///path', 'url-no-host'],
    ['https:example.com', 'url-no-host'],
    ['http://:80/', 'url-no-host'],
    ['http://user@/', 'url-no-host'],
    ['https://?q', 'url-no-host'],
    ['example.com', 'https://example.com/'],
    ['example.com:8080/x', 'https://example.com:8080/x'],
    [' localhost/a?b ', 'https://localhost/a?b'],
    ['127.0.0.1', 'https://127.0.0.1/'],
    ['[::1]:8080', 'https://[::1]:8080/'],
    ['shop', 'url-invalid'],
    ['urls.txt', 'url-invalid'],
    ['me@example.com', 'url-invalid'],
    ['example.com:99999', 'url-invalid'],
    ['/tmp/x', 'url-invalid'],
    ['https://exa mple.com/', 'url-invalid'],
    ['https://example.com:99999/', 'url-invalid'],
    ['', 'url-invalid'],
  ])('makes of %j %j', (text, result) => {
    expect(codeOf(text)).toBe(result);
  });
});

describe('isBareAddress', () => {
  it.each([
    ['example.co.uk/docs', true],
    ['wiki:8080', true],
    ['https://example.com', false],
    ['co.uk', false],
    ['terrain.toml', false],
    ['exam ple.com', false],
  ])('says of %j %j', (text, isBare) => {
    expect(isBareAddress(text)).toBe(isBare);
  });
});
