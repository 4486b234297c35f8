import { describe, expect, it } from 'vitest';
import type { Claim } from '../../frontier/candidate.ts';
import type { LeasedHost } from '../hosts/leased-host.ts';
import { createPutOff, type PutOffSurroundings } from './wait-for-sitemap-dates.ts';

const claimsOf = (count: number) => Array.from({ length: count }, () => ({ depth: 1 }) as Claim);

function someHosts(count: number) {
  const hosts = Array.from({ length: count }, (_, i) => {
    const host: Pick<LeasedHost, 'undated' | 'awaitsDates'> & { lease: { host: string } } = {
      lease: { host: `h${i}` },
      undated: [],
      awaitsDates: false,
    };
    return host as LeasedHost;
  });
  const returned = new Map<string, number>();
  const woken: string[] = [];
  const around = {
    store: {
      frontier: {
        async unclaim({ host }: LeasedHost['lease'], claims: Claim[]) {
          returned.set(host, (returned.get(host) ?? 0) + claims.length);
        },
      },
    },
    onStart: null,
    wakeHost: (host: string) => void woken.push(host),
    hosts: { all: () => hosts },
    onChange() {},
    onFailure(error: unknown) {
      throw error;
    },
  } as unknown as PutOffSurroundings;
  return { hosts, returned, woken, putOff: createPutOff(around) };
}

describe('pages that wait for dates', () => {
  it('are set aside, and go back when the sitemaps are read', async () => {
    const { hosts, returned, woken, putOff } = someHosts(1);
    let end = () => {};
    const dates = new Promise<void>((resolve) => {
      end = resolve;
    });
    await putOff(hosts[0], claimsOf(3), dates);
    await putOff(hosts[0], claimsOf(2), dates);
    expect(hosts[0]).toMatchObject({ awaitsDates: false, undated: { length: 5 } });
    end();
    await dates;
    expect(returned).toEqual(new Map([['h0', 5]]));
    expect(woken).toEqual(['h0']);
    expect(hosts[0].undated).toEqual([]);
  });

  it('are a bounded number over all hosts: further ones go back at once, and those behind them wait', async () => {
    const { hosts, returned, putOff } = someHosts(3);
    const never = new Promise<void>(() => {});
    for (let n = 0; n < 400; n++) await putOff(hosts[n % 2], claimsOf(16), never);
    const aside = hosts[0].undated.length + hosts[1].undated.length;
    expect(aside).toBeLessThan(5000);
    expect(hosts.map(({ awaitsDates }) => awaitsDates)).toEqual([true, true, false]);
    expect(returned.get('h0')! + returned.get('h1')!).toBe(400 * 16 - aside);
    // A host that was given back makes room, though nobody tells.
    hosts[0].undated.length = 0;
    await putOff(hosts[2], claimsOf(16), never);
    expect(hosts[2]).toMatchObject({ awaitsDates: false, undated: { length: 16 } });
  });
});
