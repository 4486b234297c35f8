// Compiled conditions against a real DuckDB: the same answer on every text, NULL included, or none at all.
import { type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type SeededRandom, seededRandom } from '../../../test/seeded-random.ts';
import { askCondition } from './ask-condition.ts';
import { checkCondition } from './check-condition.ts';
import { compileCondition } from './compile-condition.ts';

let database: DuckDBInstance;
let connection: DuckDBConnection;
beforeAll(async () => {
  database = await DuckDBInstance.create(':memory:');
  connection = await database.connect();
});
afterAll(() => {
  connection.closeSync();
  database.closeSync();
});

const quoted = (text: string) => `'${text.replaceAll("'", "''")}'`;

// biome-ignore format: a table
const PIECES = [
  'a', 'b', 'A', 'K', 'k', 's', 'S', 'i', 'I', 'x', '0', '1', '/', '.', '-', '_', '%', '\\', '[', ']', '!', '*', '?', '^',
  '$', '+', '(', ')', '{', '}', '|', '\n', '\r', ' ', '\t', "'", '"', 'é', 'É', 'ß', 'İ', 'ı', 'ſ', '\u212a', 'µ', '中', '\uffff', '\ue000',
  '😀', '𝒳', '🤦🏼‍♂️', 'https://', 'example.test', '/blog/', '/a', '.html', '?q=', '%20', '&', '=', 'abc', 'ab', 'tag',
];

function randomText(random: SeededRandom, most: number): string {
  return Array.from({ length: random.below(most + 1) }, () => random.pick(PIECES)).join('');
}

function randomUrls(random: SeededRandom, count: number): string[] {
  const urls = Array.from({ length: count }, () => randomText(random, 7));
  const plain = Array.from({ length: count }, () => {
    const path = Array.from({ length: random.below(4) }, () => random.pick(['a', 'blog', 'tag', 'x1', 'AB']));
    return `https://${random.pick(['example.test', 'b.test'])}/${path.join('/')}${random.pick(['', '.html', '?q=1'])}`;
  });
  return ['', ...urls, ...plain, `${'a/b%20'.repeat(3000)}c`, 'é'.repeat(5000), '%'.repeat(300)];
}

// biome-ignore format: a table
const REGEXPS = [
  'a', '^a', 'a$', '^a.*b$', 'a.*b', 'a|b', '(?:ab)+', '[a-c]', '[^a]', '[^a]b', '\\d+', '\\w', '\\W', '\\s', '\\bab\\b', 'k', '[k-s]', 's', 'i',
  '^https://[^/]+/blog/', '\\.html$', '.', '^.$', '^..$', '(a|b)*c', 'a{2,3}', 'a??b', '[[:alpha:]]', '[[:^alpha:]]', '[]a]', '[a\\]b]', '\\A/', 'b\\z',
  '(?i)abc', '(?i:k)a', '(?s).b', '(?-s).', '', '^$', 'a.b', '\\n', '[\\n]', '\\t', '(?P<n>a)b', 'a\\.b', '\\[', '\\\\', '^[^é]$', 'é', '\\p{L}',
  '\\x{e9}', '\\Qa.b\\E', '[^\\w]', '[\\W_]', '(?m)^a', '(?m)a$', '^(?:a|ab)$', '.*', 'a+?', '(', '[b-a]', '.*a.*', '^a.*', 'x*', '\\pL', '\\C', 'a\\zb', '^a|b', 'a|b$', '^a|b$', '^(?:a|b)$', '^[a-c]+$',
  '^https://example\\.test', '/$', 'a^b', 'a$b', '^/', '^.*$', '.*\\.html$', '(?i)^https', '^^a', 'a.*', '.*b', 'a.?b', '(a)', '(?:a)b', 'a%b', 'a_b', '_', '%',
];

