import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createProgressMeter } from './progress-meter.ts';

describe('progress', () => {
  it('begins at max_pages, and follows the queue once that no longer grows', () => {
    const meter = createProgressMeter(200);
    expect(meter.read(0, 1)).toEqual({ progress: 0, estimatedTotal: 200 });
    expect(meter.read(1, 20)).toEqual({ progress: 0.5, estimatedTotal: 200 });
    expect(meter.read(5, 16)).toEqual({ progress: 2.5, estimatedTotal: 200 });
    expect(meter.read(6, 15)).toEqual({ progress: 28.57, estimatedTotal: 21 });
    expect(meter.read(21, 0)).toEqual({ progress: 99.9, estimatedTotal: 21 });
  });

  it('never falls, is never 100 before the end, and agrees with its estimate', () => {
    const step = fc.tuple(fc.nat(20), fc.nat(300));
    fc.assert(
      fc.property(
        fc.array(step, { maxLength: 60 }),
        fc.option(fc.integer({ min: 1, max: 500 })),
        fc.double({ min: 0, max: 99, noNaN: true }),
        (steps, maxPages, before) => {
          const meter = createProgressMeter(maxPages, Math.floor(before));
          let [pages, last] = [0, Math.floor(before)];
          for (const [more, waiting] of steps) {
            pages += more;
            const { progress, estimatedTotal } = meter.read(pages, waiting);
            expect(progress).toBeGreaterThanOrEqual(last);
            expect(progress).toBeLessThan(100);
            expect(estimatedTotal).toBeGreaterThanOrEqual(pages);
            // The estimate is a whole number: of a few pages it can be as far off as one page is.
            if (pages > 0 && progress > 0 && progress < 99.9) {
              const exact = (pages * 100) / estimatedTotal;
              expect(Math.abs(progress - exact)).toBeLessThanOrEqual(0.02 + (1.1 * exact) / estimatedTotal);
            }
            last = progress;
          }
        },
      ),
      { seed: 230 },
    );
  });

  it('goes no further than what has been noted', () => {
    const meter = createProgressMeter(100);
    expect(meter.read(10, 0, 3)).toMatchObject({ progress: 3 });
    expect(meter.wanted).toBeGreaterThan(3);
    expect(meter.read(10, 0, 50)).toMatchObject({ progress: meter.wanted });
  });
});
