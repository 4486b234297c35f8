import { describe, expect, it } from 'vitest';
import { completeLine } from './complete-line.ts';

const session = (words: string[], start: number) => ({ complete: async () => ({ words, start }) });

describe('completion', () => {
  it('offers words that go on from what was typed, in its case', async () => {
    expect(await completeLine(session(['SELECT ', 'SET ', 'pages'], 0), '', 'se')).toEqual([
      ['select ', 'set '],
      'se',
    ]);
    expect(await completeLine(session(['SELECT ', 'Sites'], 0), '', 'S')).toEqual([
      ['SELECT ', 'Sites'],
      'S',
    ]);
    expect(await completeLine(session(['FROM '], 9), '', 'SELECT 1 ')).toEqual([['FROM '], '']);
  });

  it('never changes a line above', async () => {
    expect(await completeLine(session(['pages'], 3), 'xx\n', 'pa')).toEqual([['pages'], 'pa']);
    expect(await completeLine(session(['xxyz'], 0), 'xx\n', 'pa')).toEqual([[], '']);
  });

  it('knows dot commands and what follows them', async () => {
    const none = session([], 0);
    expect(await completeLine(none, '', '.t')).toEqual([['.tables', '.timer'], '.t']);
    expect(await completeLine(none, '', '.mode j')).toEqual([['json', 'jsonl'], 'j']);
    expect(await completeLine(none, '', '.timer o')).toEqual([['on', 'off'], 'o']);
    expect(await completeLine(session(['.x'], 4), 'SELECT\n', '.t')).toEqual([[], '']);
  });

  it('offers nothing that could control the terminal', async () => {
    const [words] = await completeLine(session(['pa\u001b[31m'], 0), '', 'pa');
    expect(words.join()).not.toContain('\u001b');
  });
});
