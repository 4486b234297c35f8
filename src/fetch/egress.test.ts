// The guard alone, and in a fetcher: which connections are opened is judged by what servers on loopback addresses saw.
import { createServer } from 'node:http';
import { type AddressInfo, isIP } from 'node:net';
import { networkInterfaces } from 'node:os';
import fc from 'fast-check';
import { afterEach, describe, expect, it } from 'vitest';
import { systemClock } from '../primitives/clock.ts';
import { isPublicAddress, reachedAddress } from '../primitives/public-address.ts';
import { checkEgress, createEgressGuard, type EgressOptions, type SystemLookup } from './egress.ts';
import type { FetcherOptions } from './fetcher-options.ts';
import { createHttpFetcher } from './http-fetcher.ts';

const clean: (() => unknown)[] = [];
afterEach(async () => {
  for (const step of clean.splice(0).reverse()) await step();
});

const guard = (options: Partial<EgressOptions> = {}) =>
  createEgressGuard({ allow: [], ownPort: null, ...options });

/** A name server that gives these answers, one after another; the last one stays. */
function answering(...answers: string[][]) {
  const asked: string[] = [];
  const lookup: SystemLookup = (name, _, callback) => {
    const found = answers[Math.min(asked.push(name), answers.length) - 1];
    if (found.length === 0)
      return callback(Object.assign(new Error(`ENOTFOUND ${name}`), { code: 'ENOTFOUND' }), []);
    callback(
      null,
      found.map((address) => ({ address, family: isIP(address) })),
    );
  };
  return { lookup, asked };
}

