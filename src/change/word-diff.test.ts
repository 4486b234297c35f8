import { describe, expect, it } from 'vitest';
import { seededRandom } from '../../test/seeded-random.ts';
import type { DiffPiece } from './visit-record.ts';
import { cutPieces, diffWords, SHOWN_OF_OUTER } from './word-diff.ts';

const side = (pieces: readonly DiffPiece[], kind: '-' | '+') =>
  pieces
    .filter((piece) => piece[0] !== (kind === '-' ? '+' : '-'))
    .map(([, words]) => words)
    .join(' ');
const wordsOf = (text: string) => text.split(/\s+/).filter((word) => word !== '');

function checkBothSides(before: string, after: string): DiffPiece[] {
  const { pieces, wordsAdded, wordsRemoved } = diffWords(before, after);
  expect(side(pieces, '-')).toBe(wordsOf(before).join(' '));
  expect(side(pieces, '+')).toBe(wordsOf(after).join(' '));
  const count = (kind: string) =>
    pieces.filter((piece) => piece[0] === kind).reduce((sum, [, words]) => sum + wordsOf(words).length, 0);
  expect([wordsAdded, wordsRemoved]).toEqual([count('+'), count('-')]);
  return pieces;
}

/** The length of the shortest edit, by the table that everybody knows. */
function shortestEdit(a: string[], b: string[]): number {
  const row = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    let diagonal = row[0];
    row[0] = i;
    for (let j = 1; j <= b.length; j++) {
      const up = row[j];
      row[j] = a[i - 1] === b[j - 1] ? diagonal : 1 + Math.min(up, row[j - 1]);
      diagonal = up;
    }
  }
  return row[b.length];
}

describe('a word diff', () => {
  it('says which words were removed and added between those that were kept', () => {
    expect(diffWords('the quick brown fox jumps', 'the slow brown fox leaps high')).toEqual({
      pieces: [
        ['=', 'the'],
        ['-', 'quick'],
        ['+', 'slow'],
        ['=', 'brown fox'],
        ['-', 'jumps'],
        ['+', 'leaps high'],
      ],
      wordsAdded: 3,
      wordsRemoved: 2,
    });
  });

  it.each([
    ['', ''],
    ['', 'a b'],
    ['a b', ''],
    ['a', 'b'],
    ['a b c', 'a b c'],
    ['a  b\nc', ' a b\tc '],
    ['a b c', 'c b a'],
    ['a a a a', 'a a'],
    ['x a y a z', 'a a'],
  ])('of %j and %j gives both back', (before, after) => {
    checkBothSides(before, after);
  });

  it('has nothing but a kept run where only white space differs', () => {
    expect(diffWords('a  b\n c', 'a b c').pieces).toEqual([['=', 'a b c']]);
  });

  it('compares scripts without spaces by character', () => {
    expect(diffWords('価格は百円です', '価格は二百円です').pieces).toEqual([
      ['=', '価格は'],
      ['+', '二'],
      ['=', '百円です'],
    ]);
  });

  it('does not chop a rewritten sentence up at a lone word that stayed', () => {
    const { pieces } = diffWords(
      'start one two three the four five six end',
      'start seven eight nine the ten eleven twelve end',
    );
    expect(pieces).toEqual([
      ['=', 'start'],
      ['-', 'one two three the four five six'],
      ['+', 'seven eight nine the ten eleven twelve'],
      ['=', 'end'],
    ]);
  });

  it('gives both texts back for random ones, with an edit as short as can be', () => {
    const seed = Date.now() >>> 0;
    const random = seededRandom(seed);
    for (let round = 0; round < 400; round++) {
      const vocabulary = 2 + random.below(30);
      const text = (length: number) => Array.from({ length }, () => `w${random.below(vocabulary)}`);
      const before = text(random.below(60));
      // Half of them are edits of the first, half have nothing to do with it.
      const after =
        random.next() < 0.5
          ? text(random.below(60))
          : before.flatMap((word) => (random.next() < 0.8 ? [word] : text(random.below(3))));
      const note = `seed ${seed}, round ${round}`;
      const pieces = checkBothSides(before.join(' '), after.join(' '));
      // Lone words that were taken into a change stand on both of its sides.
      let edits = 0;
      for (const [at, [kind, words]] of pieces.entries()) {
        if (kind === '=') continue;
        const isAnswered = kind === '-' && pieces[at + 1]?.[0] === '+';
        if (isAnswered) edits += shortestEdit(wordsOf(words), wordsOf(pieces[at + 1][1]));
        else if (kind === '-' || pieces[at - 1]?.[0] !== '-') edits += wordsOf(words).length;
      }
      expect(edits, note).toBe(shortestEdit(before, after));
      for (let i = 1; i < pieces.length; i++) expect(pieces[i][0], note).not.toBe(pieces[i - 1][0]);
    }
  });

  it('of long texts finds scattered edits exactly, far beyond the limit of one search', () => {
    const seed = (Date.now() + 1) >>> 0;
    const random = seededRandom(seed);
    const before = Array.from({ length: 20_000 }, (_, i) => (i % 3 === 0 ? 'the' : `word${i}`));
    const after = [...before];
    const places = new Set<number>();
    while (places.size < 1500) places.add(1 + 3 * random.below(6_000));
    for (const place of places) after[place] = `other${place}`;
    const { wordsAdded, wordsRemoved } = diffWords(before.join(' '), after.join(' '));
    expect([wordsAdded, wordsRemoved], `seed ${seed}`).toEqual([1500, 1500]);
  });

  it.each([
    ['nothing in common', (i: number) => `a${i}`, (i: number) => `b${i}`],
    ['few different words', (i: number) => `w${(i * i) % 7}`, (i: number) => `w${(i * 31) % 11}`],
    ['everything turned around', (i: number) => `w${i}`, (i: number) => `w${100_000 - i}`],
    ['every second word another', (i: number) => `w${i}`, (i: number) => (i % 2 === 0 ? `w${i}` : `x${i}`)],
  ])('of 100,000 words a side with %s comes to an end and gives both back', (_, first, second) => {
    const text = (word: (i: number) => string) =>
      Array.from({ length: 100_000 }, (_, i) => word(i)).join(' ');
    checkBothSides(text(first), text(second));
  });
});

