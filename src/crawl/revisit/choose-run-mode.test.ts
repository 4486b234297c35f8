import { describe, expect, it } from 'vitest';
import type { EventBody } from '../../events/events.ts';
import { type Claim, SAMPLE_PRIORITY } from '../../frontier/candidate.ts';
import type { ModeDecision, RunStart } from '../../store/run-port.ts';
import { createRunMode } from './choose-run-mode.ts';

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

const CLAIM: Claim = {
  pageId: 0,
  url: 'https://a.test/',
  fetchUrl: 'https://a.test/',
  host: 'a.test',
  depth: 1,
  priority: SAMPLE_PRIORITY - 1,
  attempts: 0,
  hops: 0,
  last: null,
};

describe('the sample of a smart run', () => {
  function smartDesk(sample: number) {
    const desk = createRunMode({
      wanted: 'smart',
      sample,
      threshold: 0.3,
      confidence: 0.95,
      crew: { othersMayHaveMore: false },
      store: {
        clock: { now: () => 0, monotonic: () => 0, after: () => () => {} },
        run: { decideMode: async (decision) => decision },
      },
      events: { emit() {} },
      random: () => 0.5,
    });
    return { desk, page: (pageId: number): Claim => ({ ...CLAIM, pageId }) };
  }

  it('is heard in the order in which it was asked, however fast unchanged pages answer', async () => {
    const { desk, page } = smartDesk(400);
    await desk.open({ ...START, resumed: false });
    for (let id = 1; id <= 40; id++) desk.expect(page(id));
    // Every second page changed, and these take longer.
    for (let id = 2; id <= 40; id += 2) await desk.observe(page(id), 'unchanged');
    expect(desk.mode).toBeNull();
    for (let id = 1; id <= 40; id += 2) await desk.observe(page(id), 'changed');
    expect(desk.mode).not.toBe('incremental');
  });

  it('does not wait for pages that tell nothing', async () => {
    const { desk, page } = smartDesk(400);
    await desk.open({ ...START, resumed: false });
    for (let id = 1; id <= 20; id++) desk.expect(page(id));
    await desk.observe(page(1), null);
    await desk.observe(page(2), 'failed');
    for (let id = 3; id <= 20; id++) await desk.observe(page(id), 'unchanged');
    expect(desk.mode).toBe('incremental');
  });

  it('decides by what it saw when it is used up, and says that it is not sure', async () => {
    const { desk, page } = smartDesk(4);
    await desk.open({ ...START, resumed: false });
    for (let id = 1; id <= 6; id++) desk.expect(page(id));
    for (let id = 6; id >= 1; id--) await desk.observe(page(id), id % 2 === 0 ? 'changed' : 'unchanged');
    expect(desk.mode).toBe('full');
    expect(desk.reason).toBe(
      'smart: full, 2 of 4 sampled pages changed, too few to say with 95 % confidence whether over or under 30 %',
    );
  });
});

describe('the mode of a run', () => {
  it('is that of who began it, whatever the next one wants, and that is told', async () => {
    let kept: ModeDecision | null = null;
    const told: EventBody[] = [];
    const desk = (wanted: 'full' | 'incremental') =>
      createRunMode({
        wanted,
        sample: 100,
        threshold: 0.3,
        confidence: 0.95,
        crew: { othersMayHaveMore: true },
        store: {
          clock: { now: () => 0, monotonic: () => 0, after: () => () => {} },
          run: {
            decideMode: async (decision) => {
              kept ??= decision;
              return kept;
            },
          },
        },
        events: { emit: (event) => void told.push(event) },
        random: () => 0.5,
      });
    await desk('incremental').open(START);
    const next = desk('full');
    await next.open(START);
    expect(next).toMatchObject({ mode: 'incremental', reason: 'mode incremental' });
    expect(told).toEqual([{ type: 'mode', mode: 'incremental', reason: 'mode incremental' }]);
  });
});
