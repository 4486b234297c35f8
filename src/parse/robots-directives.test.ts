import { describe, expect, it } from 'vitest';
import type { RobotsDirectives } from './parsed-page.ts';
import { addRobotsContent, addRobotsHeader } from './robots-directives.ts';

function header(value: string): RobotsDirectives {
  const directives = { noindex: false, nofollow: false };
  addRobotsHeader(value, 'sumi-ripple', directives);
  return directives;
}

describe('X-Robots-Tag', () => {
  it('reads directives in any case, and none as both', () => {
    expect(header('NoIndex, nofollow')).toEqual({ noindex: true, nofollow: true });
    expect(header('none')).toEqual({ noindex: true, nofollow: true });
    expect(header('all, noarchive')).toEqual({ noindex: false, nofollow: false });
  });

  it('counts what is said to us and not what is said to another agent', () => {
    expect(header('otherbot: noindex, nofollow')).toEqual({ noindex: false, nofollow: false });
    expect(header('otherbot: noindex, Sumi-Ripple: nofollow')).toEqual({ noindex: false, nofollow: true });
    expect(header('noindex, otherbot: nofollow')).toEqual({ noindex: true, nofollow: false });
  });

  it('passes over unavailable_after and its date with colons and commas', () => {
    expect(header('unavailable_after: Wed, 25 Jun 2031 15:00:00 GMT, noindex')).toEqual({
      noindex: true,
      nofollow: false,
    });
  });
});

describe('meta robots', () => {
  it('takes commas and spaces between directives', () => {
    const directives = { noindex: false, nofollow: false };
    addRobotsContent('index nofollow,max-snippet:5', directives);
    expect(directives).toEqual({ noindex: false, nofollow: true });
  });
});
