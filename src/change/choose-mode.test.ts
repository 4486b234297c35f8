import { describe, expect, it } from 'vitest';
import { seededRandom } from '../../test/seeded-random.ts';
import { createModeTest, explainMode, likelierMode, type ModeTestOptions } from './choose-mode.ts';

const OPTIONS: ModeTestOptions = { threshold: 0.3, confidence: 0.95 };

/** Runs the test on pages that change with this probability, until it decides or the sample is used up. */
function decide(share: number, random: () => number, options = OPTIONS, sample = 400) {
  const test = createModeTest(options);
  while (test.verdict === null && test.sampled < sample) test.observe(random() < share);
  return test;
}

describe('the sequential test', () => {
  it('decides a clear case after about a dozen pages', () => {
    const none = createModeTest(OPTIONS);
    while (none.verdict === null) none.observe(false);
    expect(none).toMatchObject({ verdict: 'incremental', sampled: 13, changed: 0 });
    const all = createModeTest(OPTIONS);
    while (all.verdict === null) all.observe(true);
    expect(all).toMatchObject({ verdict: 'full', sampled: 4, changed: 4 });
  });

  it('says nothing before the first page, and does not change its mind', () => {
    const test = createModeTest(OPTIONS);
    expect(test.verdict).toBeNull();
    for (let i = 0; i < 13; i++) test.observe(false);
    for (let i = 0; i < 100; i++) test.observe(true);
    expect(test).toMatchObject({ verdict: 'incremental', sampled: 13, changed: 0 });
  });

  it('is wrong no more often than its confidence allows, also right beside the threshold', () => {
    const seed = Date.now();
    const random = seededRandom(seed).next;
    const rounds = 1500;
    for (const options of [
      OPTIONS,
      { threshold: 0.5, confidence: 0.9 },
      { threshold: 0.05, confidence: 0.95 },
    ]) {
      for (const [part, wrongly] of [
        [1, 'full'],
        [0.9, 'full'],
        [0.5, 'full'],
        [1, 'incremental'],
        [1.1, 'incremental'],
        [1.5, 'incremental'],
      ] as const) {
        const share = part * options.threshold;
        let wrong = 0;
        for (let i = 0; i < rounds; i++) if (decide(share, random, options).verdict === wrongly) wrong++;
        const most = 1 - options.confidence;
        // Four standard deviations of chance on top of the promise.
        const slack = 4 * Math.sqrt((most * (1 - most)) / rounds);
        expect(wrong / rounds, `share ${share}, seed ${seed}`).toBeLessThan(most + slack);
      }
    }
  });

  it('costs fewer pages the clearer the case', () => {
    const random = seededRandom(5).next;
    const meanOf = (share: number) => {
      let pages = 0;
      for (let i = 0; i < 500; i++) pages += decide(share, random).sampled;
      return pages / 500;
    };
    expect(meanOf(0.02)).toBeLessThan(20);
    expect(meanOf(0.1)).toBeLessThan(50);
    expect(meanOf(0.6)).toBeLessThan(40);
    expect(meanOf(0.9)).toBeLessThan(12);
  });

  it('works for every threshold and confidence that the options allow', () => {
    for (const threshold of [0.01, 0.3, 0.99])
      for (const confidence of [0.5, 0.95, 0.9999]) {
        expect(decide(0, () => 0.5, { threshold, confidence }, 5000).verdict).toBe('incremental');
        expect(decide(1, () => 0.5, { threshold, confidence }, 5000).verdict).toBe('full');
      }
  });
});

describe('the decision in words', () => {
  it('gives the figures and the confidence', () => {
    const test = createModeTest(OPTIONS);
    test.observe(true);
    expect(explainMode(test, OPTIONS)).toBe(
      '1 of 1 sampled pages changed, too few to say with 95 % confidence whether over or under 30 %',
    );
    for (let i = 0; i < 4; i++) test.observe(true);
    expect(explainMode(test, OPTIONS)).toBe('4 of 4 sampled pages changed (over 30 % with 95 % confidence)');
  });

  it('follows the share that was seen where the test came to no end', () => {
    const test = createModeTest({ threshold: 0.3, confidence: 0.9999 });
    expect(likelierMode(test, OPTIONS)).toBe('incremental');
    test.observe(true);
    test.observe(false);
    expect(likelierMode(test, OPTIONS)).toBe('full');
    test.observe(false);
    test.observe(false);
    expect(likelierMode(test, OPTIONS)).toBe('incremental');
  });
});
