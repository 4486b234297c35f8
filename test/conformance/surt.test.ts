import { expect, it } from 'vitest';
import { surtForm, surtKey } from '../../src/url/surt.ts';
import { type ConformanceCase, describeCases } from './load-cases.ts';

/** Kinds that do not apply, and why. */
const OTHER_DIALECTS: Readonly<Record<string, string>> = {
  ssurt: "urlcanon's own sortable variant; we follow Wayback's key and the plain form",
  ssurtHost: "a step of urlcanon's own variant",
  reverseHost: "a step of urlcanon's own variant, which keeps a trailing comma",
  surtAncestry: 'chains of prefixes: nothing here asks for them',
};

const EXCEPTIONS: Readonly<Record<string, string>> = {
  'urlcanon:stripPathSessionId:f7d06a3f':
    'seen only through the whole key, which also lower-cases the path and drops its trailing slash',
};

function answer({ kind, input }: ConformanceCase): string {
  switch (kind) {
    case 'iaSurt':
      return surtKey(input.url);
    case 'surt':
      return surtForm(input.url);
    case 'surtWithoutScheme':
      return surtForm(input.url, { withScheme: false });
    case 'surtWithoutTrailingComma':
      return surtForm(input.url, { withTrailingComma: false });
    // Single steps of the key, looked at through the key: `test,x)/…`.
    case 'sortQuery':
      return surtKey(`http://x.test/?${input.value}`).slice('test,x)/'.length).replace(/^\?/, '');
    case 'stripPathSessionId':
      return surtKey(`http://x.test${input.value}`).slice('test,x)'.length);
    case 'stripWww':
      return surtKey(`http://${input.value}/`).slice(0, -2).split(',').reverse().join('.');
    default:
      throw new Error(`a kind of case this test does not know: ${kind}`);
  }
}

describeCases('SURT conformance', ['surt/urlcanon-surt.json'], (suite) => {
  const applying = suite.cases.filter((one) => OTHER_DIALECTS[one.kind] === undefined);

  it('gives the expected key or form in every case of the dialects we follow', () => {
    const failing = applying
      .filter((one) => answer(one) !== (one.expected.surt ?? one.expected.value))
      .filter((one) => EXCEPTIONS[one.id] === undefined)
      .map((one) => ({ id: one.id, got: answer(one), want: one.expected }));
    expect(failing).toEqual([]);
  });

  it('ran the cases it should', () => {
    const left = suite.cases.filter((one) => OTHER_DIALECTS[one.kind] !== undefined);
    expect(applying.length + left.length).toBe(suite.count);
    if (suite.half === 'A') expect(applying.length).toBe(25);
  });
});
