import { describe, expect, it } from 'vitest';
import { seededRandom } from '../../test/seeded-random.ts';
import { createBudget } from './budget.ts';

describe('the budget of pages', () => {
  it('is never spent without a limit', () => {
    const budget = createBudget(null, () => {});
    budget.begin(1_000_000);
    for (let i = 0; i < 1000; i++) budget.take();
    expect(budget.isSpent).toBe(false);
  });

  it('counts pages done before the run went on, pages done now and pages on their way', () => {
    const budget = createBudget(3, () => {});
    budget.begin(1);
    budget.take();
    budget.spend();
    expect(budget.isSpent).toBe(false);
    budget.take();
    expect(budget.isSpent).toBe(true);
    budget.spend();
    expect(budget.isSpent).toBe(true);
  });

  it('is spent from the start when the limit was reached before', () => {
    const budget = createBudget(2, () => {});
    budget.begin(2);
    expect(budget.isSpent).toBe(true);
  });

  it('says so when a permit comes back that somebody may have waited for, and only then', () => {
    let times = 0;
    const budget = createBudget(2, () => times++);
    budget.begin(0);
    budget.take();
    budget.giveBack();
    expect(times).toBe(0);
    budget.take();
    budget.take();
    budget.giveBack();
    expect(times).toBe(1);
    expect(budget.isSpent).toBe(false);
  });

  it('is never overdrawn by any mixture of takers that look first', () => {
    const seed = Date.now() >>> 0;
    const random = seededRandom(seed);
    const budget = createBudget(50, () => {});
    budget.begin(10);
    let done = 10;
    let open = 0;
    for (let i = 0; i < 1000; i++) {
      if (!budget.isSpent && random.below(2) === 0) {
        budget.take();
        open++;
      } else if (open > 0) {
        open--;
        if (random.below(3) === 0) budget.giveBack();
        else {
          budget.spend();
          done++;
        }
      }
      expect(done + open, `seed ${seed}`).toBeLessThanOrEqual(50);
    }
    expect(done).toBe(50);
  });
});
