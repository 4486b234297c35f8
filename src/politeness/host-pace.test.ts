import { describe, expect, it } from 'vitest';
import { FakeClock } from '../../test/fake-clock.ts';
import { seededRandom } from '../../test/seeded-random.ts';
import type { HostState } from '../store/host-port.ts';
import { type AnswerForPace, fibonacci, HostPace, type PaceOptions } from './host-pace.ts';

const OPTIONS: PaceOptions = {
  delayMs: 1000,
  maxDelayMs: 60_000,
  perHost: 1,
  isAdaptive: false,
  maxRetryAfterMs: 3_600_000,
  breakerFailures: 3,
  breakerProbes: 5,
  lagMs: () => 0,
};

function freshState(more: Partial<HostState> = {}): HostState {
  return {
    notBefore: 0,
    blockedUntil: 0,
    consecutive429: 0,
    adaptiveMs: 0,
    averageMs: 0,
    samples: 0,
    failures: 0,
    probes: 0,
    requests: 0,
    distrustedUntil: 0,
    announced: 0,
    unannounced: 0,
    headChecks: 0,
    ...more,
  };
}

function open(options: Partial<PaceOptions> = {}, state = freshState(), takenOver = false) {
  const clock = new FakeClock();
  const pace = new HostPace('a.test', state, { ...OPTIONS, ...options }, clock, takenOver);
  /** Goes to the next slot, sends, and answers the time of sending. */
  function send(): number {
    const wait = pace.readyAt() - clock.monotonic();
    expect(wait, 'a slot can be had').not.toBe(Number.POSITIVE_INFINITY);
    if (wait > 0) clock.advance(wait);
    pace.reserve();
    const sentAt = pace.sent();
    expect(sentAt, 'nothing keeps it from being sent').not.toBeNull();
    return sentAt!;
  }
  const wait = () => pace.readyAt() - clock.monotonic();
  return { clock, pace, state, send, wait };
}

function answer(statusCode: number | null, more: Partial<AnswerForPace> = {}): AnswerForPace {
  const failure = statusCode === null ? 'reset' : null;
  return { statusCode, failure, responseMs: statusCode === null ? null : 50, retryAfterMs: null, ...more };
}

const OK = answer(200);
const LIMITED = answer(429);
const BROKEN = answer(null);

describe('a host’s slots', () => {
  it('gives the first slot at once and the next one a delay after the request was really sent', () => {
    const { clock, pace } = open();
    expect(pace.readyAt()).toBeLessThanOrEqual(clock.monotonic());
    pace.reserve();
    clock.advance(300); // a slow connect
    const sentAt = pace.sent();
    clock.advance(50);
    pace.ended(sentAt, OK);
    expect(pace.readyAt() - clock.monotonic()).toBe(950);
  });

  it('counts from the moment after writing: what lay between asking and writing is not taken from the delay', () => {
    const { clock, pace, state } = open();
    pace.reserve();
    const sentAt = pace.sent();
    clock.advance(40); // the machine had other things to do
    pace.written();
    pace.ended(sentAt, OK);
    expect(pace.readyAt() - clock.monotonic()).toBe(1000);
    expect(state.notBefore - clock.now()).toBe(1000);
  });

  it('gives no slot while one is reserved but unsent, however many may run at once', () => {
    const { clock, pace } = open({ perHost: 5 });
    pace.reserve();
    clock.advance(10_000);
    expect(pace.readyAt()).toBe(Number.POSITIVE_INFINITY);
    pace.sent();
    expect(pace.readyAt() - clock.monotonic()).toBe(1000);
  });

  it('gives slots side by side when there is no delay, as many as may be open', () => {
    const { clock, pace } = open({ delayMs: 0, perHost: 2 });
    pace.reserve();
    expect(pace.readyAt()).toBeLessThanOrEqual(clock.monotonic());
    pace.reserve();
    expect(pace.readyAt()).toBe(Number.POSITIVE_INFINITY);
    pace.ended(pace.sent(), OK);
    expect(pace.readyAt()).toBeLessThanOrEqual(clock.monotonic());
  });

  it('takes one request at a time from a site with a Crawl-delay, counted from the robots.txt request', () => {
    const { clock, pace, send } = open({ delayMs: 0, perHost: 5 });
    const sentAt = send();
    clock.advance(200);
    pace.ended(sentAt, OK);
    pace.setRobotsDelay(2.5);
    expect(pace.delayMs).toBe(2500);
    expect(pace.perHost).toBe(1);
    expect(pace.readyAt() - clock.monotonic()).toBe(2300);
  });

  it('never goes below the configured delay for a shorter Crawl-delay', () => {
    const { pace } = open();
    pace.setRobotsDelay(0.2);
    expect(pace.delayMs).toBe(1000);
  });

  it('counts every request it gives a slot to', () => {
    const { pace, state, send } = open();
    for (let i = 0; i < 3; i++) pace.ended(send(), OK);
    expect(state.requests).toBe(3);
  });

  it('keeps the next slot in wall time, so that it outlives the lease', () => {
    const { clock, pace, state, send } = open();
    const sentAt = send();
    pace.ended(sentAt, OK);
    expect(state.notBefore).toBe(sentAt + 1000);
    const next = new HostPace('a.test', state, OPTIONS, clock, false);
    expect(next.readyAt() - clock.monotonic()).toBe(1000);
  });

  it('waits one full delay after a take-over, also the one that robots.txt asks for', () => {
    const { clock, pace, wait } = open({}, freshState(), true);
    expect(wait()).toBe(1000);
    clock.advance(400);
    pace.setRobotsDelay(90);
    expect(wait()).toBe(89_600);
  });

  it('waits for a stored block longer than the delay after a take-over', () => {
    const clock = new FakeClock();
    const state = freshState({ blockedUntil: clock.now() + 30_000 });
    const pace = new HostPace('a.test', state, OPTIONS, clock, true);
    expect(pace.readyAt() - clock.monotonic()).toBe(30_000);
  });
});

