import { describe, expect, it } from 'vitest';
import { seededRandom } from '../../../test/seeded-random.ts';
import { type Budget, createBudget } from './page-allowance.ts';

/** The permits of a run, as a store counts them: pages that counted, and permits given out. */
function createPermits(limit: number, done = 0) {
  const permits = {
    done,
    out: 0,
    asked: 0,
    async reservePages(count: number, asked: number) {
      permits.asked++;
      expect(asked).toBe(limit);
      const given = Math.max(0, Math.min(count, limit - permits.done - permits.out));
      permits.out += given;
      return given;
    },
    async returnPages(count: number) {
      permits.out -= count;
    },
    /** A page counted. */
    count() {
      permits.out--;
      permits.done++;
    },
  };
  return permits;
}

function budgetOf(limit: number, permits: ReturnType<typeof createPermits>, more: { block?: number } = {}) {
  const told = { times: 0 };
  const budget = createBudget(limit, {
    run: permits,
    block: more.block ?? 4,
    onMore: () => told.times++,
    onFailure: (error) => {
      throw error;
    },
  });
  return { budget, told };
}

/** Takes as a loop does: looks first, asks when there is none. */
async function takeIfAny(budget: Budget): Promise<boolean> {
  if (budget.isDry && !(await budget.refill())) return false;
  budget.take();
  return true;
}

describe('the budget of pages', () => {
  it('is never spent without a limit, and asks nobody', async () => {
    const permits = createPermits(0);
    const budget = createBudget(null, { run: permits, block: 4, onMore() {}, onFailure() {} });
    for (let i = 0; i < 1000; i++) budget.take();
    await budget.returnUnused();
    expect(budget).toMatchObject({ isDry: false, isSpent: false });
    expect(permits.asked).toBe(0);
  });

  it('counts pages done before the run went on, pages done now and pages on their way', async () => {
    const permits = createPermits(3, 1);
    const { budget } = budgetOf(3, permits);
    expect(await takeIfAny(budget)).toBe(true);
    permits.count();
    expect(await takeIfAny(budget)).toBe(true);
    expect(await takeIfAny(budget)).toBe(false);
    expect(budget.isSpent).toBe(true);
  });

  it('is spent from the start when the limit was reached before', async () => {
    const { budget } = budgetOf(2, createPermits(2, 2));
    expect(budget).toMatchObject({ isDry: true, isSpent: false });
    expect(await budget.refill()).toBe(false);
    expect(budget.isSpent).toBe(true);
  });

  it('asks ahead of need, and once until there is reason to ask again', async () => {
    const permits = createPermits(6);
    const { budget } = budgetOf(6, permits);
    await budget.refill();
    for (let i = 0; i < 3; i++) budget.take();
    await budget.refill();
    expect(permits).toMatchObject({ out: 6, asked: 2 });
    for (let i = 0; i < 3; i++) budget.take();
    await budget.refill();
    const { asked } = permits;
    await budget.refill();
    expect(permits.asked).toBe(asked);
    permits.out -= 2; // somebody else gave some back
    budget.askAgain();
    expect(await budget.refill()).toBe(true);
    expect(budget.isSpent).toBe(false);
  });

  it('says so when permits come that somebody may have waited for, and only then', async () => {
    const { budget, told } = budgetOf(2, createPermits(2));
    await budget.refill();
    expect(told.times).toBe(1);
    budget.take();
    budget.giveBack();
    expect(told.times).toBe(1);
    budget.take();
    budget.take();
    budget.giveBack();
    expect(told.times).toBe(2);
    expect(budget.isDry).toBe(false);
  });

  it('gives back what it did not use, and can have it again', async () => {
    const permits = createPermits(10);
    const { budget } = budgetOf(10, permits);
    await budget.refill();
    budget.take();
    await budget.returnUnused();
    expect(permits.out).toBe(1);
    expect(budget).toMatchObject({ isDry: true, isSpent: false });
    expect(await takeIfAny(budget)).toBe(true);
  });

  it('is never overdrawn by any mixture of workers that look first', async () => {
    const seed = Date.now() >>> 0;
    const random = seededRandom(seed);
    const permits = createPermits(50, 10);
    const workers = [1, 2, 3].map(() => ({
      ...budgetOf(50, permits, { block: 1 + random.below(8) }),
      open: 0,
    }));
    for (let i = 0; i < 2000; i++) {
      const worker = workers[random.below(3)];
      if (random.below(20) === 0) await worker.budget.returnUnused();
      worker.budget.askAgain();
      if (random.below(2) === 0 && (await takeIfAny(worker.budget))) worker.open++;
      else if (worker.open > 0) {
        worker.open--;
        if (random.below(3) === 0) worker.budget.giveBack();
        else permits.count();
      }
      const open = workers.reduce((sum, one) => sum + one.open, 0);
      expect(permits.done + open, `seed ${seed}`).toBeLessThanOrEqual(50);
    }
    for (const { budget } of workers) await budget.returnUnused();
    expect(permits.done + permits.out, `seed ${seed}`).toBeLessThanOrEqual(50);
    expect(permits.done, `seed ${seed}`).toBe(50);
  });
});
