import { describe, expect, it } from 'vitest';
import { type BriefVisit, compareRuns } from './compare-runs.ts';
import { mergeChanges } from './merge-changes.ts';
import type { PageChange, VisitOutcome } from './visit-record.ts';

/** One letter a run: n(ew), c(hanged), u(nchanged), g(one), f(ailed), s: unchanged by status, . not visited. */
const WORDS: Record<string, VisitOutcome> = {
  n: 'new',
  c: 'changed',
  u: 'unchanged',
  s: 'unchanged',
  g: 'gone',
  f: 'failed',
};

async function* visitsOf(lives: readonly string[]): AsyncGenerator<BriefVisit> {
  for (let run = 1; run <= lives[0].length; run++) {
    for (const [index, life] of lives.entries()) {
      const letter = life[run - 1];
      if (letter === '.') continue;
      const knownBy = letter === 's' ? 'status' : 'content';
      yield { run, pageId: index + 1, outcome: WORDS[letter], knownBy };
    }
  }
}

async function judge(life: string, first: number, second: number): Promise<string> {
  const { differences, unchanged } = await compareRuns(visitsOf([life]), first, second);
  return differences[0]?.difference ?? (unchanged === 1 ? 'unchanged' : 'none');
}

describe('two runs compared', () => {
  it.each([
    ['nu', 1, 2, 'unchanged'],
    ['nc', 1, 2, 'changed'],
    ['.n', 1, 2, 'added'],
    ['ng', 1, 2, 'removed'],
    ['nf', 1, 2, 'unchanged'],
    ['n.', 1, 2, 'unchanged'],
    ['nccu', 1, 4, 'changed'],
    ['ncuu', 2, 4, 'unchanged'],
    ['.ng', 1, 3, 'none'],
    ['.nc', 1, 3, 'added'],
    ['ngc', 1, 3, 'changed'],
    ['ngc', 2, 3, 'added'],
    ['ngs', 1, 3, 'removed'],
    ['ngs', 2, 3, 'none'],
    ['f.n', 1, 3, 'added'],
    ['nuc', 1, 2, 'unchanged'],
  ])('call the life %s between runs %i and %i: %s', async (life, first, second, verdict) => {
    expect(await judge(life, first, second)).toBe(verdict);
  });

  it('take a page whose older history was cleared as one that was there', async () => {
    expect(await judge('uuc', 1, 3)).toBe('changed');
    expect(await judge('ss', 1, 2)).toBe('none');
  });

  it('count every page once, in the order of ids', async () => {
    expect(await compareRuns(visitsOf(['nu', '.n', 'ng', 'nc', 'nu']), 1, 2)).toEqual({
      differences: [
        { pageId: 2, difference: 'added', changes: 0 },
        { pageId: 3, difference: 'removed', changes: 0 },
        { pageId: 4, difference: 'changed', changes: 1 },
      ],
      unchanged: 2,
    });
  });
});

it('counts the changes in between', async () => {
  const { differences } = await compareRuns(visitsOf(['ncucc']), 2, 5);
  expect(differences).toEqual([{ pageId: 1, difference: 'changed', changes: 2 }]);
});

describe('changes one after the other', () => {
  const NONE: PageChange = {
    parts: [],
    fields: [],
    linksAdded: [],
    linksRemoved: [],
    text: null,
    wordsAdded: 0,
    wordsRemoved: 0,
  };
  const title = (before: string, after: string): PageChange => ({
    ...NONE,
    parts: ['title'],
    fields: [{ name: 'title', before, after }],
  });

  it('have the first value before and the last one after', () => {
    expect(mergeChanges([title('a', 'b'), title('b', 'c')])?.fields).toEqual([
      { name: 'title', before: 'a', after: 'c' },
    ]);
  });

  it('are nothing when all was changed back', () => {
    const links = (linksAdded: string[], linksRemoved: string[]): PageChange => ({
      ...NONE,
      parts: ['links'],
      linksAdded,
      linksRemoved,
    });
    expect(mergeChanges([title('a', 'b'), title('b', 'a')])).toBeNull();
    expect(mergeChanges([links(['/x'], ['/y']), links(['/y'], ['/x'])])).toBeNull();
    expect(mergeChanges([links(['/x'], ['/y']), links(['/z'], ['/x'])])).toMatchObject({
      linksAdded: ['/z'],
      linksRemoved: ['/y'],
    });
  });

  it('have their word diffs one after the other', () => {
    const text = (word: string): PageChange => ({
      ...NONE,
      parts: ['text'],
      text: [['+', word]],
      wordsAdded: 1,
    });
    expect(mergeChanges([text('a'), title('x', 'y'), text('b')])).toMatchObject({
      parts: ['title', 'text'],
      text: [
        ['+', 'a'],
        ['=', '…'],
        ['+', 'b'],
      ],
      wordsAdded: 2,
    });
  });
});