describe('blocks', () => {
  it('hold for the Fibonacci numbers of seconds by consecutive 429s', () => {
    const { pace, send, wait } = open({ delayMs: 0 });
    const pauses = Array.from({ length: 6 }, () => {
      const sentAt = send();
      pace.ended(sentAt, LIMITED);
      return wait();
    });
    expect(pauses).toEqual([1000, 1000, 2000, 3000, 5000, 8000]);
  });

  it('hold as long as Retry-After says, and no longer than the cap', () => {
    const { clock, pace, send, wait } = open({ maxRetryAfterMs: 3_600_000 });
    const until = pace.ended(send(), answer(429, { retryAfterMs: 120_000 }));
    expect(until).toBe(clock.now() + 120_000);
    expect(wait()).toBe(120_000);
    pace.ended(send(), answer(429, { retryAfterMs: 365 * 86_400_000 }));
    expect(wait()).toBe(3_600_000);
  });

  it('come with a 503 only when it says Retry-After', () => {
    const { pace, send, wait } = open({ delayMs: 0 });
    expect(pace.ended(send(), answer(503))).toBeNull();
    expect(wait()).toBeLessThanOrEqual(0);
    pace.ended(send(), answer(503, { retryAfterMs: 7000 }));
    expect(wait()).toBe(7000);
  });

  it('are cleared at once by a success, and the count begins anew', () => {
    const { pace, state, send, wait } = open({ delayMs: 0 });
    for (let i = 0; i < 4; i++) pace.ended(send(), LIMITED);
    pace.ended(send(), OK);
    expect(state).toMatchObject({ blockedUntil: 0, consecutive429: 0 });
    pace.ended(send(), LIMITED);
    expect(wait()).toBe(1000);
  });

  it('are not cleared by the answer to a request sent before the block came, also in the same instant', () => {
    for (const between of [0, 5]) {
      const { clock, pace, wait } = open({ delayMs: 0, perHost: 2 });
      pace.reserve();
      pace.reserve();
      const first = pace.sent();
      const second = pace.sent();
      clock.advance(between);
      pace.ended(first, answer(429, { retryAfterMs: 9000 }));
      clock.advance(between);
      pace.ended(second, OK);
      expect(wait()).toBe(9000 - between);
    }
  });

  it('keep a request from being sent whose slot was taken before', () => {
    const { pace } = open({ delayMs: 0, perHost: 2 });
    pace.reserve();
    pace.reserve();
    const first = pace.sent();
    pace.ended(first, answer(429, { retryAfterMs: 9000 }));
    expect(pace.sent()).toBeNull();
    pace.ended(null, { statusCode: null, failure: 'not-sent', responseMs: null, retryAfterMs: null });
    expect(pace.inFlight).toBe(0);
  });

  it('are never shortened by a later, shorter one', () => {
    const { clock, pace, wait } = open({ delayMs: 0, perHost: 2 });
    pace.reserve();
    pace.reserve();
    const [first, second] = [pace.sent(), pace.sent()];
    pace.ended(first, answer(429, { retryAfterMs: 60_000 }));
    clock.advance(10);
    pace.ended(second, answer(429, { retryAfterMs: 1000 }));
    expect(wait()).toBe(59_990);
  });

  it('count the 429s of requests that were open together as one', () => {
    const { clock, pace, state, wait } = open({ delayMs: 0, perHost: 5, isAdaptive: true });
    for (let i = 0; i < 5; i++) pace.reserve();
    const sent = Array.from({ length: 5 }, () => pace.sent());
    for (const sentAt of sent) {
      clock.advance(1);
      pace.ended(sentAt, LIMITED);
    }
    expect(state).toMatchObject({ consecutive429: 1, adaptiveMs: 500 });
    expect(wait()).toBe(1000);
  });

  it('hold though somebody sets the wall clock back or forth', () => {
    for (const jump of [-3_600_000, 3_600_000]) {
      const { clock, pace, send, wait } = open();
      clock.setWallBy(jump);
      pace.ended(send(), answer(429, { retryAfterMs: 30_000 }));
      expect(wait()).toBe(30_000);
      clock.setWallBy(jump);
      expect(wait()).toBe(30_000);
    }
  });
});

