import { describe, expect, it } from 'vitest';
import { FakeClock } from '../../test/fake-clock.ts';
import { seededRandom } from '../../test/seeded-random.ts';
import type { HostState } from '../store/host-port.ts';
import { HostPace, type PaceOptions } from './host-pace.ts';

const OPTIONS: PaceOptions = {
  delayMs: 500,
  maxDelayMs: 60_000,
  perHost: 5,
  isAdaptive: true,
  maxRetryAfterMs: 3_600_000,
  breakerFailures: 3,
  breakerProbes: 5,
  lagMs: () => 0,
};

function freshState(): HostState {
  return {
    ...{ notBefore: 0, blockedUntil: 0, consecutive429: 0, adaptiveMs: 0, averageMs: 0, samples: 0 },
    ...{
      failures: 0,
      probes: 0,
      requests: 0,
      distrustedUntil: 0,
      announced: 0,
      unannounced: 0,
      headChecks: 0,
    },
  };
}

/** Answers a request that arrives at a moment: the status, and how long the answer takes. */
type Server = (at: number, page: number) => { status: number; afterMs: number };

/** As nginx counts: a request too many is refused, and leaves no trace. */
function leakyBucket(everyMs: number, burst: number): Server {
  let excess = 0;
  let last: number | null = null;
  return (at) => {
    const now = last === null ? 0 : Math.max(0, excess - (at - last) / everyMs + 1);
    if (now > burst) return { status: 503, afterMs: 1 };
    excess = now;
    last = at;
    return { status: 200, afterMs: 1 };
  };
}

/** As `limit_conn`: no more than so many answers on their way at once. */
function fewAtOnce(most: number, takesMs: number): Server {
  let ends: number[] = [];
  return (at) => {
    ends = ends.filter((end) => end > at);
    if (ends.length >= most) return { status: 503, afterMs: 1 };
    ends.push(at + takesMs);
    return { status: 200, afterMs: takesMs };
  };
}

/** Asks the server for pages under the host's clock, those it refused once more, as a crawl does. */
function crawl(server: Server, pages: number, options: Partial<PaceOptions> = {}) {
  const clock = new FakeClock();
  const state = freshState();
  const pace = new HostPace('a.test', state, { ...OPTIONS, ...options }, clock, false);
  const waiting = Array.from({ length: pages }, (_, id) => ({ id, tries: 0, from: 0 }));
  const [sentAt, refusedAt, lost]: [number[], number[], number[]] = [[], [], []];
  let read = 0;
  let open = 0;
  const began = clock.monotonic();
  const offset = clock.now() - began;
  for (let turn = 0; waiting.length + open > 0 && turn < 1_000_000; turn++) {
    const next = waiting.findIndex(({ from }) => from <= clock.monotonic());
    if (next === -1 || pace.readyAt() > clock.monotonic()) {
      clock.advance(10);
      continue;
    }
    const [page] = waiting.splice(next, 1);
    pace.reserve();
    const isOpen = pace.inFlight;
    const wasSent = pace.sent()!;
    pace.written();
    sentAt.push(clock.monotonic());
    const { status, afterMs } = server(clock.monotonic(), page.id);
    open++;
    clock.after(afterMs, () => {
      open--;
      const statusCode = status;
      const about = { failure: null, responseMs: afterMs, retryAfterMs: null, pageId: page.id, open: isOpen };
      pace.ended(wasSent, { statusCode, ...about });
      if (status === 200) read++;
      else {
        refusedAt.push(clock.monotonic());
        const pauseMs = pace.isPaceRefusal ? pace.yieldMs : 1000 * 2 ** page.tries++;
        page.from = Math.max(clock.monotonic(), pace.blockedUntil - offset) + pauseMs;
        if (page.tries > 3) lost.push(page.id);
        else waiting.unshift(page);
      }
    });
  }
  return {
    read,
    lost,
    refused: refusedAt.length,
    sentAt,
    refusedAt,
    tookMs: clock.monotonic() - began,
    pace,
  };
}

