import { describe, expect, it } from 'vitest';
import { cleanData, cleanText } from './clean-text.ts';

describe('text for agents', () => {
  it.each([
    ['\u001b[31mred\u001b[0m', 'red'],
    ['\u001b]8;;http://evil.example\u0007link\u001b]8;;\u0007', 'link'],
    // One that never ends hides nothing that follows.
    ['\u001b]0;title and all the rest', ']0;title and all the rest'],
    ['a\u0000b\u0007c\u009bd\u007f', 'abcd'],
    ['a\r\nb\rc\td', 'a\nb\nc\td'],
    ['abc\u202egnp.exe', 'abcgnp.exe'],
    ['x\u{e0049}\u{e0067}\u200by', 'xy'],
    ['half \ud800 and \udc00 whole 😀', 'half \ufffd and \ufffd whole 😀'],
    // Joiners make families of emoji and words of Persian.
    ['👨\u200d👩\u200d👧 می\u200cخواهم', '👨\u200d👩\u200d👧 می\u200cخواهم'],
  ])('%j becomes %j', (given, cleaned) => {
    expect(cleanText(given)).toBe(cleaned);
  });

  it('is clean in every field and every name of a field', () => {
    expect(cleanData({ 'a\u0007': ['\u001b[1mb', null, 1, { c: '\u202ed' }] })).toEqual({
      a: ['b', null, 1, { c: 'd' }],
    });
  });

  it('takes time by its length alone', () => {
    const text = '\u001b]'.repeat(200_000);
    expect(cleanText(text)).toBe(']'.repeat(200_000));
  });
});