describe('the breaker', () => {
  it('opens after so many failures in a row, and an answer in between starts the count anew', () => {
    const { pace, send } = open({ delayMs: 0 });
    for (const outcome of [BROKEN, BROKEN, OK, BROKEN, BROKEN]) pace.ended(send(), outcome);
    expect(pace.isBreakerOpen).toBe(false);
    expect(pace.ended(send(), BROKEN)).not.toBeNull();
    expect(pace.isBreakerOpen).toBe(true);
  });

  it('probes one at a time at growing intervals, then gives the host up', () => {
    const { pace, send, wait } = open({ delayMs: 0, perHost: 4, maxDelayMs: 60_000 });
    for (let i = 0; i < 3; i++) pace.ended(send(), BROKEN);
    const pauses: number[] = [];
    while (!pace.isGivenUp) {
      pauses.push(wait());
      const sentAt = send();
      expect(pace.readyAt()).toBe(Number.POSITIVE_INFINITY);
      pace.ended(sentAt, BROKEN);
    }
    expect(pauses).toEqual([5000, 10_000, 20_000, 40_000, 60_000]);
  });

  it('counts no request as a probe that was in flight when it opened', () => {
    const { pace, state } = open({ delayMs: 0, perHost: 10 });
    for (let i = 0; i < 10; i++) pace.reserve();
    for (let i = 0; i < 10; i++) pace.ended(null, BROKEN);
    expect(pace.isBreakerOpen).toBe(true);
    expect(pace.isGivenUp).toBe(false);
    expect(state.probes).toBe(1);
  });

  it('closes at the first answer, whatever its status', () => {
    const { pace, send, wait } = open({ delayMs: 0 });
    for (let i = 0; i < 4; i++) pace.ended(send(), BROKEN);
    pace.ended(send(), answer(500));
    expect(pace.isBreakerOpen).toBe(false);
    expect(wait()).toBeLessThanOrEqual(0);
  });

  it('hears nothing of requests that were never sent', () => {
    const { pace, state } = open({ delayMs: 0 });
    for (let i = 0; i < 9; i++) {
      pace.reserve();
      pace.ended(null, answer(null, { failure: i % 2 ? 'aborted' : 'not-sent' }));
    }
    expect(state.failures).toBe(0);
  });
});

