import { describe, expect, it } from 'vitest';
import { COUNTING_WORDS, countUrls, ERROR_STATES, stateList, wordOf } from './counting-words.ts';
import { PAGE_STATES, type PageState } from './page-state.ts';

const STATES = Object.keys(PAGE_STATES) as PageState[];

describe('the words that count URLs', () => {
  it('put every state under exactly one word', () => {
    const listed = Object.values(COUNTING_WORDS).flatMap(({ states }) => [...states]);
    expect([...listed].sort()).toEqual([...STATES].sort());
    for (const state of STATES) expect(COUNTING_WORDS[wordOf(state)].states).toContain(state);
  });

  it('add up to the known URLs', () => {
    const byState = Object.fromEntries(STATES.map((state, i) => [state, 2 ** i]));
    const { known_urls, ...words } = countUrls(byState);
    expect(known_urls).toBe(2 ** STATES.length - 1);
    expect(Object.values(words).reduce((sum, n) => sum + n, 0)).toBe(known_urls);
    expect(words.broken).toBe(2 ** 6 + 2 ** 7 + 2 ** 9 + 2 ** 14);
    expect(countUrls({})).toEqual({
      known_urls: 0,
      read: 0,
      broken: 0,
      rate_limited: 0,
      skipped: 0,
      waiting: 0,
    });
  });

  it('call broken and rate-limited URLs errors', () => {
    expect([...ERROR_STATES].sort()).toEqual(['DeadLink', 'Failed', 'Gone', 'RateLimited', 'Unreachable']);
    expect(stateList(['DeadLink', 'Gone'])).toBe('6, 14');
  });
});
