import { describe, expect, it } from 'vitest';
import { FakeClock } from '../../test/fake-clock.ts';
import type { Delivered } from './delivery-queue.ts';
import { Outbox, placeOfChange, type SavedOutbox } from './outbox.ts';
import type { ChangeEvent, DeliveryEvent } from './watch-event.ts';

const eventOf = (id: string) =>
  ({ type: 'change', id, run: Number.parseInt(id, 10), url: id }) as ChangeEvent;

/** What the store has: pages that changed, by run. */
const STORED = ['2-1', '2-5', '2-9', '3-4', '3-7', '5-1'];

function setUp(deliver: (id: string) => Delivered, mostWaiting = 10) {
  const clock = new FakeClock();
  const arrived: string[] = [];
  const told: DeliveryEvent[] = [];
  let asked: string[] = [];
  const open = (saved?: SavedOutbox, run = 1) => {
    const box = new Outbox({
      ...{ to: 'somebody', parallel: 1, tries: 2, firstPauseMs: 1000, mostWaiting, clock },
      placeOf: placeOfChange,
      async deliver({ id }) {
        const delivered = deliver(id);
        if (delivered === null) arrived.push(id);
        return delivered;
      },
      tell: (event) => void told.push(event),
    });
    box.begin(saved && (JSON.parse(JSON.stringify(saved)) as SavedOutbox), run);
    return box;
  };
  /** As a tick does it; all that can be done then is done. */
  const tick = async (box: Outbox, toRun: number) => {
    asked = [];
    await box.fill(async function* ([run, page]) {
      for (const id of STORED) {
        const [ofRun, ofPage] = id.split('-').map(Number);
        if (ofRun > toRun || ofRun < run || (ofRun === run && ofPage <= page)) continue;
        asked.push(id);
        yield eventOf(id);
      }
    }, toRun);
    const drained = box.queue.drained();
    for (let turn = 0; turn < 50; turn++) await Promise.resolve();
    clock.advance(1000);
    await drained;
    return asked;
  };
  return { clock, arrived, told, open, tick };
}

const AWAY: Delivered = { error: 'http 503', isWorthRetrying: true };

describe('an outbox', () => {
  it('sends what the store has got since, once, and knows where it was after a restart', async () => {
    const { arrived, open, tick } = setUp(() => null);
    const box = open();
    await tick(box, 2);
    expect(arrived).toEqual(['2-1', '2-5', '2-9']);
    expect(await tick(box, 2)).toEqual([]);
    const again = open(box.save()!, 4);
    await tick(again, 5);
    expect(arrived).toEqual(STORED);
    expect(await tick(open(again.save()!), 5)).toEqual([]);
  });

  it('tells a new receiver of what comes from now on', async () => {
    const { arrived, open, tick } = setUp(() => null);
    await tick(open(undefined, 3), 5);
    expect(arrived).toEqual(['5-1']);
  });

  it('loses nothing while the receiver is away, over restarts and many ticks, and keeps the order', async () => {
    const state = { isAway: false };
    const { arrived, told, open, tick } = setUp((id) => {
      if (id === '2-5' && arrived.length === 1) state.isAway = true;
      return state.isAway ? AWAY : null;
    });
    const box = open();
    await tick(box, 2);
    await tick(box, 3);
    const again = open(box.save()!, 3);
    await tick(again, 3);
    expect(arrived).toEqual(['2-1']);
    expect(told.slice(0, 2).map(({ id, error }) => [id, error])).toEqual([
      ['2-5', 'http 503 (2 tries), tried again at the next tick'],
      [null, '1 more event waits for the next tick'],
    ]);
    arrived.push('away');
    state.isAway = false;
    await tick(again, 5);
    expect(arrived).toEqual(['2-1', 'away', ...STORED.slice(1)]);
  });

  it('goes on with what was under way when the program ended', async () => {
    let isOver = false;
    const { arrived, open, tick } = setUp(() => (isOver ? null : AWAY));
    const box = open();
    const looking = tick(box, 2);
    box.queue.stop();
    await looking;
    isOver = true;
    await tick(open(box.save()!), 2);
    expect(arrived).toEqual(['2-1', '2-5', '2-9']);
  });

  it('passes over what the receiver refuses, and after a day what it cannot take', async () => {
    const { arrived, told, clock, open, tick } = setUp((id) => {
      if (id === '2-1') return { error: 'http 400', isWorthRetrying: false };
      return id === '2-5' ? AWAY : null;
    });
    let box = open();
    for (const hours of [0, 12, 11, 2]) {
      clock.advance(hours * 3_600_000);
      box = open(box.save()!);
      await tick(box, 3);
    }
    expect(arrived).toEqual([]);
    expect(told.at(-2)).toMatchObject({ id: '2-5', error: 'http 503 (2 tries)' });
    await tick(box, 3);
    expect(arrived).toEqual(['2-9', '3-4', '3-7']);
  });

  it('holds no more in memory than it may, and has the rest at later ticks', async () => {
    const { arrived, told, open, tick } = setUp(() => null, 1);
    const box = open();
    await tick(box, 5);
    expect(arrived.length).toBeLessThan(STORED.length);
    expect(told).toMatchObject([{ error: 'more than 1 events waited; the others come at the next tick' }]);
    for (let n = 0; n < 6; n++) await tick(box, 5);
    expect(arrived).toEqual(STORED);
  });

  it('asks nobody once more where none may be sent to', async () => {
    const tried: string[] = [];
    const { told, open, tick } = setUp((id) => {
      tried.push(id);
      return { error: 'no public address', isWorthRetrying: false, isForAll: true };
    });
    await tick(open(), 5);
    expect(tried).toEqual(['2-1']);
    expect(told.filter(({ id }) => id !== null).length).toBe(1);
  });
});
