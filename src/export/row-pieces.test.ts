import { describe, expect, it } from 'vitest';
import { rowPieces } from './row-pieces.ts';

async function* rowsOf(letters: number, count: number, atOnce: number) {
  for (let n = 0; n < count; n += atOnce)
    yield Array.from({ length: atOnce }, () => ({ word: 'x'.repeat(letters) }));
}

describe('rows as text', () => {
  it.each([
    ['jsonl', 1],
    ['json', 1],
    ['csv', 40],
  ] as const)('do not wait for each other where one is long: %s, %i at once', async (format, atOnce) => {
    const list = { rows: rowsOf(100_000, 40, atOnce), format, names: ['word'] as const, columns: [] };
    const pieces: string[] = [];
    for await (const piece of rowPieces(list)) pieces.push(piece);
    expect(Math.max(...pieces.map(({ length }) => length))).toBeLessThan(200_000);
    expect(pieces.join('').match(/x+/g)).toHaveLength(40);
  });
});
