import { describe, expect, it } from 'vitest';
import { createTurns } from './take-turns.ts';

const stays = () => new AbortController().signal;
const settled = () => new Promise<void>((resolve) => setImmediate(resolve));

/** Notes who has a turn; the names say who asks: `a1` and `a2` are both of a. */
function noted(mostAtOnce: number) {
  const takeTurn = createTurns(mostAtOnce);
  const order: string[] = [];
  const take = async (name: string) => {
    const end = await takeTurn(stays(), name[0]);
    order.push(name);
    return end;
  };
  return { order, take };
}

describe('turns', () => {
  it('are taken by so many at once, the others in their order', async () => {
    const { order, take } = noted(2);
    const [first, second, third, fourth] = ['a', 'b', 'c', 'd'].map(take);
    await settled();
    expect(order).toEqual(['a', 'b']);
    (await first)();
    // Ending twice gives no second turn.
    (await first)();
    await settled();
    expect(order).toEqual(['a', 'b', 'c']);
    (await second)();
    (await third)();
    (await fourth)();
    expect(order).toEqual(['a', 'b', 'c', 'd']);
    await take('e');
    await take('f');
    expect(order).toHaveLength(6);
  });

  it('are never all of one asker, and go to who has the fewest', async () => {
    const { order, take } = noted(3);
    const ends = ['a1', 'a2', 'a3', 'a4'].map(take);
    await settled();
    expect(order).toEqual(['a1', 'a2']);
    const other = take('b1');
    const more = take('b2');
    const third = take('c1');
    await settled();
    expect(order).toEqual(['a1', 'a2', 'b1']);
    (await ends[0])();
    await settled();
    expect(order).toEqual(['a1', 'a2', 'b1', 'c1']);
    (await other)();
    (await third)();
    await settled();
    expect(order).toEqual(['a1', 'a2', 'b1', 'c1', 'b2', 'a3']);
    (await more)();
    (await ends[1])();
    (await ends[2])();
    (await ends[3])();
    expect(order.at(-1)).toBe('a4');
  });

  it('are lost by who leaves', async () => {
    const takeTurn = createTurns(1);
    const end = await takeTurn(stays(), 'a');
    const leaving = new AbortController();
    const gone = takeTurn(leaving.signal, 'a');
    const next = takeTurn(stays(), 'a');
    leaving.abort(new Error('left'));
    await expect(gone).rejects.toThrow('left');
    end();
    (await next)();
    await expect(takeTurn(leaving.signal, 'a')).rejects.toThrow('left');
    (await takeTurn(stays(), 'a'))();
  });
});
