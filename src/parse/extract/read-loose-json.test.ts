import { describe, expect, it } from 'vitest';
import { seededRandom } from '../../../test/seeded-random.ts';
import { type JsonValue, readLooseJson } from './read-loose-json.ts';

const seed = Number(process.env.SUMI_SEED ?? 20_261_119);

describe('JSON of web pages', () => {
  it.each<[string, JsonValue]>([
    ['{"a":1,}', { a: 1 }],
    ['[1,,2,]', [1, 2]],
    ['{"a":1} // end', { a: 1 }],
    ['/* a */ {"a": /* "b": */ 1, // c\n "d":2}', { a: 1, d: 2 }],
    ['<!-- {"a":1} -->', { a: 1 }],
    ['//<![CDATA[\n{"a":1}\n//]]>', { a: 1 }],
    ['/*<![CDATA[*/{"a":1}/*]]>*/', { a: 1 }],
    ['\ufeff {"a":1};', { a: 1 }],
    ['{"a":"line\nend\ttab"}', { a: 'line\nend\ttab' }],
    ['{"a":"it\\\'s \\x",}', { a: "it's x" }],
    ['{"a":"// no /* comment */",}', { a: '// no /* comment */' }],
    ['{"a":"é\\u00e9\\"\\\\",}', { a: 'éé"\\' }],
    ['{"__proto__":1,}', JSON.parse('{"__proto__":1}')],
    ['[-1.5e3, true, false, null,]', [-1500, true, false, null]],
    ['"text"', 'text'],
    [`{"a":"${'['.repeat(500)}"}`, { a: '['.repeat(500) }],
    ['{"a":1,"a":2,}', { a: 2 }],
  ])('reads %s', (text, value) => {
    expect(readLooseJson(text)).toEqual(value);
  });

  it.each([
    '',
    ' ',
    '{',
    '{"a"}',
    '{a:1}',
    "{'a':1}",
    '{"a":1 "b":2}',
    '[1 2]',
    '{"a":01}',
    '{"a":1}}',
    '{"a":"x',
    '/*',
    'undefined',
    '{"a":"x\\',
    '{"a":truex}',
    '{"a":NaN}',
  ])('does not guess at %j', (text) => {
    expect(readLooseJson(text)).toBeUndefined();
  });

  it('refuses what is nested too deeply, and reads huge strings', () => {
    expect(readLooseJson('['.repeat(1_000_000))).toBeUndefined();
    expect(readLooseJson(`${'['.repeat(201)}${']'.repeat(201)}`)).toBeUndefined();
    expect(readLooseJson(`${'['.repeat(200)}${']'.repeat(200)}`)).toBeDefined();
    expect(readLooseJson(`["${'\\"x\n'.repeat(500_000)}",]`)).toHaveLength(1);
    expect(readLooseJson(`{"a":1${' '.repeat(1_000_000)}`)).toBeUndefined();
  });

  it(`reads valid JSON as JSON.parse does, also when it must be read loosely (SUMI_SEED=${seed})`, () => {
    const random = seededRandom(seed);
    const STRINGS = [
      'a',
      'é😀',
      '"\\/\b\f\n\r\t',
      '//',
      '/*',
      ',]',
      '{',
      '\u2028',
      '',
      '__proto__x',
      '\u0001',
    ];
    function value(depth: number): JsonValue {
      switch (random.below(depth > 4 ? 4 : 6)) {
        case 0:
          return random.pick(STRINGS);
        case 1:
          return random.pick([0, -1, 1.5e-7, 1e21, 12345678901234567000, -0.5]);
        case 2:
          return random.below(2) === 0;
        case 3:
          return null;
        case 4:
          return Array.from({ length: random.below(4) }, () => value(depth + 1));
        default:
          return Object.fromEntries(
            Array.from({ length: random.below(4) }, () => [random.pick(STRINGS), value(depth + 1)]),
          );
      }
    }
    for (let i = 0; i < 500; i++) {
      const wanted = value(0);
      const text = JSON.stringify(wanted, null, random.below(3));
      expect(readLooseJson(text)).toEqual(wanted);
      expect(readLooseJson(`/* x */${text} // y`)).toEqual(wanted);
    }
  });
});
