import { describe, expect, it } from 'vitest';
import type { DiffPiece } from '../change/visit-record.ts';
import { cutForEvent, MOST_EVENT_CHARACTERS, MOST_EVENT_RUNS } from './watch-event.ts';

const lengthOf = (text: readonly DiffPiece[]) => text.reduce((sum, [, words]) => sum + words.length, 0);

describe('the words of an event', () => {
  it('are all there where they are few', () => {
    const text: DiffPiece[] = [
      ['=', 'costs'],
      ['-', 'ten'],
      ['+', 'twelve'],
    ];
    expect(cutForEvent(text)).toEqual({ text, text_cut: false });
    expect(cutForEvent(null)).toEqual({ text: null, text_cut: false });
  });

  it('are so many runs and so many characters at most, and say that they were cut', () => {
    const runs = Array.from({ length: 300 }, (_, n): DiffPiece => [n % 2 === 0 ? '-' : '+', `word${n}`]);
    const many = cutForEvent(runs);
    expect(many).toEqual({ text: runs.slice(0, MOST_EVENT_RUNS), text_cut: true });
    const long = cutForEvent([
      ['-', 'a'.repeat(1500)],
      ['+', `${'b'.repeat(300)} ${'c'.repeat(300)} ${'d'.repeat(300)}`],
    ]);
    expect(long.text_cut).toBe(true);
    expect(lengthOf(long.text!)).toBeLessThanOrEqual(MOST_EVENT_CHARACTERS);
    expect(long.text![1]).toEqual(['+', 'b'.repeat(300)]);
  });

  it('cut no character in two, and tell of what a long run left out itself', () => {
    const { text } = cutForEvent([['+', `${'x'.repeat(MOST_EVENT_CHARACTERS - 1)}\u{1f600}`]]);
    expect(text).toEqual([['+', 'x'.repeat(MOST_EVENT_CHARACTERS - 1)]]);
    expect(cutForEvent([['=', 'first … last']]).text_cut).toBe(true);
  });
});
