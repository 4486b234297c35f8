import { describe, expect, it } from 'vitest';
import { FakeClock } from '../../test/fake-clock.ts';
import { createDeliveryQueue, type Delivered, type DeliveryOptions, drain } from './delivery-queue.ts';
import type { ChangeEvent, DeliveryEvent } from './watch-event.ts';

const eventOf = (id: string): ChangeEvent => ({
  type: 'change',
  id,
  project: 'p',
  run: 1,
  url: `http://example.com/${id}`,
  outcome: 'changed',
  known_by: 'content',
  visited_at: '2026-01-01T00:00:00.000Z',
  status_code: 200,
  title: null,
  parts: ['text'],
  fields: [],
  links_added: [],
  links_removed: [],
  words_added: 0,
  words_removed: 0,
  text: null,
  text_cut: false,
});

/** Everything that is ready to go on does. */
const settle = async () => {
  for (let turn = 0; turn < 20; turn++) await Promise.resolve();
};

function queueOf(options: Partial<DeliveryOptions> & Pick<DeliveryOptions, 'deliver'>) {
  const told: DeliveryEvent[] = [];
  const clock = new FakeClock();
  const queue = createDeliveryQueue({
    ...{ to: 'somebody', parallel: 1, tries: 3, firstPauseMs: 1000, mostWaiting: 10, clock, outbox: null },
    tell: (event) => void told.push(event),
    ...options,
  });
  return { queue, told, clock };
}

const FAILED: Delivered = { error: 'http 503', isWorthRetrying: true };

describe('a queue of deliveries', () => {
  it('delivers in order, one after another', async () => {
    const seen: string[] = [];
    const { queue, told } = queueOf({
      deliver: async ({ id }) => {
        seen.push(id);
        return null;
      },
    });
    for (const id of ['a', 'b', 'c']) queue.push(eventOf(id));
    await queue.drained();
    expect(seen).toEqual(['a', 'b', 'c']);
    expect(told).toEqual([]);
  });

  it('tries again with growing pauses, then tells', async () => {
    const tries: number[] = [];
    const { queue, told, clock } = queueOf({
      deliver: async () => {
        tries.push(clock.monotonic());
        return FAILED;
      },
    });
    const start = clock.monotonic();
    queue.push(eventOf('a'));
    for (const pause of [1000, 2000, 4000]) {
      await settle();
      clock.advance(pause);
    }
    await queue.drained();
    expect(tries.map((at) => at - start)).toEqual([0, 1000, 3000]);
    expect(told).toEqual([
      { type: 'delivery', to: 'somebody', id: 'a', url: 'http://example.com/a', error: 'http 503 (3 tries)' },
    ]);
  });

  it('gives up what waits when all tries of one were in vain, in one line, and tries what comes later', async () => {
    const seen: string[] = [];
    const { queue, told, clock } = queueOf({
      deliver: async ({ id }) => {
        seen.push(id);
        return id < 'd' ? FAILED : null;
      },
    });
    for (const id of ['a', 'b', 'c']) queue.push(eventOf(id));
    for (const pause of [1000, 2000]) {
      await settle();
      clock.advance(pause);
    }
    await queue.drained();
    expect(told.map(({ id, error }) => [id, error])).toEqual([
      ['a', 'http 503 (3 tries)'],
      [null, '2 events were dropped: the one before them did not arrive by any try'],
    ]);
    queue.push(eventOf('d'));
    await queue.drained();
    expect(seen).toEqual(['a', 'a', 'a', 'd']);
  });

  it('is waited for as long as events are done with, and not for one that never is', async () => {
    let arrive: (() => void)[] = [];
    const { queue, clock } = queueOf({
      deliver: () => new Promise((resolve) => arrive.push(() => resolve(null))),
    });
    for (const id of ['a', 'b', 'c']) queue.push(eventOf(id));
    let isOver = false;
    const over = drain(queue, { drainMs: 3000, clock, signal: new AbortController().signal }).then(() => {
      isOver = true;
    });
    for (let turn = 0; turn < 2; turn++) {
      for (const each of arrive) each();
      arrive = [];
      await settle();
      clock.advance(3000);
      await settle();
      expect(isOver).toBe(false);
    }
    clock.advance(3000);
    await over;
  });

  it('is waited for no longer than the time there is, once somebody wants to leave', async () => {
    const abort = new AbortController();
    const { queue, clock } = queueOf({ deliver: () => new Promise(() => {}) });
    queue.push(eventOf('a'));
    const over = drain(queue, { drainMs: 3000, clock, signal: abort.signal });
    clock.advance(2000);
    abort.abort();
    clock.advance(3000);
    await over;
    await drain(queueOf({ deliver: async () => null }).queue, { drainMs: 3000, clock, signal: abort.signal });
    expect(clock.pending).toBe(0);
  });

  it('stops trying as soon as it arrived, or nothing can help', async () => {
    const answers: Delivered[] = [FAILED, null, { error: 'http 404', isWorthRetrying: false }];
    const { queue, told, clock } = queueOf({ deliver: async () => answers.shift()! });
    queue.push(eventOf('a'));
    queue.push(eventOf('b'));
    await settle();
    clock.advance(1000);
    await queue.drained();
    expect(answers).toEqual([]);
    expect(told.map(({ id, error }) => [id, error])).toEqual([['b', 'http 404']]);
  });

  it('takes what is thrown for a failure', async () => {
    const { queue, told } = queueOf({
      tries: 1,
      deliver: async () => {
        throw new Error('no way');
      },
    });
    queue.push(eventOf('a'));
    await queue.drained();
    expect(told[0].error).toBe('no way');
  });

  it('drops what is too much, and says how much that was', async () => {
    let arrive: (() => void)[] = [];
    const { queue, told } = queueOf({
      mostWaiting: 2,
      deliver: () => new Promise((resolve) => arrive.push(() => resolve(null))),
    });
    for (const id of ['a', 'b', 'c', 'd', 'e']) queue.push(eventOf(id));
    const drained = queue.drained();
    for (let turn = 0; turn < 3; turn++) {
      await settle();
      for (const each of arrive.splice(0)) each();
    }
    await drained;
    expect(told.map(({ error }) => error)).toEqual(['2 events were dropped: more than 2 waited']);
    arrive = [];
  });

  it('gives up at once when it is stopped, the pause between two tries included', async () => {
    const { queue, told } = queueOf({ deliver: async () => FAILED });
    queue.push(eventOf('a'));
    queue.push(eventOf('b'));
    await settle();
    queue.stop();
    await queue.drained();
    queue.push(eventOf('c'));
    await queue.drained();
    expect(told.map(({ id }) => id)).toEqual(['a', null]);
  });
});
