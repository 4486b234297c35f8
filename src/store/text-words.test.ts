import { expect, it } from 'vitest';
import { wordsOf } from './text-words.ts';

it.each([
  ['The fox, the FOX and 2 foxes', ['the', 'fox', 'and', '2', 'foxes']],
  ['Élan élan Ångström naïve ﬁn', ['elan', 'angstrom', 'naive', 'fin']],
  ["l'été c++ a_b x.y", ['l', 'ete', 'c', 'a', 'b', 'x', 'y']],
  ['東京tower タワー', ['東', '京', 'tower', 'タ', 'ワ', 'ー']],
  ['!!! — “”', []],
  [`${'x'.repeat(65)} y`, ['y']],
])('divides %j', (text, words) => {
  expect(wordsOf(text)).toEqual(words);
});

it('takes no more of a page than a database does', () => {
  const words = wordsOf(Array.from({ length: 200_000 }, (_, i) => `w${i}`).join(' '));
  expect(words.join(' ').length).toBeLessThan(400_000);
  expect(words.length).toBeGreaterThan(40_000);
});
