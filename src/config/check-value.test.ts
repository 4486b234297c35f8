// A full JSON Schema validator is the judge: it must agree with our small one on every value.
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, it } from 'vitest';
import { type SeededRandom, seededRandom } from '../../test/seeded-random.ts';
import { findMisfit } from './check-value.ts';
import { FORMATS } from './option-formats.ts';
import { optionsSchema, valueSchema } from './option-schema.ts';
import type { OptionSpec } from './option-spec.ts';
import { OPTION_NAMES, OPTIONS, type OptionName } from './option-table.ts';
import { parseValue } from './parse-value.ts';
import { PROFILES } from './profiles.ts';
import { PROFILE_NAMES } from './program.ts';

const ajv = new Ajv2020({ allErrors: false, strict: true, allowUnionTypes: true });
for (const word of ['x-set-by', 'x-profiles', 'x-profile-limits']) ajv.addKeyword(word);
for (const [name, check] of Object.entries(FORMATS)) ajv.addFormat(name, check);
const schema = optionsSchema() as { properties: Record<string, object> };
const judges = Object.fromEntries(
  OPTION_NAMES.map((name) => [name, ajv.compile(schema.properties[name])]),
) as unknown as Record<OptionName, (value: unknown) => boolean>;

const ROUNDS = 400;
const NUMBERS = [
  0, 1, -1, 0.5, 0.1, 3, 9, 10, 99, 100, 3600, 86_400, 65_535, 65_536, 1e6, 1e9, 1e300, -1e300,
];
const TEXTS = [
  ...[
    '',
    ' ',
    'none',
    'long',
    'true',
    'x',
    '5x',
    '2m',
    '1.5k',
    '10 MB',
    '500ms',
    '99999d',
    '.5',
    '-1',
    '1e3',
  ],
  ...[
    'text/html',
    '*/*',
    'text/',
    'pdf',
    'tar.gz',
    '/a',
    '/a b',
    'a',
    'host',
    '*.example.com',
    'a..b',
    'a.com:99999',
  ],
  ...[
    'https://example.com/',
    'http://me:pw@example.com/',
    'ftp://x',
    'files:x',
    's3://bucket/p',
    's3://',
    'file.db',
  ],
  ...[
    'postgres://u:p@h/d',
    'postgres://',
    'me@example.com',
    'me@',
    'a:b',
    'a=b',
    'a=b; c=d',
    'X-A: b',
    'X A: b',
  ],
  ...[
    '22-6',
    '25-1',
    '6-6',
    '5000/day',
    '0/day',
    '5/year',
    'sumi "x y"',
    '"open',
    'Bot/1.0 (+https://x)',
    'é',
    'a\nb',
  ],
  ...['sitemap', 'links', 'site', 'full', 'smart', 'news', 'example.com=127.0.0.1'],
];

/** Anything JSON can hold, with a liking for what options take. */
function anyValue(random: SeededRandom, name: OptionName, deep = true): unknown {
  const { pick } = random;
  const { min = 0, max = 1000, choices = ['x'] } = OPTIONS[name];
  const kind = Math.floor(random.next() * (deep ? 10 : 8));
  switch (kind) {
    case 0:
      return random.next() < 0.5;
    case 1:
      return null;
    case 2:
      return pick(NUMBERS);
    case 3:
      return pick([
        min,
        max,
        min - 1,
        max + 1,
        min + (max - min) * random.next(),
        Math.round(max * random.next()),
      ]);
    case 4:
      return pick(choices);
    case 5:
    case 6:
      return pick(TEXTS);
    case 7:
      return Array.from({ length: 1 + Math.floor(random.next() * 8) }, () =>
        String.fromCharCode(32 + Math.floor(random.next() * 96)),
      ).join('');
    case 8:
      return random.next() < 0.2 ? { a: 1 } : OPTIONS[name].default;
    default:
      return Array.from({ length: Math.floor(random.next() * 4) }, () =>
        anyValue(random, name, random.next() < 0.1),
      );
  }
}

describe('the validator', () => {
  it('agrees with ajv on thousands of values for every option, accepted and refused', () => {
    const random = seededRandom(20_261_119);
    for (const name of OPTION_NAMES) {
      let accepted = 0;
      for (let round = 0; round < ROUNDS; round++) {
        const value = anyValue(random, name) ?? null;
        const isRight = judges[name](value);
        if ((findMisfit(valueSchema(OPTIONS[name]), value) === null) !== isRight)
          expect.fail(`${name}: ajv says ${isRight} of ${JSON.stringify(value)}`);
        accepted += isRight ? 1 : 0;
      }
      expect(accepted, `${name} was never accepted`).toBeGreaterThan(0);
      expect(accepted, `${name} was never refused`).toBeLessThan(ROUNDS);
    }
  });

  it('lets no value pass from any source that the schema refuses', () => {
    const random = seededRandom(7);
    for (const name of OPTION_NAMES) {
      let read = 0;
      for (let round = 0; round < ROUNDS; round++) {
        const parsed = parseValue(OPTIONS[name], anyValue(random, name) ?? null);
        if (!('value' in parsed)) continue;
        read += 1;
        if (!judges[name](parsed.value)) expect.fail(`${name} = ${JSON.stringify(parsed.value)}`);
      }
      expect(read, name).toBeGreaterThan(0);
    }
  });

  it('lets every default pass, of the table and of every profile with its limits', () => {
    for (const name of OPTION_NAMES) {
      const fits = (spec: OptionSpec, value: unknown) => findMisfit(valueSchema(spec), value);
      if (OPTIONS[name].default !== undefined)
        expect(fits(OPTIONS[name], OPTIONS[name].default), name).toBeNull();
    }
    for (const profile of PROFILE_NAMES) {
      const { defaults, limits } = PROFILES[profile];
      for (const [name, value] of Object.entries(defaults)) {
        const spec = { ...OPTIONS[name as OptionName], ...limits[name as OptionName] };
        expect(findMisfit(valueSchema(spec), value), `${profile}: ${name}`).toBeNull();
      }
    }
  });

  it('is of a schema that a judge accepts as a whole, unknown names refused', () => {
    const whole = ajv.compile(schema);
    expect(whole({ delay: '500ms', 'max-pages': 'none', include: 'a,b', concurrency: 3 })).toBe(true);
    expect(whole({ 'max-concurrent': 3, 'minimum-time-on-page': 500 })).toBe(true);
    expect(whole({ 'max-concurrent': 0 })).toBe(false);
    expect(whole({ warp: 9 })).toBe(false);
  });
});