function randomTest(random: SeededRandom): string {
  const column = random.pick([
    'url',
    'URL',
    '"url"',
    'found.url',
    'lower(url)',
    'upper(url)',
    'url',
    'url',
    'url',
  ]);
  const text = () => (random.below(12) === 0 ? 'NULL' : quoted(randomText(random, 4)));
  const ascii = () =>
    quoted(random.pick(['a', 'ab', 'https://example.test/', 'A', 'k', 'S', 'i', '/blog/', '%', 'abc', '']));
  const value = () => (column.includes('(') && random.below(3) > 0 ? ascii() : text());
  const like = () => {
    const pattern = Array.from({ length: random.below(6) }, () =>
      random.pick(['%', '%', '_', random.pick(PIECES), random.pick(PIECES)]),
    ).join('');
    const mark = random.pick([
      '',
      '',
      ` ESCAPE ${quoted(random.pick(['\\', '$', 'a', 'A', '', '!', '%', '_', '/']))}`,
    ]);
    return `${quoted(pattern)}${mark}`;
  };
  const glob = () =>
    quoted(
      Array.from({ length: random.below(6) }, () =>
        random.pick([
          '*',
          '?',
          '[a-c]',
          '[!a]',
          '[]a]',
          '[a-',
          '[',
          '[!]]',
          '[A-z]',
          '\\',
          '[a\\]',
          '[-a]',
          '[a-]',
          'a',
          random.pick(PIECES),
        ]),
      ).join(''),
    );
  const regexp = () => {
    const options = random.pick([
      '',
      '',
      ", 'i'",
      ", 's'",
      ", 'c'",
      ", 'l'",
      ", 'is'",
      ", 'n'",
      ", 'm'",
      ", 'p'",
      ", 'ic'",
    ]);
    return `${quoted(random.pick(REGEXPS))}${options}`;
  };
  return random.pick([
    () =>
      `${column} ${random.pick(['LIKE', 'NOT LIKE', 'ILIKE', 'NOT ILIKE', '~~', '!~~', '~~*', '!~~*'])} ${like().replace(/ ESCAPE .*/, '')}`,
    () => `${column} ${random.pick(['LIKE', 'NOT LIKE', 'ILIKE', 'NOT ILIKE'])} ${like()}`,
    () => `${column} GLOB ${glob()}`,
    () => `NOT ${column} GLOB ${glob()}`,
    () => `regexp_matches(${column}, ${regexp()})`,
    () => `regexp_full_match(${column}, ${regexp()})`,
    () =>
      `${column} ${random.pick(['SIMILAR TO', 'NOT SIMILAR TO', '~', '!~'])} ${quoted(random.pick(REGEXPS))}`,
    () => `${column} ${random.pick(['=', '==', '<>', '!=', '<', '<=', '>', '>='])} ${value()}`,
    () => `${value()} ${random.pick(['=', '<>', '<', '<=', '>', '>='])} ${column}`,
    () =>
      `${column} ${random.pick(['IN', 'NOT IN'])} (${value()}, ${value()}, ${random.pick([value(), 'url', 'NULL'])})`,
    () => `${column} ${random.pick(['BETWEEN', 'NOT BETWEEN'])} ${value()} AND ${value()}`,
    () =>
      `${random.pick(['starts_with', 'ends_with', 'prefix', 'suffix', 'contains'])}(${column}, ${value()})`,
    () => `${column} ^@ ${value()}`,
    () => `${column} IS ${random.pick(['', 'NOT '])}${random.pick(['NULL', `DISTINCT FROM ${value()}`])}`,
    () =>
      `${random.pick(['length', 'len', 'char_length', 'strlen'])}(url) ${random.pick(['<', '>=', '=', '<>'])} ${random.below(9) - 1}`,
    () => `length(url) ${random.pick(['IN (1, 2, NULL)', 'BETWEEN 2 AND 5', 'NOT IN (0, 3)'])}`,
    () => random.pick(['true', 'false', 'TRUE', 'NULL::BOOLEAN', 'NOT NULL']),
  ])();
}

function randomCondition(random: SeededRandom, depth: number): string {
  const next = () => randomCondition(random, depth - 1);
  if (depth === 0 || random.below(3) === 0) return randomTest(random);
  return random.pick([
    () => `(${next()}) AND (${next()})`,
    () => `(${next()}) OR (${next()})`,
    () => `(${next()}) AND (${next()}) AND (${next()})`,
    () => `NOT (${next()})`,
    () => `(${next()}) IS ${random.pick(['', 'NOT '])}${random.pick(['TRUE', 'FALSE', 'NULL', 'UNKNOWN'])}`,
    () => `CAST((${next()}) AS BOOLEAN)`,
  ])();
}

/** What a condition says of the URLs, compiled and asked; null where one of them has no answer. */
async function bothAnswers(condition: string, urls: readonly string[]) {
  let ast: unknown;
  try {
    ({ ast } = await checkCondition(connection, condition));
  } catch {
    return null;
  }
  const compiled = compileCondition(ast);
  if (compiled === null) return null;
  const asker = await askCondition(connection, condition);
  try {
    return { compiled: urls.map((url) => compiled(url)), asked: await asker.judge(urls) };
  } finally {
    await asker.close();
  }
}

async function isCompiled(condition: string): Promise<boolean> {
  return compileCondition((await checkCondition(connection, condition)).ast) !== null;
}

