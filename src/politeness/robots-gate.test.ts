import { describe, expect, it } from 'vitest';
import { FakeClock } from '../../test/fake-clock.ts';
import type { FetchFailure, Outcome } from '../fetch/fetcher.ts';
import type { StoredRobots } from '../store/host-port.ts';
import { openRobotsGate, type RobotsGateOptions } from './robots-gate.ts';

const ORIGIN = 'https://a.test';
const DENY = 'User-agent: *\nDisallow: /private/\nCrawl-delay: 2';

interface Reply {
  status?: number;
  body?: string;
  location?: string;
  failure?: FetchFailure;
}

function outcomeOf({ status, body, location, failure }: Reply): {
  outcome: Outcome;
  isReleased: () => boolean;
} {
  const bytes = body === undefined ? null : new TextEncoder().encode(`${body}\0`);
  let released = false;
  const outcome: Outcome = {
    head:
      status === undefined
        ? null
        : ({ status, location: location ?? null, contentType: 'text/plain' } as Outcome['head']),
    body:
      bytes === null
        ? null
        : {
            bytes,
            length: bytes.length - 1,
            release() {
              released = true;
              bytes.fill(0x23);
            },
          },
    bodyRefused: false,
    failure: failure ?? null,
    message: failure ? `it was ${failure}` : null,
    sentAt: 0,
    responseMs: null,
    wireBytes: 0,
  };
  return { outcome, isReleased: () => released };
}

/** A gate whose site gives the replies in turn. */
function open(replies: Reply[], more: Partial<RobotsGateOptions> = {}) {
  const clock = new FakeClock();
  const asked: string[] = [];
  const saved: StoredRobots[] = [];
  const pauses: number[] = [];
  const bodies: (() => boolean)[] = [];
  const options: RobotsGateOptions = {
    productToken: 'sumi-ripple',
    whenUnreachable: 'disallow',
    retries: 5,
    connectRetries: 3,
    ttlMs: 86_400_000,
    clock,
    load: async () => null,
    save: async (robots) => void saved.push(robots),
    async ask(url) {
      asked.push(url);
      const reply = replies.shift();
      if (reply === undefined) throw new Error(`asked once too often: ${url}`);
      const { outcome, isReleased } = outcomeOf(reply);
      if (outcome.body !== null) bodies.push(isReleased);
      return outcome;
    },
    async pause(delayMs) {
      pauses.push(delayMs);
      clock.advance(delayMs);
    },
    ...more,
  };
  return { clock, asked, saved, pauses, bodies, answer: () => openRobotsGate(ORIGIN, options) };
}

async function allows(gate: ReturnType<typeof open>, path: string): Promise<boolean> {
  const answer = await gate.answer();
  if (!('rules' in answer)) throw new Error(`no rules: ${JSON.stringify(answer)}`);
  return answer.rules.decide(`${ORIGIN}${path}`).allowed;
}

describe('a robots.txt that is there', () => {
  it('is asked for once, obeyed, kept for its time, and its buffer given back', async () => {
    const gate = open([{ status: 200, body: DENY }]);
    const answer = await gate.answer();
    if (!('rules' in answer)) throw new Error('no rules');
    expect(answer.rules.decide(`${ORIGIN}/private/x`).allowed).toBe(false);
    expect(answer.rules.decide(`${ORIGIN}/public`).allowed).toBe(true);
    expect(answer.rules.delaySeconds).toBe(2);
    expect(gate.asked).toEqual([`${ORIGIN}/robots.txt`]);
    const [stored] = gate.saved;
    expect(stored).toMatchObject({ origin: ORIGIN, status: 200, fetchedAt: gate.clock.now() });
    expect(stored.expiresAt - stored.fetchedAt).toBe(86_400_000);
    expect(new TextDecoder().decode(stored.body!)).toBe(DENY);
    expect(gate.bodies.map((isReleased) => isReleased())).toEqual([true]);
  });

  it('is taken from the store while it is fresh', async () => {
    const clock = new FakeClock();
    const body = new TextEncoder().encode(DENY);
    const stored = {
      origin: ORIGIN,
      status: 200,
      body,
      fetchedAt: 0,
      expiresAt: clock.now() + 1,
      delaySeconds: null,
    };
    const gate = open([], { clock, load: async () => stored });
    expect(await allows(gate, '/private/x')).toBe(false);
    expect(gate.asked).toEqual([]);
  });

  it('is asked for again when the stored one is too old', async () => {
    const clock = new FakeClock();
    const body = new TextEncoder().encode(DENY);
    const stored = {
      origin: ORIGIN,
      status: 200,
      body,
      fetchedAt: 0,
      expiresAt: clock.now(),
      delaySeconds: null,
    };
    const gate = open([{ status: 200, body: '' }], { clock, load: async () => stored });
    expect(await allows(gate, '/private/x')).toBe(true);
    expect(gate.asked).toHaveLength(1);
  });

  it('is asked for again when the clock was set back since it was stored', async () => {
    const clock = new FakeClock();
    const fetchedAt = clock.now() + 86_400_000;
    const stored = { status: 200, body: new TextEncoder().encode(DENY), delaySeconds: null, fetchedAt };
    const load = async () => ({ ...stored, origin: ORIGIN, expiresAt: fetchedAt + 86_400_000 });
    const gate = open([{ status: 200, body: '' }], { clock, load });
    expect(await allows(gate, '/private/x')).toBe(true);
    expect(gate.asked).toHaveLength(1);
  });

  it('is looked for behind up to five redirects, relative ones and other hosts too', async () => {
    const gate = open([
      { status: 301, location: '/r1' },
      { status: 302, location: 'http://b.test/robots.txt#x' },
      { status: 307, location: '//c.test/r3' },
      { status: 308, location: 'r4' },
      { status: 303, location: 'https://d.test/r5' },
      { status: 200, body: DENY },
    ]);
    expect(await allows(gate, '/private/x')).toBe(false);
    expect(gate.asked.slice(1)).toEqual([
      `${ORIGIN}/r1`,
      'http://b.test/robots.txt',
      'http://c.test/r3',
      'http://c.test/r4',
      'https://d.test/r5',
    ]);
  });
});