describe('a diff as it is kept', () => {
  const words = (from: number, to: number) =>
    Array.from({ length: to - from }, (_, i) => `w${from + i}`).join(' ');

  it('shows the ends of long kept runs, and of the outer ones the end beside the change', () => {
    const kept = cutPieces([
      ['=', words(0, 100)],
      ['-', 'x'],
      ['=', words(100, 200)],
      ['+', 'y'],
      ['=', words(200, 300)],
    ]);
    expect(kept).toEqual([
      ['=', `… ${words(90, 100)}`],
      ['-', 'x'],
      ['=', `${words(100, 110)} … ${words(190, 200)}`],
      ['+', 'y'],
      ['=', `${words(200, 210)} …`],
    ]);
  });

  it('leaves short runs whole', () => {
    const pieces: DiffPiece[] = [
      ['=', words(0, 8)],
      ['+', words(0, 50)],
    ];
    expect(cutPieces(pieces)).toEqual(pieces);
  });

  it('is the same whether all of the outer runs was looked at, or what is shown of them', () => {
    const seed = (Date.now() + 3) >>> 0;
    const random = seededRandom(seed);
    for (let round = 0; round < 50; round++) {
      const before = Array.from({ length: random.below(3000) }, () => `w${random.below(900)}`);
      const after = [...before];
      after.splice(random.below(before.length + 1), random.below(30), 'something', 'new');
      const [was, is] = [before.join(' '), after.join(' ')];
      const { pieces, ...counts } = diffWords(was, is, SHOWN_OF_OUTER);
      const whole = diffWords(was, is);
      expect(cutPieces(pieces), `seed ${seed}`).toEqual(cutPieces(whole.pieces));
      expect(counts).toEqual({ wordsAdded: whole.wordsAdded, wordsRemoved: whole.wordsRemoved });
      expect(pieces.map(([, text]) => text).join('').length).toBeLessThan(2 * SHOWN_OF_OUTER + 1000);
    }
  });

  it('is small however much changed, also without spaces', () => {
    const seed = (Date.now() + 2) >>> 0;
    const random = seededRandom(seed);
    const long = Array.from({ length: 50_000 }, () => `w${random.below(1e6)}`).join(' ');
    const pieces = Array.from(
      { length: 5000 },
      (_, i): DiffPiece => [i % 2 === 0 ? '=' : '+', 'word '.repeat(40).trim()],
    );
    for (const many of [[['+', long]], [['-', '墨'.repeat(200_000)]], [['+', 'x'.repeat(200_000)]], pieces]) {
      const size = JSON.stringify(cutPieces(many as DiffPiece[])).length;
      expect(size, `seed ${seed}`).toBeLessThan(60_000);
    }
  });
});
