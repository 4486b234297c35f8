import { describe, expect, it } from 'vitest';
import { matchesMimeType } from './mime-type.ts';

describe('patterns of content types', () => {
  it('match a type, all subtypes, a suffix, or everything', () => {
    expect(matchesMimeType('text/html', 'Text/HTML ')).toBe(true);
    expect(matchesMimeType('text/html', 'text/*')).toBe(true);
    expect(matchesMimeType('text/html', 'text')).toBe(true);
    expect(matchesMimeType('application/atom+xml', 'application/*+xml')).toBe(true);
    expect(matchesMimeType('image/png', '*/*')).toBe(true);
    expect(matchesMimeType('image/png', '*')).toBe(true);
  });

  it('do not match what only begins alike', () => {
    expect(matchesMimeType('text/html5', 'text/html')).toBe(false);
    expect(matchesMimeType('application/xml', 'application/*+xml')).toBe(false);
    expect(matchesMimeType('image/png', 'text/*')).toBe(false);
  });
});
