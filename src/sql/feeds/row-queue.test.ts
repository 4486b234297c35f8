import { describe, expect, it } from 'vitest';
import { createRowQueue } from './row-queue.ts';

describe('the queue of a crawl that is held back', () => {
  it('keeps the place of a request until its row is released', async () => {
    const { slots, add, take, release } = createRowQueue<string>(2);
    let woken = 0;
    slots.onFree(() => woken++);
    slots.take();
    slots.take();
    add('a');
    add('b');
    expect(slots.free).toBe(0);
    slots.give();
    slots.give();
    expect(await take()).toEqual(['a', 'b']);
    expect([slots.free, woken]).toEqual([0, 0]);
    release(2);
    expect([slots.free, woken]).toEqual([2, 1]);
  });

  it('counts a page that is settled and its row as one', () => {
    const { slots, add, release } = createRowQueue<string>(2);
    slots.take();
    add('a');
    expect(slots.free).toBe(1);
    release(1);
    expect(slots.free).toBe(1);
    slots.give();
    expect(slots.free).toBe(2);
  });

  it('goes on while it is let go', () => {
    const { slots, add, letGo } = createRowQueue<string>(1);
    slots.take();
    add('a');
    slots.give();
    expect(slots.free).toBe(0);
    letGo(true);
    expect(slots.free).toBe(1);
    letGo(false);
    expect(slots.free).toBe(0);
  });

  it('gives what waits before its end, and throws what ended it', async () => {
    const queue = createRowQueue<string>(1);
    const first = queue.take();
    queue.add('a');
    queue.end({ error: new Error('gone') });
    queue.add('late');
    expect(await first).toEqual(['a']);
    await expect(queue.take()).rejects.toThrow('gone');
  });
});
