import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { pageNumberOf, pageUid } from './page-uid.ts';

const PROJECT = 'f81d4fae-7dec-41d0-a765-00a0c91e6bf6';
const seeded = { seed: 23, numRuns: 300 };
const project = fc.uuid({ version: 4 });
const page = fc.oneof(fc.nat(1000), fc.maxSafeNat());

describe('the UUID of a page', () => {
  it('is of version 8 and of the variant of RFC 9562, and leads back to the page', () => {
    fc.assert(
      fc.property(project, page, (uid, number) => {
        const made = pageUid(uid, number);
        expect(made).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
        expect(pageNumberOf(uid, made)).toBe(number);
        expect(pageNumberOf(uid.toUpperCase(), made.toUpperCase())).toBe(number);
      }),
      seeded,
    );
  });

  it('serves the largest number that JavaScript counts exactly', () => {
    for (const number of [0, 1, 2 ** 53 - 1])
      expect(pageNumberOf(PROJECT, pageUid(PROJECT, number))).toBe(number);
    for (const number of [-1, 0.5, 2 ** 53, Number.NaN])
      expect(() => pageUid(PROJECT, number)).toThrow(RangeError);
  });

  it('is always the same: programs keep it', () => {
    expect(pageUid(PROJECT, 1)).toBe(pageUid(PROJECT, 1));
    expect(pageUid(PROJECT, 1)).toMatchInlineSnapshot(`"6e4afe24-e90d-8f3c-87c4-bc9586728c95"`);
  });

  it('leads to nothing in another project', () => {
    fc.assert(
      fc.property(project, project, page, (mine, other, number) => {
        fc.pre(mine !== other);
        expect(pageNumberOf(other, pageUid(mine, number))).toBeNull();
        expect(pageUid(other, number)).not.toBe(pageUid(mine, number));
      }),
      seeded,
    );
  });

  it('leads to nothing when a digit of it is another', () => {
    const digit = fc.nat(31);
    fc.assert(
      fc.property(page, digit, fc.integer({ min: 1, max: 15 }), (number, at, by) => {
        const made = pageUid(PROJECT, number);
        const places = [...made.matchAll(/[0-9a-f]/g)].map(({ index }) => index);
        const place = places[at];
        const changed = (Number.parseInt(made[place], 16) ^ by).toString(16);
        const uid = made.slice(0, place) + changed + made.slice(place + 1);
        expect(pageNumberOf(PROJECT, uid)).toBeNull();
      }),
      seeded,
    );
  });

  it('leads to nothing where it is none', () => {
    for (const text of ['', PROJECT, '1', pageUid(PROJECT, 1).replaceAll('-', ''), ` ${pageUid(PROJECT, 1)}`])
      expect(pageNumberOf(PROJECT, text)).toBeNull();
    fc.assert(
      fc.property(fc.uuid(), (uid) => {
        expect(pageNumberOf(PROJECT, uid)).toBeNull();
      }),
      seeded,
    );
  });

  it('tells pages apart', () => {
    const made = Array.from({ length: 20_000 }, (_, number) => pageUid(PROJECT, number));
    expect(new Set(made).size).toBe(made.length);
  });
});
