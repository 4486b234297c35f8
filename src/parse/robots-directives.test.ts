import { describe, expect, it } from 'vitest';
import type { RobotsDirectives } from './parsed-page.ts';
import { addRobotsContent, addRobotsHeader } from './robots-directives.ts';

function header(value: string): RobotsDirectives {
  const directives = { noindex: false, nofollow: false, other: '' };
  addRobotsHeader(value, 'sumi-ripple', directives);
  return directives;
}

describe('X-Robots-Tag', () => {
  it('reads directives in any case, and none as both', () => {
    expect(header('NoIndex, nofollow')).toMatchObject({ noindex: true, nofollow: true });
    expect(header('none')).toMatchObject({ noindex: true, nofollow: true });
    expect(header('all, noarchive')).toMatchObject({ noindex: false, nofollow: false });
  });

  it('counts what is said to us and not what is said to another agent', () => {
    expect(header('otherbot: noindex, nofollow')).toMatchObject({ noindex: false, nofollow: false });
    expect(header('otherbot: noindex, Sumi-Ripple: nofollow')).toMatchObject({
      noindex: false,
      nofollow: true,
    });
    expect(header('noindex, otherbot: nofollow')).toMatchObject({ noindex: true, nofollow: false });
  });

  it('passes over unavailable_after and its date with colons and commas', () => {
    expect(header('unavailable_after: Wed, 25 Jun 2031 15:00:00 GMT, noindex')).toMatchObject({
      noindex: true,
      nofollow: false,
    });
  });
});

describe('whatever else is asked', () => {
  const content = (value: string) => {
    const directives = { noindex: false, nofollow: false, other: '' };
    addRobotsContent(value, directives);
    return directives.other;
  };

  it('is kept as a set, in one spelling', () => {
    expect(content('NOARCHIVE, max-snippet: 20 ,noarchive')).toBe('max-snippet:20, noarchive');
    expect(content('max-snippet:20 noarchive')).toBe(content('noarchive max-snippet:20'));
    expect(header('noarchive, max-snippet: 20').other).toBe('max-snippet:20, noarchive');
  });

  it('is nothing where only defaults and what is obeyed stand', () => {
    for (const value of ['', ' , ', 'all', 'index, follow', 'INDEX follow', 'none', 'noindex,nofollow'])
      expect(content(value)).toBe('');
    expect(header('otherbot: noarchive').other).toBe('');
  });

  it('has a date as one directive, whatever its commas', () => {
    const dated = 'unavailable_after:wed 25 jun 2031 15:00:00 gmt';
    expect(content('unavailable_after: Wed, 25 Jun 2031 15:00:00 GMT, noarchive')).toBe(
      `noarchive, ${dated}`,
    );
    expect(header('unavailable_after: Wed, 25 Jun 2031 15:00:00 GMT, noarchive').other).toBe(
      `noarchive, ${dated}`,
    );
  });

  it('holds nothing that a database would not', () => {
    expect(content('noarchive\0')).toBe('noarchive\ufffd');
  });

  it('hides no directive that is obeyed', () => {
    const directives = { noindex: false, nofollow: false, other: '' };
    addRobotsContent('max-snippet:20 noindex, unavailable_after: 25 Jun 2031 nofollow', directives);
    expect(directives).toMatchObject({ noindex: true, nofollow: true });
  });

  it('has a length that it does not exceed', () => {
    expect(content('x'.repeat(5000)).length).toBeLessThanOrEqual(500);
    // Half a character would be read back as another.
    expect(content(`${'x'.repeat(499)}\u{1f600}`)).toBe(`${'x'.repeat(499)}\ufffd`);
  });
});

describe('meta robots', () => {
  it('takes commas and spaces between directives', () => {
    const directives = { noindex: false, nofollow: false, other: '' };
    addRobotsContent('index nofollow,max-snippet:5', directives);
    expect(directives).toMatchObject({ noindex: false, nofollow: true });
  });
});
