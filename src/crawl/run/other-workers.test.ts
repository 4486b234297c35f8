import { describe, expect, it } from 'vitest';
import { FakeClock } from '../../../test/fake-clock.ts';
import type { RunCounts } from '../../store/run-port.ts';
import { type SharedWork, watchSharedWork } from './other-workers.ts';

const LIMIT = 77;

/** A shared store of which flushing and counting take so long. */
function useStore(flushMs: number, countMs: number) {
  const clock = new FakeClock();
  const store = { pages: 42 };
  const verbs = {
    frontier: { onWork: () => {} },
    async flush() {
      clock.advance(flushMs);
    },
    run: {
      async counts() {
        clock.advance(countMs);
        return { pages: store.pages } as RunCounts;
      },
    },
  };
  const others = watchSharedWork(verbs as unknown as SharedWork, clock, () => {});
  return { clock, store, others };
}

describe('whether a run of many has its pages', () => {
  it('is asked again at once where counting is quick, however long a commit takes', async () => {
    const { store, others } = useStore(1_000, 0);
    expect(await others.isRunOver(LIMIT)).toBe(false);
    store.pages = LIMIT;
    expect(await others.isRunOver(LIMIT)).toBe(true);
    others.stop();
  });

  it('is asked again after twenty times as long as counting took', async () => {
    const { clock, store, others } = useStore(0, 100);
    expect(await others.isRunOver(LIMIT)).toBe(false);
    store.pages = LIMIT;
    clock.advance(1_999);
    expect(await others.isRunOver(LIMIT)).toBe(false);
    clock.advance(1);
    expect(await others.isRunOver(LIMIT)).toBe(true);
    others.stop();
  });
});