describe('a robots.txt that is not there', () => {
  it('allows everything: 4xx, and is kept like an answer', async () => {
    for (const status of [400, 401, 403, 404, 410, 451]) {
      const gate = open([{ status, body: DENY }]);
      expect(await allows(gate, '/private/x'), String(status)).toBe(true);
      expect(gate.saved).toMatchObject([{ status, body: null, expiresAt: gate.clock.now() + 86_400_000 }]);
    }
  });

  it('allows everything: redirects that lead nowhere or on and on', async () => {
    expect(await allows(open([{ status: 302 }]), '/private/x')).toBe(true);
    expect(await allows(open([{ status: 302, location: 'ftp://a.test/' }]), '/private/x')).toBe(true);
    const endless = Array.from({ length: 6 }, () => ({ status: 302, location: '/again' }));
    expect(await allows(open(endless), '/private/x')).toBe(true);
  });
});

describe('a robots.txt that cannot be had', () => {
  it('is asked for again with growing pauses, then shuts the origin', async () => {
    const gate = open(Array.from({ length: 6 }, () => ({ status: 503 })));
    expect(await gate.answer()).toEqual({ unreachable: '503', failure: null });
    expect(gate.pauses).toEqual([1000, 2000, 4000, 8000, 16_000]);
    expect(gate.asked).toHaveLength(6);
    for (const { expiresAt, fetchedAt } of gate.saved) expect(expiresAt).toBe(fetchedAt);
  });

  it('opens when a later try succeeds', async () => {
    const gate = open([{ status: 503 }, { status: 429 }, { failure: 'reset' }, { status: 200, body: DENY }]);
    expect(await allows(gate, '/private/x')).toBe(false);
    expect(gate.pauses).toHaveLength(3);
  });

  it('is tried fewer times when nobody can be connected to', async () => {
    const gate = open([{ failure: 'refused' }], { connectRetries: 0 });
    expect(await gate.answer()).toEqual({ unreachable: 'it was refused', failure: 'refused' });
    expect(gate.saved).toMatchObject([{ status: 0 }]);
  });

  it('counts as none where the operator wants it so', async () => {
    const gate = open([{ status: 503 }], { whenUnreachable: 'allow' });
    expect(await allows(gate, '/private/x')).toBe(true);
    expect(gate.pauses).toEqual([]);
  });

  it('is not believed when it breaks off in the middle', async () => {
    const gate = open([
      { status: 200, body: 'User-agent: *\nDis', failure: 'reset' },
      { status: 200, body: DENY },
    ]);
    expect(await allows(gate, '/private/x')).toBe(false);
    expect(gate.asked).toHaveLength(2);
  });

  it('is not held against the site when the request was never sent', async () => {
    const gate = open([{ failure: 'not-sent' }, { status: 200, body: DENY }], { connectRetries: 0 });
    expect(await allows(gate, '/private/x')).toBe(false);
    expect(gate.saved).toMatchObject([{ status: 200 }]);
    const refused = open([{ failure: 'not-sent' }], { retries: 0 });
    expect(await refused.answer()).toMatchObject({ failure: 'not-sent' });
    expect(refused.saved).toEqual([]);
  });

  it('says nothing when the crawl is being stopped', async () => {
    const gate = open([{ failure: 'aborted' }]);
    expect(await gate.answer()).toEqual({ aborted: true });
    expect(gate.saved).toEqual([]);
  });
});
