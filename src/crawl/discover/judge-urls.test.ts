import { describe, expect, it } from 'vitest';
import type { Candidate } from '../../frontier/candidate.ts';
import { PAGE_STATES } from '../../frontier/page-state.ts';
import { createUrlJudge } from './judge-urls.ts';

const { signal } = new AbortController();

const candidate = (url: string, more: Partial<Candidate> = {}): Candidate => ({
  ...{ url, fetchUrl: url, host: 'a.test', depth: 1, priority: 1 },
  ...{ state: PAGE_STATES.Queued, reason: null, onlyNofollow: false, ...more },
});

function useJudge() {
  const asked: string[][] = [];
  const judge = createUrlJudge(
    async (urls) => {
      asked.push([...urls]);
      return urls.map((url) => (url.includes('no') ? 'where: no' : null));
    },
    (url) => url === 'start',
  );
  return { judge, asked };
}

describe('a judge of found URLs', () => {
  it('asks for what may be queued, now or when a shorter way or a followed link is found, and for nothing else', async () => {
    const { judge, asked } = useJudge();
    const found = [
      ...[candidate('a'), candidate('no'), candidate('no'), candidate('start')],
      candidate('no-deep', { state: PAGE_STATES.DepthExceeded, reason: 'depth: 3 > 2' }),
      candidate('no-link', { state: PAGE_STATES.Skipped, reason: 'nofollow: link', onlyNofollow: true }),
      candidate('no-host', { state: PAGE_STATES.Skipped, reason: 'scope: host b.test is not one of a.test' }),
      candidate('no-list', { state: PAGE_STATES.Blacklisted, reason: 'blacklist: b.test' }),
      candidate('no-follow', { state: PAGE_STATES.Discovered, reason: 'scope: fetch-only' }),
    ];
    await judge.judge(found, signal);
    expect(asked).toEqual([['a', 'no', 'no-deep', 'no-link']]);
    expect(found.map(({ state, reason }) => (reason === 'where: no' ? state : reason))).toEqual([
      ...[null, PAGE_STATES.Skipped, PAGE_STATES.Skipped, null, PAGE_STATES.Skipped, PAGE_STATES.Skipped],
      ...['scope: host b.test is not one of a.test', 'blacklist: b.test', 'scope: fetch-only'],
    ]);
    expect(found[5].onlyNofollow).toBe(false);
    expect([judge.lastRefusalOf('no'), judge.lastRefusalOf('a'), judge.lastRefusalOf('other')]).toEqual([
      'where: no',
      null,
      null,
    ]);
  });

  it('keeps answers, the last ten thousand of them', async () => {
    const { judge, asked } = useJudge();
    await judge.judge([candidate('no-1')], signal);
    const again = candidate('no-1');
    expect(judge.judge([again], signal)).toBeNull();
    expect(again.reason).toBe('where: no');
    const many = Array.from({ length: 10_000 }, (_, at) => candidate(`${at}`));
    await judge.judge(many, signal);
    expect(judge.judge(many.slice(0, 1), signal)).toBeNull();
    expect(judge.judge([candidate('no-1')], signal)).not.toBeNull();
    expect(asked.length).toBe(3);
  });
});
