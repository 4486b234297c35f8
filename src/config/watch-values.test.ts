import { describe, expect, it } from 'vitest';
import { readHours, readRate, readWords } from './watch-values.ts';

describe('a budget', () => {
  it.each([
    ['5000/day', 5000],
    ['5000', 5000],
    ['10 / hour', 240],
    ['0.5/minute', 720],
    ['7/week', 1],
  ])('%s is so many visits a day', (text, perDay) => {
    expect(readRate(text)).toBeCloseTo(perDay, 9);
  });

  it.each(['', '0/day', '-5/day', '5/month', 'many', '5/day/day', '1e9', '5 day'])('%s is none', (text) => {
    expect(readRate(text)).toBeNull();
  });
});

describe('hours of the day', () => {
  it('are two, the second may be the next morning', () => {
    expect(readHours('22-6')).toEqual({ from: 22, to: 6 });
    expect(readHours('9 - 17')).toEqual({ from: 9, to: 17 });
    expect(readHours('18-24')).toEqual({ from: 18, to: 0 });
  });

  it.each(['22', '24-6', '6-25', '6-6', '0-24', '6:30-9', ''])('%s are none', (text) => {
    expect(readHours(text)).toBeNull();
  });
});

describe('the words of a command', () => {
  it('are parted by blanks, and kept together by quotes and backslashes', () => {
    expect(readWords(`  notify --to 'a b' "c \\"d\\"" e\\ f g'h i'j ""`)).toEqual([
      'notify',
      '--to',
      'a b',
      'c "d"',
      'e f',
      'gh ij',
      '',
    ]);
  });

  it('are never replaced by anything', () => {
    expect(readWords('echo $HOME `id` *.txt ; rm')).toEqual(['echo', '$HOME', '`id`', '*.txt', ';', 'rm']);
  });

  it.each(['', '   ', `say 'open`, '"', `'' x`, 'end\\'])('%s is no command', (text) => {
    expect(readWords(text)).toBeNull();
  });
});
