import { describe, expect, it } from 'vitest';
import type { CrawlEvent } from '../report/events.ts';
import type { ModeDecision, RunStart } from '../store/port.ts';
import { createModeDesk } from './mode-desk.ts';

const START: RunStart = {
  runId: 2,
  projectId: 1,
  resumed: true,
  previousConfigHash: null,
  pagesDone: 0,
  requestsDone: 0,
  bytesDone: 0,
  knownUrls: 10,
};

describe('the mode of a run', () => {
  it('is that of who began it, whatever the next one wants, and that is told', async () => {
    let kept: ModeDecision | null = null;
    const told: CrawlEvent[] = [];
    const desk = (wanted: 'full' | 'incremental') =>
      createModeDesk({
        wanted,
        sample: 100,
        threshold: 0.3,
        confidence: 0.95,
        store: {
          isShared: true,
          clock: { now: () => 0, monotonic: () => 0, after: () => () => {} },
          decideMode: async (decision) => {
            kept ??= decision;
            return kept;
          },
        },
        report: { tell: (event) => void told.push(event) },
        random: () => 0.5,
      });
    await desk('incremental').open(START);
    const next = desk('full');
    await next.open(START);
    expect(next).toMatchObject({ mode: 'incremental', reason: 'mode incremental' });
    expect(told).toEqual([{ type: 'mode', mode: 'incremental', reason: 'mode incremental' }]);
  });
});