describe('a host that refuses with 503 what comes too fast', () => {
  it('is asked at the pace that it answers, and no page is lost', () => {
    const { read, lost, refused, pace } = crawl(leakyBucket(2000, 2), 60);
    expect({ read, lost }).toEqual({ read: 60, lost: [] });
    expect(refused).toBeLessThanOrEqual(10);
    expect(pace.delayMs).toBeGreaterThanOrEqual(1600);
    expect(pace.delayMs).toBeLessThanOrEqual(4000);
  });

  it('is asked little more than it allows for ever: a step that fails makes the next one later', () => {
    const { lost, refused, tookMs } = crawl(leakyBucket(2000, 2), 2000);
    expect(lost).toEqual([]);
    expect(refused).toBeLessThan(60);
    // 4,000 s are ideal.
    expect(tookMs).toBeLessThan(1.25 * 4_000_000);
  });

  it.each([3, 10, 20])('is found out at %i times the delay as well', (times) => {
    const { read, lost, refused } = crawl(leakyBucket(times * 500, 1), 60);
    expect({ read, lost }).toEqual({ read: 60, lost: [] });
    expect(refused).toBeLessThanOrEqual(15);
  });

  it('is asked as before when it has ceased to refuse', () => {
    const bucket = leakyBucket(2000, 2);
    const { read, pace } = crawl(
      (at, page) => (at < 60_000 ? bucket(at, page) : { status: 200, afterMs: 1 }),
      600,
    );
    expect(read).toBe(600);
    expect(pace.delayMs).toBe(500);
    expect(pace.perHost).toBe(5);
  });

  it('that refuses more than two at once is asked by two at once', () => {
    const { read, lost, refused, pace } = crawl(fewAtOnce(2, 3000), 40);
    expect({ read, lost }).toEqual({ read: 40, lost: [] });
    expect(refused).toBeLessThanOrEqual(20);
    expect(pace.perHost).toBe(2);
    expect(pace.delayMs).toBe(500);
  });

  it('goes by 429 without Retry-After in the same way', () => {
    const bucket = leakyBucket(2000, 2);
    const { read, refused } = crawl((at, page) => {
      const { status, afterMs } = bucket(at, page);
      return { status: status === 503 ? 429 : 200, afterMs };
    }, 60);
    expect(read).toBe(60);
    expect(refused).toBeLessThanOrEqual(10);
  });
});

describe('a host whose 503s are no limit', () => {
  it('is down when it says nothing else: its pages have their tries, and it is not slowed down', () => {
    const { read, lost, refused, pace } = crawl(() => ({ status: 503, afterMs: 1 }), 5);
    expect({ read, lost: lost.length, refused }).toEqual({ read: 0, lost: 5, refused: 20 });
    expect(pace.delayMs).toBe(500);
  });

  it('that goes down in the middle is waited for, but not for ever', () => {
    let answers = 0;
    const { lost, tookMs } = crawl(
      () => (answers++ < 20 ? { status: 200, afterMs: 1 } : { status: 503, afterMs: 1 }),
      25,
    );
    expect(lost).toHaveLength(5);
    expect(tookMs).toBeLessThan(600_000);
  });

  it('has broken pages: they fail by themselves, and the others are soon asked as fast as before', () => {
    const { read, lost, tookMs, pace } = crawl(
      (_, page) => ({ status: page % 5 === 4 ? 503 : 200, afterMs: 1 }),
      400,
    );
    expect({ read, lost: lost.length }).toEqual({ read: 320, lost: 80 });
    expect(pace.delayMs).toBe(500);
    // 640 requests at half a second.
    expect(tookMs).toBeLessThan(400_000);
  });

  it('has one page that is broken: it alone fails', () => {
    const { read, lost, pace } = crawl((_, page) => ({ status: page === 3 ? 503 : 200, afterMs: 1 }), 30);
    expect({ read, lost }).toEqual({ read: 29, lost: [3] });
    expect(pace.delayMs).toBe(500);
  });

  it.each([5, 15, 33])(
    'come in %i of 100 answers, whatever the pace: it is not slowed down for good',
    (share) => {
      const random = seededRandom(7);
      const { read, lost, tookMs, pace } = crawl(
        () => ({ status: random.below(100) < share ? 503 : 200, afterMs: 1 }),
        2000,
      );
      expect(read + lost.length).toBe(2000);
      expect(lost.length).toBeLessThan(2000 * (share / 100) ** 3);
      expect(pace.delayMs).toBe(500);
      // 2,000 pages at half a second take 1,000 s.
      expect(tookMs).toBeLessThan(4_000_000);
    },
  );

  it('refused one request of many: nothing comes of it', () => {
    let nth = 0;
    const { read, pace } = crawl(() => ({ status: nth++ % 15 === 7 ? 503 : 200, afterMs: 1 }), 100);
    expect(read).toBe(100);
    expect(pace.delayMs).toBe(500);
  });
});