describe('the guard', () => {
  it.each([
    'https://example.com/',
    'http://8.8.8.8/',
    'http://[2606:2800:220:1::1]/',
    'http://[::ffff:8.8.8.8]/',
    'http://[64:ff9b::8.8.8.8]/',
    'https://internal.example/',
    'https://notlocal/'.replace('notlocal', 'notlocal.example'),
  ])('lets %s be tried', (url) => {
    expect(guard().refuse(url)).toBeNull();
  });

  it.each([
    ['http://localhost/', 'localhost is refused by name'],
    ['http://LOCALHOST./', 'localhost is refused by name'],
    ['http://a.b.localhost/', 'a.b.localhost is refused by name'],
    ['http://metadata.google.internal/', 'metadata.google.internal is refused by name'],
    ['http://printer.local/', 'printer.local is refused by name'],
    ['http://router.home.arpa/', 'router.home.arpa is refused by name'],
    ['http://home.arpa/', 'home.arpa is refused by name'],
    ['http://intranet/', 'intranet is refused by name'],
    ['http://intranet./', 'intranet is refused by name'],
    ['http://169.254.169.254/', '169.254.169.254 is no public address'],
    ['http://[fe80::1]/', 'fe80::1 is no public address'],
    ['http://[2002:a00:1::]/', '2002:a00:1:: is no public address'],
    ['http://[2001:0:a00:1::]/', '2001:0:a00:1:: is no public address'],
    ['http://[64:ff9b::10.0.0.1]/', '64:ff9b::a00:1 is no public address'],
  ])('refuses %s at once', async (url, why) => {
    const { lookup, asked } = answering(['8.8.8.8']);
    expect(guard({ lookup }).refuse(url)).toBe(why);
    expect(await guard({ lookup }).judge(url)).toBe(why);
    expect(asked).toEqual([]);
  });

  it('lets no spelling of a private address pass', () => {
    const byte = fc.integer({ min: 0, max: 255 });
    const privateBytes = fc
      .oneof(
        fc.tuple(fc.constantFrom(0, 10, 127), byte, byte, byte),
        fc.tuple(fc.constant(192), fc.constant(168), byte, byte),
        fc.tuple(fc.constant(169), fc.constant(254), byte, byte),
        fc.tuple(fc.constant(172), fc.integer({ min: 16, max: 31 }), byte, byte),
        fc.tuple(fc.constant(100), fc.integer({ min: 64, max: 127 }), byte, byte),
        fc.tuple(fc.integer({ min: 224, max: 255 }), byte, byte, byte),
      )
      .map((bytes) => bytes as number[]);
    const radix = fc.constantFrom('10', '8', '16', '16X');
    const write = (value: number, how: string, zeros: number) => {
      if (how === '10') return String(value);
      if (how === '8') return `0${'0'.repeat(zeros)}${value.toString(8)}`;
      const digits = value.toString(16);
      return how === '16' ? `0x${'0'.repeat(zeros)}${digits}` : `0X${digits.toUpperCase()}`;
    };
    const spelling = fc
      .tuple(
        privateBytes,
        fc.tuple(radix, radix, radix, radix),
        fc.integer({ min: 1, max: 4 }),
        fc.nat({ max: 5 }),
        fc.constantFrom('', '.'),
        fc.constantFrom('4', 'mapped', 'mapped-hex', 'nat64', '6to4', 'teredo', 'compatible', 'wide'),
      )
      .map(([bytes, how, parts, zeros, end, form]) => {
        const [a, b, c, d] = bytes;
        const hex = `${(a * 256 + b).toString(16)}:${(c * 256 + d).toString(16)}`;
        switch (form) {
          case 'mapped':
            return `[::ffff:${bytes.join('.')}]`;
          case 'mapped-hex':
            return `[0:0:0:0:0:FFFF:${hex}]`;
          case 'nat64':
            return `[64:ff9b::${hex}]`;
          case '6to4':
            return `[2002:${hex}::1]`;
          case 'teredo':
            return `[2001:0:${hex}::1]`;
          case 'compatible':
            return `[::${bytes.join('.')}]`;
          case 'wide': {
            // The letters of another script that the URL parser reads as digits.
            const wide = (text: string) =>
              text.replace(/\d/g, (digit) => String.fromCodePoint(0xff10 + Number(digit)));
            return `${wide(bytes.join('.'))}${end}`;
          }
          default: {
            const last = bytes.slice(parts - 1).reduce((sum, one) => sum * 256 + one, 0);
            const written = [...bytes.slice(0, parts - 1), last].map((value, at) =>
              write(value, how[at], zeros),
            );
            return `${written.join('.')}${end}`;
          }
        }
      });
    fc.assert(
      fc.property(spelling, fc.constantFrom('http', 'https'), (host, scheme) => {
        const url = `${scheme}://${host}/`;
        expect(URL.canParse(url), url).toBe(true);
        expect(guard().refuse(url), url).toMatch(/is no public address$/);
      }),
      { seed: 23, numRuns: 2000 },
    );
  });

  it('refuses in a lookup what it refuses as a literal', () => {
    fc.assert(
      fc.property(fc.oneof(fc.ipV4(), fc.ipV6()), (address) => {
        const target = { hostname: 'shop.example', port: 80 };
        const isRefused = guard().refuseAddress(target, address) !== null;
        expect(isRefused).toBe(!isPublicAddress(reachedAddress(address)));
        const literal = isIP(address) === 6 ? `http://[${address}]/` : `http://${address}/`;
        expect(guard().refuse(literal) !== null).toBe(isRefused);
      }),
      { seed: 23, numRuns: 1000 },
    );
  });

  it('allows hosts, addresses and networks', async () => {
    const inner = answering(['10.1.2.3']);
    const allowing = (...allow: string[]) => guard({ allow, lookup: inner.lookup });
    expect(await guard(inner).judge('http://a.example/')).toBe('a.example is 10.1.2.3, no public address');
    expect(await allowing('a.example').judge('http://a.example/')).toBeNull();
    expect(await allowing('A.Example.').judge('http://a.example./')).toBeNull();
    expect(await allowing('b.example').judge('http://a.example/')).not.toBeNull();
    expect(await allowing('10.0.0.0/8').judge('http://a.example/')).toBeNull();
    expect(await allowing('10.1.2.3').judge('http://a.example/')).toBeNull();
    expect(await allowing('10.1.2.4').judge('http://a.example/')).not.toBeNull();
    expect(await allowing('11.0.0.0/8').judge('http://a.example/')).not.toBeNull();
    expect(allowing('10.0.0.0/8').refuse('http://[::ffff:10.9.9.9]/')).toBeNull();
    expect(allowing('10.0.0.0/8').refuse('http://[64:ff9b::10.9.9.9]/')).toBeNull();
    expect(allowing('fd00::/8').refuse('http://[fd12::1]/')).toBeNull();
    expect(allowing('fd00::/8').refuse('http://[fe80::1]/')).not.toBeNull();
    expect(allowing('::1').refuse('http://[0:0::0:1]/')).toBeNull();
    // An address that is allowed is no leave for a name that is refused, and a name is none for another.
    expect(allowing('127.0.0.0/8').refuse('http://localhost/')).toBe('localhost is refused by name');
    expect(allowing('localhost').refuse('http://localhost/')).toBeNull();
    expect(allowing('db.internal').refuse('http://other.internal/')).not.toBeNull();
  });

  it('says in one order which addresses a name has, however they come', async () => {
    const say = (...addresses: string[]) => guard(answering(addresses)).judge('http://a.example/');
    expect(await say('10.0.0.2', '10.0.0.1', '::1')).toBe(
      'a.example is 10.0.0.1, 10.0.0.2, ::1, no public address',
    );
    expect(await say('::1', '10.0.0.1', '10.0.0.2')).toBe(await say('10.0.0.2', '10.0.0.1', '::1'));
    expect(await say('10.0.0.4', '10.0.0.3', '10.0.0.2', '10.0.0.1')).toContain('10.0.0.3 …');
    expect(await say('10.0.0.1', '8.8.8.8')).toBeNull();
    // Nobody is refused whose name is not known: that is for the request to say.
    expect(await say()).toBeNull();
  });

  it('never lets the own port of this machine be reached, by any of its addresses', () => {
    const all = guard({ allow: ['0.0.0.0/0', '::/0', 'me.example'], ownPort: 8080 });
    const own = Object.values(networkInterfaces()).flatMap((entries) => entries ?? []);
    expect(own.length).toBeGreaterThan(0);
    const addresses = [
      ...own.map(({ address }) => address),
      '127.7.7.7',
      '0.0.0.0',
      '::',
      '::ffff:127.0.0.1',
    ];
    for (const address of addresses) {
      const target = { hostname: 'me.example', port: 8080 };
      expect(all.refuseAddress(target, address), address).toMatch(/:8080 is this service itself$/);
      expect(all.refuseAddress({ ...target, port: 8081 }, address), address).toBeNull();
    }
    expect(all.refuse('http://127.0.0.1:8080/')).toBe('127.0.0.1:8080 is this service itself');
    expect(all.refuse('http://127.0.0.1/')).toBeNull();
    const names = new Map([['me.example', { address: '127.0.0.1', port: 8080 }]]);
    const mapped = guard({ allow: ['127.0.0.1'], ownPort: 8080, resolve: names });
    expect(mapped.refuse('http://me.example/')).toBe('127.0.0.1:8080 is this service itself');
  });

  it('refuses before anything is stored, and shows no path', async () => {
    const refused = checkEgress(guard(), 'http://10.0.0.5:81/secret-path');
    await expect(refused).rejects.toMatchObject({
      code: 'egress-refused',
      httpStatus: 422,
      message: 'The service does not connect to 10.0.0.5:81: 10.0.0.5 is no public address.',
    });
    await expect(checkEgress(guard(answering(['8.8.8.8'])), 'https://a.example/x')).resolves.toBeUndefined();
  });
});

