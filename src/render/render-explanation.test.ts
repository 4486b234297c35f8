import { describe, expect, it } from 'vitest';
import type { Explanation } from '../project/explain-page.ts';
import type { ForeseenVisit } from '../watch/foresee-visit.ts';
import { renderExplanation } from './render-explanation.ts';

const NOW = Date.parse('2026-03-04T05:00:00Z');

function explained(watch: Partial<ForeseenVisit>): string {
  const page: Explanation = {
    ...{
      url: 'https://a.example/',
      fetch_url: 'https://a.example/',
      project: 'a.example',
      state: 'Processed',
    },
    ...{
      reason: null,
      depth: 0,
      discovered_run: 1,
      discovered_at: '2026-03-01T00:00:00.000Z',
      referrers: [],
    },
    ...{ status_code: 200, title: null, visited_at: '2026-03-04T04:00:00.000Z', left_out: null, attempts: 0 },
    ...{ retry_at: null, requests: [], visits: [], requests_total: 0, visits_total: 0 },
    ...{ change_frequency: 0, changes_detected: 0, redirects: [], final_url: null },
    robots: { decision: 'allowed', rule: null, status: 404 },
    revisit: {
      ...{ rule: 'value', rate_per_day: 0.1, interval_days: null, next_visit: null, chance_changed: null },
      ...{ score: null, score_parts: null, band: null, is_signalled: false, is_watched: true },
      visits_per_day: null,
      watch: {
        ...{ next_tick: '2026-03-04T05:10:00.000Z', visit_at: '2026-03-04T05:40:00.000Z', ticks: 3 },
        ...{ last_tick: '2026-03-04T05:40:00.000Z', waits_for: 'budget', every_ms: 900_000 },
        ...watch,
      },
    },
  };
  return renderExplanation(page, NOW, (_, text) => text);
}

describe('what why tells of a watch that is at work', () => {
  it('is the tick that will visit the page, and what the page waits for', () => {
    expect(explained({})).toContain(
      'the watch that is at work (a tick every 15 minutes) visits it at 2026-03-04T05:40:00.000Z, its tick number 3 from now',
    );
    expect(explained({})).toContain('until then the budget (--budget) goes to pages that come before it');
    const next = explained({ visit_at: '2026-03-04T05:10:00.000Z', ticks: 1, waits_for: null });
    expect(next).toContain('visits it at 2026-03-04T05:10:00.000Z, its next tick');
    expect(explained({ ticks: 0 })).toContain('the watch is visiting it now');
  });

  it('says why where none of the coming ticks will', () => {
    const none = explained({ visit_at: null, ticks: 1000 });
    expect(none).toContain('visits it in none of its next 1,000 ticks, until 2026-03-04T05:40:00.000Z');
    expect(none).toContain('until then the budget (--budget) goes to pages that come before it');
  });

  it('has a unit for every length of time', () => {
    const everyOf = (ms: number) => /a tick every (.*?)\)/.exec(explained({ every_ms: ms }))![1];
    expect([1000, 5000, 60_000, 900_000, 3_600_000, 86_400_000, 604_800_000].map(everyOf)).toEqual([
      ...['second', '5 seconds', 'minute', '15 minutes', '60 minutes', '24 hours', '7 days'],
    ]);
  });
});
