import { describe, expect, it } from 'vitest';
import { createBodyRoom } from './body-room.ts';

const bytes = (length: number, value = 1) => new Uint8Array(length).fill(value);

describe('room for bodies', () => {
  it('has the copies of a batch side by side in one buffer', () => {
    const { copy, buffers } = createBodyRoom().open();
    const given = bytes(40_000, 7);
    const [first, second] = [copy(given), copy(bytes(10, 8))];
    given.fill(0);
    expect([first.length, first[0], first[39_999], second.length, second[9]]).toEqual([40_000, 7, 7, 10, 8]);
    expect(buffers).toEqual([first.buffer]);
    expect(second.buffer).toBe(first.buffer);
  });

  it('takes another buffer when one is full, and one for itself for a large body', () => {
    const { copy, buffers } = createBodyRoom().open();
    for (let i = 0; i < 6; i++) expect(copy(bytes(200_000, i))[199_999]).toBe(i);
    expect(buffers.length).toBe(2);
    const large = copy(bytes(3_000_000, 9));
    expect([large.buffer.byteLength, large[2_999_999]]).toEqual([3_000_000, 9]);
    expect(buffers.length).toBe(3);
  });

  it('uses buffers again that come back, but those of large bodies', () => {
    const room = createBodyRoom();
    const one = room.open();
    one.copy(bytes(10));
    one.copy(bytes(3_000_000));
    const [ordinary] = one.buffers;
    room.giveBack(one.buffers);
    const other = room.open();
    for (let i = 0; i < 10; i++) other.copy(bytes(200_000));
    expect(other.buffers.includes(ordinary)).toBe(true);
    expect(other.buffers.map(({ byteLength }) => byteLength)).toEqual([1_048_576, 1_048_576]);
  });

  it('gives batches that are open at the same time buffers of their own', () => {
    const room = createBodyRoom();
    const [one, other] = [room.open(), room.open()];
    expect(one.copy(bytes(1)).buffer).not.toBe(other.copy(bytes(1)).buffer);
  });
});
