import { describe, expect, it } from 'vitest';
import { FakeClock } from '../../../test/fake-clock.ts';
import { createDepthPasser } from './pass-on-depths.ts';

function passer(...answers: (string[] | null)[]) {
  const clock = new FakeClock();
  const woken: string[] = [];
  let asked = 0;
  let reminded = 0;
  const depths = createDepthPasser({
    frontier: { lowerDepths: async () => answers[asked++] ?? null },
    clock,
    wakeHost: (host) => void woken.push(host),
    onTime: () => void reminded++,
  });
  return { clock, depths, woken, asked: () => asked, reminded: () => reminded };
}

describe('lowered depths', () => {
  it('are passed on until there are none, and then rest for a second while others are at work', async () => {
    const { clock, depths, woken, asked, reminded } = passer(['a.example', 'b.example'], [], null, [
      'c.example',
    ]);
    expect([await depths.passOn(false), await depths.passOn(false), await depths.passOn(false)]).toEqual([
      true,
      true,
      false,
    ]);
    expect(woken).toEqual(['a.example', 'b.example']);
    expect(await depths.passOn(false)).toBe(false);
    expect([asked(), reminded()]).toEqual([3, 0]);
    await clock.advance(1000);
    expect(reminded()).toBe(1);
    expect(await depths.passOn(false)).toBe(true);
    expect(woken).toEqual(['a.example', 'b.example', 'c.example']);
  });

  it('are passed on at once where nothing else is left', async () => {
    const { depths, asked } = passer(null, ['a.example']);
    await depths.passOn(false);
    expect(await depths.passOn(true)).toBe(true);
    expect(asked()).toBe(2);
  });

  it('remind nobody after the end', async () => {
    const { clock, depths, reminded } = passer(null);
    await depths.passOn(false);
    await depths.passOn(false);
    depths.stop();
    await clock.advance(5000);
    expect(reminded()).toBe(0);
  });
});
