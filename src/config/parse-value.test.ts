import { describe, expect, it } from 'vitest';
import type { OptionSpec } from './option-spec.ts';
import { describeExpected, parseValue } from './parse-value.ts';
import { maskPassword, showValue } from './show-value.ts';

const doc = '';
const setBy = 'project';

function readWith(spec: Omit<OptionSpec, 'doc' | 'setBy'>, raw: unknown): unknown {
  const parsed = parseValue({ ...spec, doc, setBy }, raw);
  return 'value' in parsed ? parsed.value : 'refused';
}

describe('a list of pairs', () => {
  const spec = { type: 'list', split: 'pair', doc, setBy } as const;

  it('splits at the next name, so that values may hold commas', () => {
    expect(parseValue(spec, 'why=first, second,ticket=4=2')).toEqual({
      value: ['why=first, second', 'ticket=4=2'],
    });
    expect(parseValue(spec, ['a=1', 'b=2,c=3'])).toEqual({ value: ['a=1', 'b=2', 'c=3'] });
  });
});

describe('parseValue', () => {
  it.each([
    [0.25, 0.25],
    ['300ms', 0.3],
    ['1.5', 1.5],
    ['.5', 0.5],
    ['2 m', 120],
    ['1h', 3600],
    ['1d', 86_400],
    ['1w', 'refused'],
    ['', 'refused'],
    [-1, 'refused'],
    [Number.NaN, 'refused'],
    [true, 'refused'],
  ])('reads %j as %j seconds', (raw, seconds) => {
    expect(readWith({ type: 'seconds', min: 0 }, raw)).toBe(seconds);
  });

  it.each([
    [512, 512],
    ['512', 512],
    ['1k', 1024],
    ['10MB', 10_485_760],
    ['1.5 KiB', 1536],
    ['1g', 1_073_741_824],
    ['10 apples', 'refused'],
  ])('reads %j as %j bytes', (raw, bytes) => {
    expect(readWith({ type: 'bytes', min: 1 }, raw)).toBe(bytes);
  });

  it.each([
    ['10', 10],
    [10, 10],
    [1.5, 'refused'],
    ['1.5', 'refused'],
    ['0x10', 'refused'],
    ['1e3', 'refused'],
    ['ten', 'refused'],
    [2 ** 60, 'refused'],
    ['11', 'refused'],
    ['none', 'refused'],
  ])('reads %j as the whole number %j', (raw, number) => {
    expect(readWith({ type: 'integer', min: 1, max: 10 }, raw)).toBe(number);
  });

  it.each([
    [true, true],
    ['yes', true],
    ['1', true],
    ['OFF', false],
    ['false', false],
    [1, 'refused'],
    ['maybe', 'refused'],
  ])('reads %j as the boolean %j', (raw, value) => {
    expect(readWith({ type: 'boolean' }, raw)).toBe(value);
  });

  it('splits lists at commas, trims, and drops what is empty or repeated', () => {
    expect(readWith({ type: 'list' }, 'a, b,,a')).toEqual(['a', 'b']);
    expect(readWith({ type: 'list' }, ['a,b', 'c'])).toEqual(['a', 'b', 'c']);
    expect(readWith({ type: 'list' }, '')).toEqual([]);
    expect(readWith({ type: 'list' }, ['a', 1])).toBe('refused');
    expect(readWith({ type: 'list' }, 5)).toBe('refused');
  });

  it('keeps commas that belong to a pattern or a URL', () => {
    expect(readWith({ type: 'list', split: 'pattern' }, '/a{1,2}/,/b/')).toEqual(['/a{1,2}/', '/b/']);
    expect(readWith({ type: 'list', split: 'space' }, 'http://a/x,y http://b/')).toEqual([
      'http://a/x,y',
      'http://b/',
    ]);
  });

  it('names the item of a list that is wrong', () => {
    const spec: OptionSpec = { type: 'list', doc, setBy, pattern: '^[^b]$', expected: 'no b' };
    expect(parseValue(spec, 'a,b')).toEqual({ bad: 'b', expected: 'no b' });
  });

  it('takes none only where there may be no value, and as text where the value is text', () => {
    expect(readWith({ type: 'integer', nullable: true }, 'none')).toBeNull();
    expect(readWith({ type: 'string', nullable: true }, 'none')).toBe('none');
    expect(readWith({ type: 'string', nullable: true }, null)).toBeNull();
    expect(readWith({ type: 'string' }, null)).toBe('refused');
  });

  it('says what was expected, with the limits', () => {
    expect(describeExpected({ type: 'integer', min: 1, nullable: true, doc, setBy })).toBe(
      'a whole number of at least 1, or none',
    );
    expect(describeExpected({ type: 'enum', choices: ['a', 'b', 'c'], doc, setBy })).toBe('a, b or c');
  });
});

describe('showing values', () => {
  it('masks passwords, also those with colons and at signs', () => {
    expect(maskPassword('http://me:se:cr@t@proxy:80/')).toBe('http://me:***@proxy:80/');
    expect(maskPassword('me:secret@proxy')).toBe('me:***@proxy');
    expect(maskPassword('http://proxy:80')).toBe('http://proxy:80');
    expect(showValue('http://me:secret@proxy', { type: 'string', doc, setBy, secret: true })).toBe(
      '"http://me:***@proxy"',
    );
  });

  it('cuts long values', () => {
    expect(showValue('x'.repeat(500)).length).toBeLessThan(130);
  });
});
