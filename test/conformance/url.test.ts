import { expect, it } from 'vitest';
import { createNormalizer } from '../../src/url/normalize.ts';
import { type ConformanceCase, type ConformanceSuite, describeCases } from './load-cases.ts';

const standard = createNormalizer({ preset: 'standard' });
const terrain = createNormalizer({ preset: 'terrain' });

interface Judgement {
  got: string | null;
  want: string | null;
}

function fetched(url: string, base?: string | null): string | null {
  return standard.normalize(url, base ?? undefined)?.fetchUrl ?? null;
}

function hostOf(url: string): string | null {
  return standard.normalize(url)?.host ?? null;
}

/** What a suite's result is as a thing to fetch: http(s) only, no fragment, no credentials. */
function asFetched(href: string | null): string | null {
  if (href === null || !/^https?:/.test(href)) return null;
  return href.replace(/#.*$/s, '').replace(/^(https?:\/\/)[^/]*@/, '$1');
}

/** What a suite's result is as an identity of preset terrain, whose further folding the suites do not ask for. */
function asTerrain(href: string | null): string | null {
  const url = asFetched(href);
  if (url === null) return null;
  return url
    .replace(/^http:/, 'https:')
    .replace('//www.', '//')
    .replace(/^(https:\/\/[^/?]+\/[^?]*?)\/+(\?|$)/, '$1$2');
}

/** The cases that differ without a written reason, and the reasons that are none any more. */
function differences(
  suite: ConformanceSuite,
  cases: readonly ConformanceCase[],
  judge: (one: ConformanceCase) => Judgement,
  exceptions: Readonly<Record<string, readonly string[]>>,
) {
  const failing = cases.filter((one) => {
    const { got, want } = judge(one);
    return got !== want;
  });
  const excused = new Set(Object.values(exceptions).flat());
  const unexpected = failing.filter(({ id }) => !excused.has(id)).map((one) => ({ ...one, ...judge(one) }));
  if (suite.half !== 'A') {
    // The reasons are written down for half A; of other data only the differences can be told.
    console.warn(
      `${suite.suite}: ${unexpected.length} of ${cases.length} differ: ${unexpected.map(({ id }) => id).join(', ')}`,
    );
    return { unexpected: [], stale: [] };
  }
  const mayHeal = new Set(exceptions[RUNTIME] ?? []);
  const isStale = (id: string) =>
    !mayHeal.has(id) && cases.some((one) => one.id === id) && !failing.some((one) => one.id === id);
  return { unexpected, stale: [...excused].filter(isStale) };
}

function expectRan(suite: ConformanceSuite, applying: number, left: number, inHalfA: number): void {
  expect(applying + left).toBe(suite.count);
  if (suite.half === 'A') expect(applying).toBe(inHalfA);
}

const RUNTIME = "the runtime's tables for international names are older than the suite (Node 20)";

const WPT_EXCEPTIONS = {
  [RUNTIME]: [
    'wpt-url:parse:b9d2377f',
    'wpt-url:parse:eb6f9dfa',
    'wpt-url:parse:dcc6d40e',
    'wpt-url:hostToAscii:99a39f6d',
    'wpt-url:hostToAscii:689e2286',
    'wpt-url:hostToAscii:80b2ebb8',
    'wpt-url:hostToAscii:d9a8a9c4',
    'wpt-url:hostToAscii:b6290fe2',
    'wpt-url:hostToAscii:84c9eaef',
    'wpt-url:hostToAscii:a708bb7c',
    'wpt-url:hostToAscii:0b745724',
  ],
  'a host with an empty label is no name to ask for': [
    'wpt-url:parse:43227fed',
    'wpt-url:parse:8b212511',
    'wpt-url:hostToAscii:40bb0fb7',
  ],
};

describeCases('WHATWG parsing through our normalizer', ['url/wpt-urltestdata.json'], (suite) => {
  it('changes nothing but what it says: http(s) only, no fragment, no credentials', () => {
    const judge = ({ kind, input, expected }: ConformanceCase): Judgement =>
      kind === 'parse'
        ? { got: fetched(input.url, input.base), want: expected.failure ? null : asFetched(expected.href) }
        : { got: hostOf(`https://${input.value}/`), want: expected.value };
    expect(differences(suite, suite.cases, judge, WPT_EXCEPTIONS)).toEqual({ unexpected: [], stale: [] });
    expectRan(suite, suite.cases.length, 0, 510);
  });
});

/** Profiles and kinds of urlcanon that do not apply, and why. */
const URLCANON_OTHERS: Readonly<Record<string, string>> = {
  'semantic-precise': 'keeps fragments, guesses schemes, escapes bytes as latin1',
  aggressive: 'folds https to http and drops session parameters',
  'google-safebrowsing': 'unescapes repeatedly and guesses schemes, for lookup keys only',
  ia: 'the SURT key does this: see surt.test.ts',
  'ia-default': 'the SURT key does this: see surt.test.ts',
  unescapeRepeatedly: 'a step of google-safebrowsing',
  'pathDots, not special': 'paths of other schemes than http(s)',
};

const URLCANON_EXCEPTIONS = {
  'the case holds latin1 bytes where URL takes text': ['urlcanon:canonicalize:06c53e7d'],
  'URL refuses a host of dots or with a bare % or blank, urlcanon does not': [
    'urlcanon:canonicalize:d27af47a',
    'urlcanon:canonicalize:d5b6ac29',
    'urlcanon:canonicalize:9bbf0d6c',
    'urlcanon:canonicalize:51c99872',
    'urlcanon:canonicalize:e8e82c66',
    'urlcanon:canonicalize:f9798a22',
    'urlcanon:canonicalize:9b2e4b84',
    'urlcanon:canonicalize:d0abecfc',
    'urlcanon:canonicalize:286ccd92',
    'urlcanon:canonicalize:f77ed941',
  ],
  'URL turns the backslash into a slash, urlcanon keeps it': [
    'urlcanon:pathDots:bce172f2',
    'urlcanon:pathDots:dd0969ca',
    'urlcanon:pathDots:4fd8ab69',
    'urlcanon:pathDots:e72ebbf0',
    'urlcanon:pathDots:64ea414e',
    'urlcanon:pathDots:a7eccafd',
    'urlcanon:pathDots:93fe8996',
    'urlcanon:pathDots:c607d477',
    'urlcanon:pathDots:65a5f118',
    'urlcanon:pathDots:885d7f59',
    'urlcanon:pathDots:b3d84fe7',
    'urlcanon:pathDots:a9bfc838',
  ],
};

function urlcanonProfile({ kind, input }: ConformanceCase): string {
  if (kind === 'pathDots') return input.special ? kind : 'pathDots, not special';
  return input.profile ?? kind;
}

describeCases(
  'urlcanon: profile whatwg, kinds ipv4 and pathDots',
  ['url/urlcanon-canonicalize.json'],
  (suite) => {
    it('agrees', () => {
      const applying = suite.cases.filter((one) => URLCANON_OTHERS[urlcanonProfile(one)] === undefined);
      const judge = ({ kind, input, expected }: ConformanceCase): Judgement => {
        if (kind === 'canonicalize') return { got: fetched(input.url), want: asFetched(expected.url) };
        if (kind === 'pathDots')
          return { got: fetched(`http://h.test${input.value}`)?.slice(13) ?? null, want: expected.value };
        const host = hostOf(`http://${input.value}/`);
        return { got: host !== null && /^[\d.]+$/.test(host) ? host : null, want: expected.value };
      };
      expect(differences(suite, applying, judge, URLCANON_EXCEPTIONS)).toEqual({ unexpected: [], stale: [] });
      const left = suite.cases.filter((one) => URLCANON_OTHERS[urlcanonProfile(one)] !== undefined);
      expectRan(suite, applying.length, left.length, 262);
    });
  },
);

const TERRAIN_EXCEPTIONS = {
  'blank values are part of the identity, with or without an equals sign': [
    'w3lib:canonicalize:abc2f060',
    'w3lib:canonicalize:de080bcd',
    'w3lib:canonicalize:3d7744c6',
  ],
  'a query is not decoded and encoded again as a form; reserved characters stay as they are': [
    'w3lib:canonicalize:460eb1b4',
    'w3lib:canonicalize:8a2b3a30',
    'w3lib:canonicalize:12ec0607',
    'crawler-commons:normalize:ba0a1408',
    'crawler-commons:normalize:9dfde510',
    'crawler-commons:normalize:ecd32ac8',
  ],
  'a host with an empty or an overlong label is no host': [
    'w3lib:canonicalize:0418dea9',
    'w3lib:canonicalize:2ecd545c',
  ],
  'a relative reference without a base is no URL': ['crawler-commons:normalize:7a0d5afc'],
  'doubled slashes can be another page': [
    'crawler-commons:normalize:014524d9',
    'crawler-commons:normalize:738be5e1',
    'crawler-commons:normalize:f8082a38',
    'crawler-commons:normalize:d17fa6de',
    'crawler-commons:normalize:b6ed7ea6',
  ],
  'a parameter without a name is kept': ['crawler-commons:normalize:40385c03'],
};

describeCases('w3lib, as preset terrain would have it', ['url/w3lib-canonicalize.json'], (suite) => {
  it('agrees', () => {
    const judge = ({ input, expected }: ConformanceCase): Judgement => ({
      got: terrain.normalize(input.url)?.url ?? null,
      want: asTerrain(expected.url),
    });
    expect(differences(suite, suite.cases, judge, TERRAIN_EXCEPTIONS)).toEqual({ unexpected: [], stale: [] });
    expectRan(suite, suite.cases.length, 0, 41);
  });
});

describeCases(
  'crawler-commons, as preset terrain would have it',
  ['url/crawler-commons-normalize.json'],
  (suite) => {
    it('agrees on identities and on resolving', () => {
      const judge = ({ kind, input, expected }: ConformanceCase): Judgement =>
        kind === 'resolve'
          ? { got: fetched(input.url, input.base), want: asFetched(expected.url) }
          : { got: terrain.normalize(input.url)?.url ?? null, want: asTerrain(expected.url) };
      expect(differences(suite, suite.cases, judge, TERRAIN_EXCEPTIONS)).toEqual({
        unexpected: [],
        stale: [],
      });
      expectRan(suite, suite.cases.length, 0, 80);
    });
  },
);

/** Flags of purell that are no step of ours, and why. */
const PURELL_OTHERS: Readonly<Record<string, string>> = {
  FlagAddTrailingSlash: 'we remove it',
  FlagRemoveDirectoryIndex: 'index.html can be another page',
  FlagForceHTTP: 'we force https',
  FlagsAllNonGreedy: 'adds www',
  FlagRemoveTrailingSlash: 'alone it keeps the case of the host and the port, which URL never does',
  FlagDecodeOctalHost: 'URL does it where it is an address; purell keeps double trailing dots',
  FlagDecodeDWORDHost: 'URL does it, and refuses what is no address',
};

const PURELL_EXCEPTIONS = {
  'URL serialises addresses in one way': ['purell:normalize:a6c33c56', 'purell:normalize:c72856db'],
  'we sort the query as well': ['purell:normalize:94dac6fb'],
  'a host with empty labels is no host': ['purell:normalize:f8297ee2'],
  'doubled slashes can be another page': ['purell:normalize:67c8652c'],
  'the suite decodes to text, an identity is ASCII': ['purell:normalize:26a35d13'],
};

describeCases('purell: the flags that are steps of ours', ['url/purell.json'], (suite) => {
  it('agrees', () => {
    const isOther = (one: ConformanceCase) =>
      one.input.flags.some((flag: string) => PURELL_OTHERS[flag] !== undefined);
    const applying = suite.cases.filter((one) => !isOther(one));
    const judge = ({ input, expected }: ConformanceCase): Judgement => ({
      got: terrain.normalize(input.url)?.url ?? null,
      want: asTerrain(expected.url),
    });
    expect(differences(suite, applying, judge, PURELL_EXCEPTIONS)).toEqual({ unexpected: [], stale: [] });
    expectRan(suite, applying.length, suite.cases.filter(isOther).length, 38);
  });
});