describe('a host that did not answer the last time', () => {
  it('is given up with its first failure, and waited for no longer', () => {
    const { pace, send, wait } = open({ isDoubted: true, delayMs: 0 });
    expect(pace.isGivenUp).toBe(false);
    expect(pace.ended(send(), BROKEN)).toBeNull();
    expect([pace.isGivenUp, wait()]).toEqual([true, 0]);
  });

  it.each([
    ['an answer', OK],
    ['a 429', LIMITED],
  ])('is treated as any other from %s on', (_, first) => {
    const { pace, send } = open({ isDoubted: true });
    pace.ended(send(), first);
    for (let n = 0; n < OPTIONS.breakerFailures; n++) pace.ended(send(), BROKEN);
    expect([pace.isBreakerOpen, pace.isGivenUp]).toEqual([true, false]);
  });
});

describe('the adaptive delay', () => {
  function answerIn(host: ReturnType<typeof open>, ...responseMs: number[]): number {
    for (const ms of responseMs) {
      const sentAt = host.send();
      host.clock.advance(ms);
      host.pace.ended(sentAt, answer(200, { responseMs: ms }));
    }
    return host.pace.delayMs;
  }

  it('learns nothing from the first three answers', () => {
    const host = open({ isAdaptive: true });
    expect(answerIn(host, 400, 900, 2000)).toBe(1000);
  });

  it('rises by half after an answer over twice the average, up to the ceiling', () => {
    const host = open({ isAdaptive: true, maxDelayMs: 2000 });
    expect(answerIn(host, 400, 400, 400, 1000)).toBe(1500);
    expect(answerIn(host, 2000, 5000, 20_000)).toBe(2000);
  });

  it('does not rise for a wait that was this machine’s own', () => {
    const host = open({ isAdaptive: true, lagMs: () => 400 });
    expect(answerIn(host, 400, 400, 400, 1000)).toBe(1000);
    expect(answerIn(host, 1100)).toBe(1500);
  });

  it('falls by a tenth after an answer under half the average, down to the floor and no further', () => {
    const host = open({ isAdaptive: true });
    answerIn(host, 1000, 1000, 1000, 3000);
    expect(host.pace.delayMs).toBe(1500);
    expect(answerIn(host, 100)).toBeCloseTo(1350);
    answerIn(host, 50, 40, 30, 20, 15, 10);
    expect(host.pace.delayMs).toBe(1000);
    expect(host.state.adaptiveMs).toBe(0);
  });

  it('comes to nothing again where no delay is configured', () => {
    const host = open({ isAdaptive: true, delayMs: 0 });
    host.pace.ended(host.send(), LIMITED);
    expect(host.pace.delayMs).toBe(500);
    for (let i = 0; i < 100; i++) answerIn(host, 100_000 / 3 ** (i % 8));
    for (let i = 0; i < 300 && host.pace.delayMs > 0; i++) {
      host.state.averageMs = 1000;
      answerIn(host, 10);
    }
    expect(host.pace.delayMs).toBe(0);
  });

  it('never brings down what is configured or what robots.txt asks for', () => {
    const host = open({ isAdaptive: true, delayMs: 1000, maxDelayMs: 500 });
    host.pace.setRobotsDelay(3);
    expect(answerIn(host, 400, 400, 400, 4000, 4000)).toBe(3000);
  });

  it('doubles with a 429, up to the ceiling', () => {
    const host = open({ isAdaptive: true, maxDelayMs: 3000 });
    host.pace.ended(host.send(), LIMITED);
    expect(host.pace.delayMs).toBe(2000);
    host.pace.ended(host.send(), LIMITED);
    expect(host.pace.delayMs).toBe(3000);
  });

  it('stays as it is when adapting is switched off', () => {
    const host = open({ isAdaptive: false });
    expect(answerIn(host, 400, 400, 400, 9000, 9000)).toBe(1000);
  });

  it('that rose holds for the next lease as well', () => {
    const host = open({ isAdaptive: true });
    answerIn(host, 100, 100, 100);
    const sentAt = host.send();
    host.clock.advance(300);
    host.pace.ended(sentAt, answer(200, { responseMs: 300 }));
    const { clock, state } = host;
    const next = new HostPace('a.test', state, { ...OPTIONS, isAdaptive: true }, clock, false);
    expect(next.readyAt() - clock.monotonic()).toBe(1200);
  });

  it('that an earlier lease left ends after many answers, though they are no faster than the average', () => {
    const host = open({ isAdaptive: true }, freshState({ adaptiveMs: 8000, averageMs: 50, samples: 100 }));
    expect(answerIn(host, ...Array(49).fill(50))).toBe(8000);
    expect(answerIn(host, 50)).toBe(4500);
    host.pace.ended(host.send(), answer(503, { retryAfterMs: 1000 }));
    expect(answerIn(host, ...Array(49).fill(50))).toBe(4500);
    expect(answerIn(host, ...Array(600).fill(50))).toBe(1000);
    expect(host.state.adaptiveMs).toBe(0);
  });

  it('may be a program’s own, over the configured floor', () => {
    const wishes = [5000, 10, Number.NaN, -5];
    const host = open({ strategy: () => wishes.shift()! });
    const delays = [0, 1, 2, 3].map(() => {
      host.pace.ended(host.send(), OK);
      return host.pace.delayMs;
    });
    expect(delays).toEqual([5000, 1000, 1000, 1000]);
  });
});

