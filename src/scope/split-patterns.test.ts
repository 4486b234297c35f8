import { describe, expect, it } from 'vitest';
import { splitPatterns } from './split-patterns.ts';

describe('splitPatterns', () => {
  it.each([
    ['/a/,/b/', ['/a/', '/b/']],
    [' /a/ , /b/ ,, ', ['/a/', '/b/']],
    ['', []],
    ['a{2,3},b', ['a{2,3}', 'b']],
    ['[,;],b', ['[,;]', 'b']],
    ['[(,],b', ['[(,]', 'b']],
    ['(a,b),c', ['(a,b)', 'c']],
    ['((a,b),c),d', ['((a,b),c)', 'd']],
    ['a\\,b,c', ['a\\,b', 'c']],
    ['\\(a,b', ['\\(a', 'b']],
    ['\\[a,b]', ['\\[a', 'b]']],
    ['(a,b', ['(a', 'b']],
    ['a),b', ['a)', 'b']],
    ['a\\', ['a\\']],
  ])('splits %j', (list, patterns) => {
    expect(splitPatterns(list)).toEqual(patterns);
  });
});
