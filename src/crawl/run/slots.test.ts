import { describe, expect, it } from 'vitest';
import { createSlots } from './slots.ts';

describe('slots', () => {
  it('are counted down and up', () => {
    const slots = createSlots(2);
    slots.take();
    slots.take();
    expect(slots).toMatchObject({ total: 2, free: 0 });
    slots.give();
    expect(slots.free).toBe(1);
  });

  it('tell everybody who waits when there is one again, and nobody who left', () => {
    const slots = createSlots(2);
    const heard: string[] = [];
    slots.onFree(() => heard.push('a'));
    const leave = slots.onFree(() => heard.push('b'));
    slots.take();
    slots.give();
    expect(heard).toEqual([]);
    slots.take();
    slots.take();
    slots.give();
    expect(heard).toEqual(['a', 'b']);
    leave();
    slots.take();
    slots.give();
    expect(heard).toEqual(['a', 'b', 'a']);
  });
});
