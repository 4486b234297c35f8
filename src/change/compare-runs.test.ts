import { describe, expect, it } from 'vitest';
import { type BriefVisit, compareRuns } from './compare-runs.ts';
import type { KnownBy, VisitOutcome } from './visit-record.ts';

/**
 * One letter a run: n(ew), c(hanged), u(nchanged), g(one), f(ailed), s: unchanged by status, o: gone as an orphan,
 * r: an orphan that returned, . not visited.
 */
const WORDS: Record<string, [VisitOutcome, KnownBy]> = {
  n: ['new', 'content'],
  c: ['changed', 'content'],
  u: ['unchanged', 'content'],
  s: ['unchanged', 'status'],
  g: ['gone', 'status'],
  f: ['failed', 'status'],
  o: ['gone', 'orphan'],
  r: ['changed', 'orphan'],
};

async function* visitsOf(lives: readonly string[]): AsyncGenerator<BriefVisit> {
  for (let run = 1; run <= lives[0].length; run++) {
    for (const [index, life] of lives.entries()) {
      const letter = life[run - 1];
      if (letter === '.') continue;
      const [outcome, knownBy] = WORDS[letter];
      yield { run, pageId: index + 1, outcome, knownBy };
    }
  }
}

async function judge(life: string, first: number, second: number): Promise<string> {
  const { differences, unchanged, unvisited } = await compareRuns(visitsOf([life]), first, second);
  if (unvisited === 1) return 'unvisited';
  return differences[0]?.difference ?? (unchanged === 1 ? 'unchanged' : 'none');
}

describe('two runs compared', () => {
  it.each([
    ['nu', 1, 2, 'unchanged'],
    ['nc', 1, 2, 'changed'],
    ['.n', 1, 2, 'added'],
    ['ng', 1, 2, 'removed'],
    ['nf', 1, 2, 'failed'],
    ['ncf', 1, 3, 'failed'],
    ['nff', 2, 3, 'failed'],
    ['nfu', 1, 3, 'unchanged'],
    ['nfu', 2, 3, 'unchanged'],
    ['ff', 1, 2, 'none'],
    ['.f', 1, 2, 'failed'],
    ['gf', 1, 2, 'failed'],
    ['n.', 1, 2, 'unvisited'],
    ['nu.', 1, 3, 'unchanged'],
    ['nf.', 2, 3, 'unvisited'],
    ['f.', 1, 2, 'none'],
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
    ['no', 1, 2, 'removed'],
    ['nou', 1, 3, 'removed'],
    ['noc', 1, 3, 'removed'],
    ['noc', 2, 3, 'none'],
    ['nor', 1, 3, 'changed'],
    ['nour', 2, 4, 'added'],
  ])('call the life %s between runs %i and %i: %s', async (life, first, second, verdict) => {
    expect(await judge(life, first, second)).toBe(verdict);
  });

  it('take a page whose older history was cleared as one that was there', async () => {
    expect(await judge('uuc', 1, 3)).toBe('changed');
    expect(await judge('ss', 1, 2)).toBe('none');
    expect(await judge('.u', 1, 2)).toBe('unchanged');
    expect(await judge('.c', 1, 2)).toBe('changed');
    expect(await judge('.g', 1, 2)).toBe('removed');
    expect(await judge('fu', 1, 2)).toBe('unchanged');
  });

  it('count every page once, in the order of ids', async () => {
    expect(await compareRuns(visitsOf(['nu', '.n', 'ng', 'nc', 'nu']), 1, 2)).toEqual({
      differences: [
        { pageId: 2, difference: 'added', steps: 0 },
        { pageId: 3, difference: 'removed', steps: 1 },
        { pageId: 4, difference: 'changed', steps: 1 },
      ],
      unchanged: 2,
      unvisited: 0,
    });
  });
});

it('counts the steps in between', async () => {
  const { differences } = await compareRuns(visitsOf(['ncugc']), 2, 5);
  expect(differences).toEqual([{ pageId: 1, difference: 'changed', steps: 2 }]);
});