describe('a compiled condition', () => {
  it('says what DuckDB says, on random conditions and texts', async () => {
    const seed = Number(process.env.SUMI_SEED ?? 20_261_119);
    const random = seededRandom(seed);
    const rounds = Number(process.env.ROUNDS ?? 300);
    const urls = randomUrls(random, 400);
    let compiledCount = 0;
    for (let round = 0; round < rounds; round++) {
      const condition = randomCondition(random, random.below(3));
      const answers = await bothAnswers(condition, urls);
      if (answers === null) continue;
      compiledCount++;
      const at = answers.asked.findIndex((answer, i) => answer !== answers.compiled[i]);
      if (at !== -1)
        expect.fail(
          `seed ${seed}: ${condition} on ${JSON.stringify(urls[at])}: ${answers.asked[at]}, compiled ${answers.compiled[at]}`,
        );
    }
    expect(compiledCount).toBeGreaterThan(rounds / 3);
  }, 60_000);

  // biome-ignore format: a table
  it.each([
    "url LIKE '%/blog/%'", "url NOT LIKE 'a!%%' ESCAPE '!'", "URL ILIKE '%.HTML'", "url NOT ILIKE '%x_'", "url GLOB '*/[a-c]*'",
    "url SIMILAR TO '.*/blog/.*'", "regexp_matches(url, '/\\d{4}/', 'i')", "url !~ 'a+'", "url = 'é'", "'a' < url", 'url == url',
    "url IN ('a', 'b', NULL)", "url NOT IN ('a')", "url BETWEEN 'a' AND 'b'", "starts_with(url, 'https://')", "url ^@ 'a'", "prefix(url, '')",
    "contains(found.url, 'x')", "ends_with(\"URL\", 'x')", "suffix(url, 'x')", 'url IS NOT NULL', "(url = 'a') IS NOT TRUE", 'true', 'NULL',
    "lower(url) LIKE '%/blog/%'", "upper(url) = 'A'", 'length(url) < 200', "url = 'a'::VARCHAR", "NOT (url LIKE 'a' OR url = 'b' AND true)",
    "main.starts_with(url, 'a')", "url IS NOT DISTINCT FROM 'a'", "url LIKE 'a' -- the end",
  ])('is made of %s', async (condition) => {
    expect(await isCompiled(condition)).toBe(true);
  });

  // What looks alike and is not sure to be the same.
  // biome-ignore format: a table
  it.each([
    "url LIKE 'a' || '%'", 'url LIKE url', "url LIKE 'a!' ESCAPE '!'", "url LIKE 'a%%' ESCAPE '%'", "url ILIKE 'é'", "url GLOB '[é]'", "url > 5::VARCHAR",
    "regexp_matches(url, '\\p{Greek}')", "regexp_matches(url, 'a\\zb')", "regexp_matches(url, 'é')", "lower(url) = 'é'", 'lower(url) = url', "lower(url) GLOB 'a?'",
    "url COLLATE NOCASE = 'a'", "url IN (SELECT 'a')", "url = (SELECT 'a')", "url[1] = 'a'", 'random() < 0.5', "(url, 1) = ('a', 1)", "url IN ['a']", 'strlen(url) > 3',
    "CASE WHEN url = 'a' THEN true END", "'yes'::BOOLEAN", "regexp_matches(url, NULL)", "url LIKE NULL", "TRY_CAST(url AS BOOLEAN)", "(url = 'a') = true",
  ])('is not made of %s', async (condition) => {
    expect(await isCompiled(condition)).toBe(false);
  });

  it('is not made of what is no tree, or a tree with unknown parts', () => {
    for (const ast of [
      null,
      undefined,
      'url',
      [],
      {},
      { class: 'COMPARISON', type: 'COMPARE_EQUAL' },
      { class: 'OPERATOR', type: 'OPERATOR_NOT' },
    ])
      expect(compileCondition(ast)).toBeNull();
  });

  it('knows which characters lower() and upper() make ASCII of, as DuckDB does', async () => {
    const characters = Array.from({ length: 0x20000 }, (_, code) => code)
      .filter((code) => code > 0 && (code < 0xd800 || code > 0xdfff))
      .map((code) => String.fromCodePoint(code));
    for (const condition of [
      "lower(url) BETWEEN 'a' AND 'z'",
      "upper(url) BETWEEN 'A' AND 'Z'",
      'length(url) = 1',
      "url ILIKE '_'",
      "url ILIKE 'k'",
    ]) {
      const answers = await bothAnswers(condition, characters);
      expect(
        answers!.compiled.findIndex((answer, at) => answer !== answers!.asked[at]),
        condition,
      ).toBe(-1);
    }
  }, 60_000);
});