describe("a request that is not the fetcher's", () => {
  it('is judged in its lookup', async () => {
    const { lookup } = answering(['10.0.0.7', '8.8.8.8'], ['127.0.0.1']);
    const judged = guard({ lookup, ownPort: 443, allow: ['127.0.0.1'] }).lookupFor(443);
    const resolve = () =>
      new Promise((settle) =>
        judged('hooks.example', { all: true }, (error, found) => settle(error?.message ?? found)),
      );
    expect(await resolve()).toEqual([{ address: '8.8.8.8', family: 4 }]);
    expect(await resolve()).toBe('127.0.0.1:443 is this service itself');
  });
});

describe('a fetcher with a guard', () => {
  /** Servers at 127.0.0.1 and 127.0.0.2 on one port. */
  async function startTwo() {
    const seen: string[] = [];
    let port = 0;
    for (const host of ['127.0.0.1', '127.0.0.2']) {
      const server = createServer((request, response) => {
        seen.push(`${host} ${request.headers.host?.replace(/:\d+$/, '')}`);
        response.end('here');
      });
      await new Promise<void>((done) => server.listen(port, host, done));
      ({ port } = server.address() as AddressInfo);
      clean.push(
        () => server.close(),
        () => server.closeAllConnections(),
      );
    }
    return { port, seen };
  }

  function fetching(options: Partial<FetcherOptions>) {
    const fetcher = createHttpFetcher({
      ...{ userAgent: 'test/1', compress: false, keepAlive: true, http2: false, perHost: 1 },
      ...{ connectTimeoutMs: 5000, headersTimeoutMs: 5000, bodyTimeoutMs: 5000, totalTimeoutMs: 10_000 },
      ...{ resolve: new Map(), proxy: {}, clock: systemClock },
      ...options,
    });
    clean.push(() => fetcher.close());
    return async (url: string) => {
      const { head, failure, message, sentAt, body } = await fetcher.fetch({
        url,
        method: 'GET',
        maxBytes: 1000,
      });
      body?.release();
      return failure === null ? head!.status : { failure, message, wasSent: sentAt !== null };
    };
  }

  it('uses of several addresses only those that may be reached', async () => {
    const { port, seen } = await startTwo();
    const { lookup } = answering(['127.0.0.2', '::1', '127.0.0.1']);
    const get = fetching({ egress: guard({ allow: ['127.0.0.1'], lookup }) });
    expect(await get(`http://shop.example:${port}/`)).toBe(200);
    expect(seen).toEqual(['127.0.0.1 shop.example']);
  });

  it('judges each connection, so that a name cannot lead elsewhere later', async () => {
    const { port, seen } = await startTwo();
    let aheadMs = 0;
    const clock = { ...systemClock, monotonic: () => systemClock.monotonic() + aheadMs };
    const { lookup, asked } = answering(['127.0.0.1'], ['127.0.0.2']);
    const egress = guard({ allow: ['127.0.0.1'], lookup });
    const get = fetching({ egress, clock, keepAlive: false });
    const url = `http://shop.example:${port}/`;
    expect(await get(url)).toBe(200);
    expect(await get(url)).toBe(200);
    expect(asked).toHaveLength(1);
    // The answer of the name server is used for five minutes.
    aheadMs = 6 * 60_000;
    expect(await get(url)).toEqual({
      failure: 'egress',
      message: 'shop.example is 127.0.0.2, no public address',
      wasSent: false,
    });
    expect(asked).toHaveLength(2);
    expect(seen).toEqual(['127.0.0.1 shop.example', '127.0.0.1 shop.example']);
  });

  it('judges a connection once, however many requests it carries', async () => {
    const { port, seen } = await startTwo();
    const egress = guard({ allow: ['127.0.0.1'] });
    let judged = 0;
    const counting = {
      ...egress,
      refuseTarget: (target: Parameters<typeof egress.refuseTarget>[0]) => {
        judged++;
        return egress.refuseTarget(target);
      },
    };
    const get = fetching({ egress: counting });
    for (let i = 0; i < 5; i++) expect(await get(`http://127.0.0.1:${port}/`)).toBe(200);
    expect(seen).toHaveLength(5);
    expect(judged).toBe(1);
  });

  it.each([true, false])('opens no connection to what it refuses (http2: %s)', async (http2) => {
    const { port, seen } = await startTwo();
    const get = fetching({ egress: guard({ allow: ['127.0.0.1'] }), http2 });
    for (const scheme of ['http', 'https'])
      expect(await get(`${scheme}://127.0.0.2:${port}/`)).toEqual({
        failure: 'egress',
        message: '127.0.0.2 is no public address',
        wasSent: false,
      });
    expect(seen).toEqual([]);
  });

  it('looks no refused name up', async () => {
    const { lookup, asked } = answering(['8.8.8.8']);
    const get = fetching({ egress: guard({ lookup }) });
    expect(await get('http://db.internal/')).toMatchObject({ message: 'db.internal is refused by name' });
    expect(asked).toEqual([]);
  });
});
