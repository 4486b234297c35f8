import type { LookupAddress } from 'node:dns';
import { describe, expect, it } from 'vitest';
import type { Clock } from '../primitives/clock.ts';
import { createCachedLookup } from './connect.ts';

type Answer = (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void;

function setUp(mostNames = 10) {
  let time = 0;
  const clock: Clock = { now: () => time, monotonic: () => time, after: () => () => {} };
  const asked: { hostname: string; answer: Answer }[] = [];
  const lookup = createCachedLookup(
    clock,
    (hostname, _options, answer) => void asked.push({ hostname, answer }),
    mostNames,
  );
  const resolve = (hostname: string, options: { all?: boolean; family?: number } = {}) =>
    new Promise<unknown>((done) => {
      lookup(hostname, options, (error, address, family) =>
        done(error ? error.code : options.all ? address : `${address}/${family}`),
      );
    });
  const pass = (ms: number) => {
    time += ms;
  };
  return { asked, resolve, pass };
}

const both: LookupAddress[] = [
  { address: '::1', family: 6 },
  { address: '127.0.0.1', family: 4 },
];
const notFound = Object.assign(new Error('no'), { code: 'ENOTFOUND' });

describe('the DNS cache', () => {
  it('asks once for one name, also for look-ups at the same time', async () => {
    const { asked, resolve } = setUp();
    const answers = [resolve('a.test'), resolve('a.test')];
    asked[0].answer(null, both);
    expect(await Promise.all(answers)).toEqual(['::1/6', '::1/6']);
    expect(await resolve('a.test')).toBe('::1/6');
    expect(asked.length).toBe(1);
  });

  it('answers in the form and family asked for', async () => {
    const { asked, resolve } = setUp();
    const first = resolve('a.test', { all: true });
    asked[0].answer(null, both);
    expect(await first).toEqual(both);
    expect(await resolve('a.test', { family: 4 })).toBe('127.0.0.1/4');
  });

  it('asks again after five minutes, and after thirty seconds for a name that was not found', async () => {
    const { asked, resolve, pass } = setUp();
    const found = resolve('a.test');
    const missing = resolve('b.test');
    asked[0].answer(null, both);
    asked[1].answer(notFound, []);
    expect([await found, await missing]).toEqual(['::1/6', 'ENOTFOUND']);
    pass(29_999);
    expect(await resolve('b.test')).toBe('ENOTFOUND');
    expect(asked.length).toBe(2);
    pass(1);
    void resolve('b.test');
    expect(asked.length).toBe(3);
    pass(270_000);
    void resolve('a.test');
    expect(asked.map(({ hostname }) => hostname)).toEqual(['a.test', 'b.test', 'b.test', 'a.test']);
  });

  it('forgets the oldest name past its bound', async () => {
    const { asked, resolve } = setUp(2);
    for (const name of ['a.test', 'b.test', 'c.test']) {
      const answer = resolve(name);
      asked.at(-1)!.answer(null, both);
      await answer;
    }
    await resolve('c.test');
    await resolve('b.test');
    expect(asked.length).toBe(3);
    void resolve('a.test');
    expect(asked.length).toBe(4);
  });
});