describe('any interleaving of requests and answers', () => {
  interface Flight {
    sendAt: number;
    sentAt: number | null;
    endAt: number;
    answer: AnswerForPace;
  }

  function crawlAtRandom(seed: number): void {
    const random = seededRandom(seed);
    const perHost = 1 + random.below(4);
    const delayMs = random.pick([0, 100, 1000]);
    const { clock, pace, state } = open({
      perHost,
      delayMs,
      isAdaptive: random.below(2) === 0,
      breakerFailures: 4,
    });
    const flights = new Set<Flight>();
    let lastSentAt = Number.NEGATIVE_INFINITY;
    for (let step = 0; step < 400; step++) {
      if (random.below(40) === 0) pace.setRobotsDelay(random.pick([0, 0.3, 2]));
      if (pace.readyAt() <= clock.monotonic()) {
        pace.reserve();
        const sendAt = clock.monotonic() + random.below(500) * random.below(2);
        const endAt = sendAt + 1 + random.below(3000);
        const status = random.pick([200, 200, 200, 200, 404, 429, 500, null]);
        const retryAfterMs = status === 429 && random.below(2) === 0 ? random.below(5000) : null;
        const responseMs = status === null ? null : endAt - sendAt;
        const planned = answer(status, { retryAfterMs, responseMs });
        flights.add({ sendAt, sentAt: null, endAt, answer: planned });
        expect(pace.inFlight, `seed ${seed}: open at once`).toBeLessThanOrEqual(perHost);
      }
      for (const flight of flights) {
        const now = clock.monotonic();
        if (flight.sentAt === null && flight.sendAt <= now) {
          const delayNow = pace.delayMs;
          flight.sentAt = pace.sent();
          if (flight.sentAt === null) {
            pace.ended(null, answer(null, { failure: 'not-sent' }));
            flights.delete(flight);
            continue;
          }
          expect(state.blockedUntil, `seed ${seed}: sent through a block`).toBeLessThanOrEqual(flight.sentAt);
          // Wall times are exact to a quarter of a microsecond.
          expect(flight.sentAt - lastSentAt + 0.001, `seed ${seed}: gap`).toBeGreaterThanOrEqual(delayNow);
          lastSentAt = flight.sentAt;
        }
        if (flight.sentAt !== null && flight.endAt <= now) {
          pace.ended(flight.sentAt, flight.answer);
          flights.delete(flight);
        }
      }
      expect(pace.delayMs).toBeGreaterThanOrEqual(delayMs);
      clock.advance(random.below(100));
      if (flights.size === 0 && pace.readyAt() > clock.monotonic())
        clock.advance(pace.readyAt() - clock.monotonic());
    }
  }

  it('keeps two sends a delay apart, blocks shut and no more open than allowed', () => {
    const first = Date.now() >>> 0;
    for (let seed = first; seed < first + 200; seed++) crawlAtRandom(seed);
  });
});

describe('fibonacci', () => {
  it('is 1, 1, 2, 3, 5', () => {
    expect([1, 2, 3, 4, 5, 10].map(fibonacci)).toEqual([1, 1, 2, 3, 5, 55]);
  });
});
